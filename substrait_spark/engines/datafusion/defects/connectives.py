"""`eager_connectives`: DataFusion evaluates AND, OR and choices of booleans for all rows.

    SELECT n <> 0 AND 10 / n > 1 FROM (VALUES (0), (1)) t(n)   -- Divide by zero error

So an operand may raise that Spark does not evaluate. `chained_conjuncts`: it also takes a filter's AND apart, and nests it one
conjunct in the other, so that thousands of them overflow its stack.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, IfThen, Literal, ScalarFunction
from ....algebra.relation import Cross, Filter, Join, Project, Relation
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Conjunction, Filtered

MANY = 500
"""Above so many conjuncts, a filter gets an AND of them as a value to compare."""


def connective(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """And, or, where later operands that may raise are evaluated only if the earlier leave it open."""
    name, operands = call.declaration.name, call.children()
    last = _last_raising(operands)
    if not last:
        return call
    lazy = _lazy_and if name == "and" else _lazy_or
    return lazy(e, _joined(e, name, operands[:last]), _joined(e, name, operands[last:]))


def may_be_eager(operands: Sequence[Expression]) -> bool:
    """Whether there are operands that must not be evaluated for all rows."""
    return _last_raising(operands) > 0


def conjunction(e: LoweringBuilder, form: Conjunction) -> Expression | Conjunction:
    """The AND of a filter's conditions, where null counts as false; later ones are evaluated where earlier hold."""
    operands = form.conditions
    last = _last_raising(operands)
    if not last:
        return form
    then = e.cast(e.and_(*operands[last:]), types.I32)
    return e.equal(e.if_then(e.conjunction(operands[:last]), then, e.i32(0)), e.i32(1))


def with_keys(e: LoweringBuilder, form: Filtered) -> Relation | Filtered:
    """A filter above a cross join, with the comparisons of columns beside its condition: else nobody finds the join's keys."""
    if not _last_raising(form.conditions):
        return form
    input = form.input
    while isinstance(input, Project | Filter | Join):
        input = input.inputs[0]
    keys = [each for each in form.conditions if isinstance(input, Cross) and _compares_columns(each)]
    return Filter(form.input, e.and_(*keys, e.conjunction(form.conditions))) if keys else form


def _compares_columns(operand: Expression) -> bool:
    """Whether a conjunct compares columns, or a column and a literal, which nothing raises at."""
    return (
        isinstance(operand, ScalarFunction)
        and operand.declaration.name == "equal"
        and not operand.raises
        and all(isinstance(each, FieldReference | Literal) for each in operand.children())
    )


def flat(e: LoweringBuilder, form: Conjunction) -> Expression:
    """The AND of a filter's conditions. A long one is compared with true, so that the engine doesn't take it apart."""
    whole = e.and_(*form.conditions)
    return whole if len(form.conditions) <= MANY else e.equal(e.if_then(whole, e.i32(1), e.i32(0)), e.i32(1))


def chosen(e: LoweringBuilder, choice: IfThen) -> Expression:
    """A choice of booleans, made among integers and compared with 1."""
    parts = choice.children()
    if not is_eager_choice(parts):
        return choice
    last = len(parts) - 1
    lazy = [e.cast(part, types.I32) if n % 2 or n == last else part for n, part in enumerate(parts)]
    return e.equal(e.if_then(*lazy), e.i32(1))


def coalesced(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Coalesce of booleans, made among integers too."""
    values = call.children()
    if not is_eager_choice(values):
        return call
    return e.equal(e.coalesce(*[e.cast(value, types.I32) for value in values]), e.i32(1))


def is_eager_choice(parts: Sequence[Expression]) -> bool:
    """Whether a choice of booleans has values that may raise, which DataFusion evaluates for rows that choose another."""
    return parts[-1].type.kind == "boolean" and any(part.raises for part in parts[1:])


def _last_raising(operands: Sequence[Expression]) -> int:
    """The position of the last operand that must not be evaluated for all rows; 0 where there is none."""
    return max((n for n, operand in enumerate(operands) if n and operand.raises), default=0)


def _joined(e: LoweringBuilder, name: str, operands: Sequence[Expression]) -> Expression:
    return operands[0] if len(operands) == 1 else e.call(f"boolean:{name}", *operands)


def _lazy_and(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    """AND over integers, since engines turn a CASE of booleans into the eager AND that it means."""
    value = e.cast(right, types.I32)
    parts = [e.not_(left), e.i32(0), value]
    if left.type.nullable:
        parts[2:2] = [e.is_null(left), e.if_then(right, e.null(types.I32), value)]
    return e.equal(e.if_then(*parts), e.i32(1))


def _lazy_or(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    value = e.cast(right, types.I32)
    parts = [left, e.i32(1), value]
    if left.type.nullable:
        parts[2:2] = [e.is_null(left), e.if_then(right, e.i32(1), e.null(types.I32))]
    return e.equal(e.if_then(*parts), e.i32(1))
