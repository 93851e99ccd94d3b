"""Comparisons: in Spark NaN equals NaN, and is greater than any other number."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import types
from ...algebra.expression import Expression, IfThen, Literal, ScalarFunction, SingularOrList
from ...algebra.types import FLOATS, INTEGERS, Type
from ...dialects.rewrite import Apply, Sees, rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from .evaluation import balanced, chosen, connective

NESTED = ("list", "map", "struct")
"""Types that Acero doesn't compare."""


def equal(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Equal, or both NaN."""
    left, right = call.children()
    _refuse(e, left)
    if left.type.kind not in FLOATS or _is_number(left) or _is_number(right):
        return call
    one, other = e.share(left), e.share(right)
    return e.or_(e.call("comparison:equal", one, other), e.and_(_is_nan(e, one), _is_nan(e, other)))


def less(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Less, or a number before NaN."""
    left, right = call.children()
    return call if _is_plain(left.type) else _less(e, left, right)


def greater(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    left, right = call.children()
    return call if _is_plain(left.type) else _less(e, right, left)


def at_least(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    left, right = call.children()
    return call if _is_plain(left.type) else e.not_(_less(e, left, right))


def at_most(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    left, right = call.children()
    return call if _is_plain(left.type) else e.not_(_less(e, right, left))


def _is_plain(kind: Type) -> bool:
    """Whether Acero orders the values of a type as Spark does."""
    return kind.kind not in (*FLOATS, *NESTED, "boolean")


def _ordered(e: LoweringBuilder, *values: Expression) -> Sequence[Expression]:
    """Values in a type that has an order: Acero has none of booleans."""
    return [e.cast(value, types.of("i8")) if value.type.kind == "boolean" else value for value in values]


def _less(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    _refuse(e, left)
    if left.type.kind not in FLOATS or _is_number(right):
        return e.call("comparison:lt", *_ordered(e, left, right))
    one, other = e.share(left), e.share(right)
    greatest = _is_nan(e, other) if _is_number(left) else e.and_(_is_nan(e, other), e.not_(_is_nan(e, one)))
    return e.or_(e.call("comparison:lt", one, other), greatest)


def _is_nan(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("comparison:is_nan", value)


def _is_number(value: Expression) -> bool:
    """Whether a value is a literal that is not NaN."""
    return isinstance(value, Literal) and value.value is not None and value.value == value.value


def _refuse(e: LoweringBuilder, value: Expression) -> None:
    if value.type.kind in NESTED:
        raise NotInDialect(f"the dialect {e.dialect.name} has no such comparison of {value.type}")


def coalesce(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The first value that is not null, where the later ones may raise."""
    *values, last = call.children()
    if not any(value.raises for value in call.children()[1:]):
        return call
    kept = [e.share(value) for value in values]
    parts = [part for value in kept for part in (e.is_not_null(value), value)]
    return e.if_then(*parts, last)


LISTED = ("boolean", "date", "string", *INTEGERS)
"""Types of values that Acero finds in a list as Spark does."""


def one_of(e: LoweringBuilder, among: SingularOrList) -> Expression:
    """Whether a value is one of several: a list of literals that are not null, or equalities."""
    value, *options = among.children()
    plain = all(isinstance(option, Literal) and option.value is not None for option in options)
    if plain and value.type.kind in LISTED:
        return among
    value = e.share(value)
    return e.connected("or", [e.lowered("comparison:equal", value, option) for option in options])


def extreme(compared: str) -> Apply:
    """The greatest or the least of several values, nulls left out: of those that are equal the first."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        best, *others = [e.share(value) for value in call.children()]
        for other in others:
            best = e.share(best)
            better = e.lowered(f"comparison:{compared}", other, best)
            best = e.if_then(e.is_null(best), other, better, other, best)
        return best

    return rule


REWRITES = [
    *rewrites(
        {
            "boolean:and": connective,
            "boolean:or": connective,
            "comparison:greatest_skip_null": extreme("gt"),
            "comparison:least_skip_null": extreme("lt"),
            SingularOrList: one_of,
        }
    ),
    *rewrites({IfThen: chosen, "boolean:and": balanced, "boolean:or": balanced}, sees=Sees.BUILT),
    *rewrites(
        {"boolean:and": connective, "boolean:or": connective, "comparison:coalesce": coalesce}, defect="evaluates_all"
    ),
    *rewrites(
        {
            "comparison:equal": equal,
            "comparison:gt": greater,
            "comparison:gte": at_least,
            "comparison:lt": less,
            "comparison:lte": at_most,
        },
        defect="unordered_nan",
    ),
]
