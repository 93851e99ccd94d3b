"""Plan nodes that move rows, name things or advise the engine, and leave the rows as they are."""

from __future__ import annotations

from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output


def child_only(r: RelationBuilder, node: tree.Plan) -> Output:
    """The child's rows, unchanged."""
    return r.emit(node["child"])


HANDLERS = dict.fromkeys(
    (
        "CollectMetrics",  # `observe`: what it counts goes to a listener
        "LocalLimit",  # the GlobalLimit above it holds the exact limit
        "RebalancePartitions",
        "Repartition",
        "RepartitionByExpression",
        "ResolvedHint",
        "SubqueryAlias",
        "View",
        "WindowGroupLimit",  # the Filter above it holds the exact condition
    ),
    child_only,
)
