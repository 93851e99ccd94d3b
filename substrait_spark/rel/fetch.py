"""FetchRel: https://substrait.io/relations/logical_relations/#fetch-operation."""

from __future__ import annotations

from ..algebra.relation import Fetch
from ..catalyst import tree
from ..errors import Unsupported
from .builder import RelationBuilder
from .output import Output


def limit(r: RelationBuilder, node: tree.Plan) -> Output:
    """GlobalLimit, with an Offset below it in the same fetch."""
    count = _literal(node["limitExpr"])
    offset, child = 0, node["child"]
    if child.name == "LocalLimit" and tree.same(child["limitExpr"], node["limitExpr"]):
        child = child["child"]
    if child.name == "Offset":
        offset, child = _literal(child["offsetExpr"]), child["child"]
    input = r.emit(child)
    return Output(Fetch(input.relation, offset, count), input.ids)


def offset(r: RelationBuilder, node: tree.Plan) -> Output:
    """Offset without a limit above it."""
    input = r.emit(node["child"])
    return Output(Fetch(input.relation, _literal(node["offsetExpr"]), None), input.ids)


def _literal(expression: tree.Expression) -> int:
    if expression.name != "Literal" or not isinstance(expression["value"], int):
        raise Unsupported("only a literal number of rows can be exported")
    return expression["value"]


HANDLERS = {"GlobalLimit": limit, "Offset": offset}
