"""AND, OR and NOT: three-valued, as in Substrait's boolean functions."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import Expression, Literal, ScalarFunction, SingularOrList
from ..catalyst import tree
from .builder import ExpressionBuilder, Rule

VARIADIC = {"And": "and", "Or": "or"}

MANY = 500
"""Above so many conjuncts, an engine that chains them is given a filter of one."""


def chain(node: tree.Expression) -> list[tree.Expression]:
    """The operands of a chain of the same connective, in order; the node itself where it is none."""
    name = node.cls.name
    if name not in VARIADIC:
        return [node]
    found: list[tree.Expression] = []
    stack: list[tree.Expression] = [node]
    while stack:
        current = stack.pop()
        if current.cls.name == name:
            stack.append(current["right"])
            stack.append(current["left"])
        else:
            found.append(current)
    return found


def conjuncts(e: ExpressionBuilder, condition: tree.Expression) -> Sequence[Expression]:
    """The operands of a condition's AND, or the condition alone."""
    return e.emit_all(chain(condition) if condition.name == "And" else [condition])


def connective(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """And, Or: one call for a whole chain, because messages nest only so deep."""
    return connected(e, VARIADIC[node.cls.name], e.emit_all(chain(node)))


def connected(e: ExpressionBuilder, name: str, operands: Sequence[Expression]) -> Expression:
    """The `and` or `or` of operands, where later ones that may raise are evaluated only if the earlier leave it open."""
    if e.dialect.quirks.forgets_nulls:
        operands = _with_lists_apart(e, operands)
    last = _last_raising(e, operands)
    if not last:
        return _joined(e, name, operands)
    lazy = _lazy_and if name == "and" else _lazy_or
    return lazy(e, _joined(e, name, operands[:last]), _joined(e, name, operands[last:]))


def _with_lists_apart(e: ExpressionBuilder, operands: Sequence[Expression]) -> Sequence[Expression]:
    """The operands, of which the engine sees one list only: with no common option, it takes two for false, not for null."""
    first = next((operand for operand in operands if _is_list(operand)), None)
    return [e.hidden(operand) if operand is not first and _is_list(operand) else operand for operand in operands]


def _is_list(expression: Expression) -> bool:
    """Whether an engine may see an IN list, or the negation of one, in an expression."""
    if isinstance(expression, SingularOrList):
        return True
    if not isinstance(expression, ScalarFunction):
        return False
    name, operands = expression.declaration.name, expression.children()
    if name == "not":
        return _is_list(operands[0])
    return name in ("and", "or") and all(_is_comparison(operand) for operand in operands)


def _is_comparison(expression: Expression) -> bool:
    if not isinstance(expression, ScalarFunction):
        return _is_list(expression)
    name, operands = expression.declaration.name, expression.children()
    if name == "not":
        return _is_comparison(operands[0])
    return _is_list(expression) or (name == "equal" and any(isinstance(operand, Literal) for operand in operands))


def conjunction(e: ExpressionBuilder, operands: Sequence[Expression]) -> Expression:
    """The AND of a filter's conjuncts, where null counts as false; later ones are evaluated where earlier hold."""
    last = _last_raising(e, operands)
    if not last:
        whole = e.and_(*operands)
        if len(operands) <= MANY or not e.dialect.quirks.chained_conjuncts:
            return whole
        return e.equal(e.if_then(whole, e.i32(1), e.i32(0)), e.i32(1))
    then = e.cast(e.and_(*operands[last:]), types.I32)
    return e.equal(e.if_then(conjunction(e, operands[:last]), then, e.i32(0)), e.i32(1))


def _last_raising(e: ExpressionBuilder, operands: Sequence[Expression]) -> int:
    """The position of the last operand that must not be evaluated for all rows; 0 where there is none."""
    if not e.dialect.quirks.eager_connectives:
        return 0
    return max((n for n, operand in enumerate(operands) if n and operand.raises), default=0)


def _joined(e: ExpressionBuilder, name: str, operands: Sequence[Expression]) -> Expression:
    return operands[0] if len(operands) == 1 else e.call(f"boolean:{name}", *operands)


def _lazy_and(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    """AND over integers, since engines turn a CASE of booleans into the eager AND that it means."""
    value = e.cast(right, types.I32)
    parts = [e.not_(left), e.i32(0), value]
    if left.type.nullable:
        parts[2:2] = [e.is_null(left), e.if_then(right, e.null(types.I32), value)]
    return e.equal(e.if_then(*parts), e.i32(1))


def _lazy_or(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    value = e.cast(right, types.I32)
    parts = [left, e.i32(1), value]
    if left.type.nullable:
        parts[2:2] = [e.is_null(left), e.if_then(right, e.i32(1), e.null(types.I32))]
    return e.equal(e.if_then(*parts), e.i32(1))


def negation(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Not: also of an equality, because `not_equal` says no more than that."""
    return e.not_(e.emit(node["child"]))


RULES: dict[str, Rule] = {"And": connective, "Or": connective, "Not": negation}
