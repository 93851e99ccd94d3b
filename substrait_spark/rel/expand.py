"""ExpandRel, or a union of projects where the dialect has none."""

from __future__ import annotations

from ..algebra.relation import Expand, Set
from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output, ids_of
from .project import columns


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Expand: for each row one row per projection. Spark tells the projections apart by a column of its own."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    by_column = [e.alike(e.emit_all(column)) for column in zip(*node["projections"], strict=True)]
    projections = list(zip(*by_column, strict=True))
    ids = ids_of(node["output"])
    if r.dialect.allows_relation("EXPAND", "field_types", "SWITCHING_FIELD"):
        expanded = Expand(input.relation, projections)
        return Output(expanded.select(range(len(ids))), ids)
    branches = [columns(input.relation, projection) for projection in projections]
    return Output(branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL"), ids)


HANDLERS = {"Expand": emit}
