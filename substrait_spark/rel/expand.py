"""ExpandRel: https://substrait.io/relations/physical_relations/#expand-operation."""

from __future__ import annotations

from ..algebra.relation import Expand
from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output, ids_of


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Expand: for each row one row per projection. Spark tells the projections apart by a column of its own."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    by_column = [e.alike(e.emit_all(column)) for column in zip(*node["projections"], strict=True)]
    # Where no column is needed, one still tells how many rows there are.
    projections = list(zip(*by_column, strict=True)) or [(e.true(),)] * len(node["projections"])
    ids = ids_of(node["output"])
    return Output(Expand(input.relation, projections).select(range(len(ids))), ids)


HANDLERS = {"Expand": emit}
