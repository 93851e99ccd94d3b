"""IF, CASE, COALESCE, and Empty2Null: as the value of a partition column, Spark writes an empty text as null."""

from __future__ import annotations

from ..algebra.expression import Expression
from ..catalyst import tree
from ..catalyst.types import to_substrait
from .builder import ExpressionBuilder, Rule


def if_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """If: a condition that is null counts as false."""
    return e.if_then(e.emit(node["predicate"]), e.emit(node["trueValue"]), e.emit(node["falseValue"]))


def case_when(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CaseWhen: without ELSE, a null of the branches' type."""
    parts: list[Expression] = []
    for branch in node["branches"]:
        condition, value = branch.values
        parts += [e.emit(condition), e.emit(value)]
    otherwise = node["elseValue"]
    parts.append(e.null(to_substrait(node.type, True)) if otherwise is None else e.emit(otherwise))
    return e.if_then(*parts)


def coalesce(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Coalesce: the first value that is not null; later ones are not evaluated."""
    inputs = e.alike(e.emit_all(node["children"]))
    if len(inputs) == 1:
        return inputs[0]
    return e.coalesce(*inputs)


def empty_to_null(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Empty2Null: a partition can't be named by an empty string, which Spark writes as null."""
    value = e.share(e.emit(node["child"]))
    return e.if_then(e.equal(value, e.text("")), e.null(to_substrait(node.type, True)), value)


RULES: dict[str, Rule] = {"If": if_, "CaseWhen": case_when, "Coalesce": coalesce, "Empty2Null": empty_to_null}
