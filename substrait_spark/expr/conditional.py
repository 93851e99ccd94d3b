"""IF, CASE and COALESCE."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import Expression
from ..catalyst import tree
from .builder import ExpressionBuilder, Rule
from .nested import typed_null


def if_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """If: a condition that is null counts as false."""
    return chosen(e, [e.emit(node["predicate"]), e.emit(node["trueValue"]), e.emit(node["falseValue"])])


def case_when(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CaseWhen: without ELSE, a null of the branches' type."""
    parts: list[Expression] = []
    for branch in node["branches"]:
        condition, value = branch.values
        parts += [e.emit(condition), e.emit(value)]
    otherwise = node["elseValue"]
    parts.append(typed_null(e, node.type) if otherwise is None else e.emit(otherwise))
    return chosen(e, parts)


def chosen(e: ExpressionBuilder, parts: Sequence[Expression]) -> Expression:
    """The value of the first condition that holds: conditions and values in turn, and the value of none."""
    if not _is_eager(e, parts):
        return e.if_then(*parts)
    last = len(parts) - 1
    lazy = [e.cast(part, types.I32) if n % 2 or n == last else part for n, part in enumerate(parts)]
    return e.equal(e.if_then(*lazy), e.i32(1))


def _is_eager(e: ExpressionBuilder, parts: Sequence[Expression]) -> bool:
    """Whether an engine that turns a choice of booleans into ANDs and ORs raises for what isn't chosen."""
    booleans = parts[-1].type.kind == "boolean"
    return booleans and e.dialect.quirks.eager_connectives and any(part.raises for part in parts[1:])


def coalesce(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Coalesce: the first value that is not null; later ones are not evaluated."""
    inputs = e.alike(e.emit_all(node["children"]))
    if len(inputs) == 1:
        return inputs[0]
    if not _is_eager(e, inputs):
        return e.coalesce(*inputs)
    return e.equal(e.coalesce(*[e.cast(value, types.I32) for value in inputs]), e.i32(1))


RULES: dict[str, Rule] = {"If": if_, "CaseWhen": case_when, "Coalesce": coalesce}
