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
    # Where no column is needed, one still tells how many rows there are.
    projections = list(zip(*by_column, strict=True)) or [(e.true(),)] * len(node["projections"])
    ids = ids_of(node["output"])
    if r.dialect.allows_relation("EXPAND", "field_types", "SWITCHING_FIELD"):
        return Output(Expand(input.relation, projections).select(range(len(ids))), ids)
    branches = [columns(input.relation, projection) for projection in projections]
    expanded = branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL")
    return Output(expanded.select(range(len(ids))), ids)


HANDLERS = {"Expand": emit}
