"""RelCommon.Hint (https://substrait.io/relations/common_fields/): what Spark knows of rows, and what the query names and advises.

No plan's meaning hangs on them: whoever drops them has the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrait.algebra_pb2 import RelCommon

from ..algebra.extension_messages import JoinHint, PartitionHint
from ..algebra.relation import Reference, Relation
from ..catalyst import tree
from ..context import Context

PARTITIONS = {
    "RebalancePartitions": "optNumPartitions",
    "Repartition": "numPartitions",
    "RepartitionByExpression": "optNumPartitions",
}
"""Nodes that say only how rows are spread, and which of their fields says over how many partitions."""


def note_aliases(context: Context) -> tuple[str, Any]:
    """A rewrite rule: parts of a query without their names, which are noted."""

    def unnamed(node: tree.Plan) -> tree.Node:
        child: tree.Plan = node["child"]
        context.aliases.setdefault(child, node["identifier"]["name"])
        return child

    return "SubqueryAlias", unnamed


def hinted(context: Context, node: tree.Plan, relation: Relation, is_new: bool) -> Relation:
    """The relation of a plan node with the node's hints; with those on its rows only where it is the node's own."""
    if isinstance(relation, Reference):
        return relation  # its message has no room for them
    hint = RelCommon.Hint()
    hint.MergeFromString(relation.hint)
    if is_new and (known := _known(context.statistics, node)):
        hint.stats.row_count, hint.stats.record_size = known
    if node in context.aliases:
        hint.alias = context.aliases[node]
    advice = _advice(node)
    if advice is not None:
        hint.advanced_extension.optimization.add().Pack(advice)
    return relation.with_hint(hint.SerializeToString())


def _known(statistics: Mapping[int, tuple[int, int]], node: tree.Plan) -> tuple[float, float] | None:
    """The number of a node's rows, and their average size in bytes."""
    if node.number is None or node.number not in statistics:
        return None
    rows, size = statistics[node.number]
    return float(rows), size / rows if rows else 0.0


def _advice(node: tree.Plan) -> Any:
    """The message of what the query advises at a node; None where it advises nothing."""
    if node.name == "Join":
        left, right = (_strategy(node["hint"][side]) for side in ("leftHint", "rightHint"))
        return JoinHint(left=left, right=right) if left or right else None
    if node.name in PARTITIONS:
        name = "Coalesce" if node.get("shuffle") is False else node.name
        return PartitionHint(operation=name, partitions=node[PARTITIONS[node.name]] or 0)
    return None


def _strategy(hint: Any) -> str:
    return "" if hint is None else hint["strategy"] or ""
