"""What each of Catalyst's classes of plan nodes does with the rows and the columns of its children.

Whoever walks through plan nodes asks here what may be concluded across one. A class without a property makes no promise: walks stop
at it, and take it to use all columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto


class Does(Flag):
    """A property of a class of plan nodes."""

    NOTHING = 0
    """No property: nothing may be concluded of its rows or columns."""
    KEEPS_ORDER = auto()
    """Its rows come in the order of its child's."""
    JOINS_ORDERS = auto()
    """Its rows come in the order of its children's, but no column tells that order."""
    ASKS_FOR_ORDER = auto()
    """Which rows it has, or which values, depends on the order of its child's rows."""
    MAKES_COLUMNS = auto()
    """Its columns are made of expressions: of its child's columns it needs those that occur in these."""
    PASSES_COLUMNS = auto()
    """Its columns are its children's: it needs those that occur in its expressions, or that somebody above needs."""
    PASSES_ROWS = auto()
    """It passes rows on one by one, while Spark reads them."""
    CUTS = auto()
    """It passes on a number of rows from the first one on."""


PLAN_CLASSES: Mapping[str, Does] = {
    "Aggregate": Does.MAKES_COLUMNS,
    "AttachDistributedSequence": Does.KEEPS_ORDER | Does.ASKS_FOR_ORDER | Does.PASSES_COLUMNS,
    "CTERelationRef": Does.NOTHING,
    "CollectMetrics": Does.KEEPS_ORDER | Does.PASSES_COLUMNS,
    "CommandResult": Does.NOTHING,
    "DataSourceV2ScanRelation": Does.NOTHING,
    "Distinct": Does.NOTHING,
    "Except": Does.NOTHING,
    "Expand": Does.KEEPS_ORDER | Does.MAKES_COLUMNS,
    "Filter": Does.KEEPS_ORDER | Does.PASSES_COLUMNS | Does.PASSES_ROWS,
    "FlatMapCoGroupsInArrow": Does.ASKS_FOR_ORDER,
    "FlatMapCoGroupsInPandas": Does.ASKS_FOR_ORDER,
    "FlatMapGroupsInArrow": Does.ASKS_FOR_ORDER,
    "FlatMapGroupsInPandas": Does.ASKS_FOR_ORDER,
    "Generate": Does.JOINS_ORDERS,
    "GlobalLimit": Does.KEEPS_ORDER | Does.ASKS_FOR_ORDER | Does.PASSES_COLUMNS | Does.CUTS,
    "HiveTableRelation": Does.NOTHING,
    "Intersect": Does.NOTHING,
    "Join": Does.PASSES_COLUMNS,
    "LateralJoin": Does.NOTHING,
    "LocalLimit": Does.KEEPS_ORDER | Does.ASKS_FOR_ORDER | Does.PASSES_COLUMNS | Does.CUTS,
    "LocalRelation": Does.NOTHING,
    "LogicalRDD": Does.NOTHING,
    "LogicalRelation": Does.NOTHING,
    "MapInArrow": Does.ASKS_FOR_ORDER,
    "MapInPandas": Does.ASKS_FOR_ORDER,
    "Offset": Does.KEEPS_ORDER | Does.ASKS_FOR_ORDER | Does.PASSES_COLUMNS,
    "OneRowRelation": Does.NOTHING,
    "Project": Does.KEEPS_ORDER | Does.MAKES_COLUMNS | Does.PASSES_ROWS,
    "PythonMapInArrow": Does.ASKS_FOR_ORDER,
    "Range": Does.NOTHING,
    "RebalancePartitions": Does.PASSES_COLUMNS,
    "Repartition": Does.PASSES_COLUMNS,  # `coalesce`, which doesn't shuffle, keeps the order: row_order asks
    "RepartitionByExpression": Does.PASSES_COLUMNS,
    "ResolvedHint": Does.KEEPS_ORDER,
    "Sample": Does.KEEPS_ORDER | Does.ASKS_FOR_ORDER,
    "Sort": Does.PASSES_COLUMNS,
    "SubqueryAlias": Does.KEEPS_ORDER | Does.PASSES_COLUMNS | Does.PASSES_ROWS,
    "Tail": Does.ASKS_FOR_ORDER,
    "Union": Does.JOINS_ORDERS,
    "UnionLoop": Does.NOTHING,
    "UnionLoopRef": Does.NOTHING,
    "View": Does.KEEPS_ORDER | Does.PASSES_ROWS,
    "Window": Does.ASKS_FOR_ORDER | Does.PASSES_COLUMNS,
    "WindowGroupLimit": Does.PASSES_COLUMNS,
    "WithCTE": Does.NOTHING,
}
"""All classes that relations are emitted for, and `Tail`, which is refused; tests/test_house.py names one that is missing."""


def that_do(property: Does) -> frozenset[str]:
    """The classes that have a property."""
    return frozenset(name for name, does in PLAN_CLASSES.items() if property in does)
