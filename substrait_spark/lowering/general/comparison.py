"""Comparisons and null tests that a dialect lacks, in terms of others that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...algebra.expression import Expression, ScalarFunction
from ...dialects.rewrite import rewrites

if TYPE_CHECKING:
    from ..builder import LoweringBuilder

Form = Callable[["LoweringBuilder", ScalarFunction], Expression]


def ordering(mirrored: str, opposite: str, strict: str = "") -> Form:
    """`a < b` as `b > a`, as `NOT (a >= b)`, or `a <= b` as `a < b OR a = b`; the other orderings likewise."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = call.children()
        forms = [
            lambda: e.guarded(f"comparison:{mirrored}", right, left),
            lambda: e.not_(e.guarded(f"comparison:{opposite}", left, right)),
        ]
        if strict:
            one, other = e.share(left), e.share(right)
            forms.append(
                lambda: e.or_(e.guarded(f"comparison:{strict}", one, other), e.lowered("comparison:equal", one, other))
            )
        return e.instead(call, *forms)

    return rule


def equal(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Not unequal, or neither less nor greater."""
    one, other = map(e.share, call.children())
    return e.instead(
        call,
        lambda: e.not_(e.guarded("comparison:not_equal", *call.children())),
        lambda: e.and_(e.guarded("comparison:lte", one, other), e.guarded("comparison:gte", one, other)),
        lambda: e.not_(e.or_(e.guarded("comparison:lt", one, other), e.guarded("comparison:gt", one, other))),
    )


def not_equal(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Not equal."""
    return e.instead(call, lambda: e.not_(e.lowered("comparison:equal", *call.children())))


def between(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """At least the one and at most the other."""
    value, low, high = call.children()
    kept = e.share(value)
    return e.instead(
        call, lambda: e.and_(e.lowered("comparison:gte", kept, low), e.lowered("comparison:lte", kept, high))
    )


def not_distinct(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Equal, or both null; never null itself."""
    left, right = map(e.share, call.children())
    equal = e.lowered("comparison:equal", left, right)
    if not equal.type.nullable:
        return equal
    nullable = [value for value in (left, right) if value.type.nullable]
    nulls = [e.is_null(value) for value in nullable]
    one = len(nulls) == 1

    def chosen() -> Expression:
        return e.if_then(e.or_(*nulls), e.false() if one else e.and_(*nulls), e.required(equal))

    def coalesced() -> Expression:
        known = e.guarded("comparison:coalesce", equal, e.false())
        return known if one else e.or_(e.and_(*nulls), known)

    def connected() -> Expression:
        known = e.and_(*map(e.is_not_null, nullable), equal)
        return known if one else e.or_(e.and_(*nulls), known)

    return e.instead(call, chosen, coalesced, connected)


def distinct(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The opposite of `is_not_distinct_from`."""
    return e.instead(call, lambda: e.not_(e.lowered("comparison:is_not_distinct_from", *call.children())))


def null_test(other: str) -> Form:
    """A null test: not the other one."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        return e.instead(call, lambda: e.not_(e.guarded(f"comparison:{other}", *call.children())))

    return rule


def coalesce(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The first value that is not null."""
    *values, last = [e.share(value) for value in call.children()]
    parts = [part for value in values for part in (e.is_not_null(value), value)]
    first_known = e.if_then(*parts, last) if parts else last
    return first_known if call.type.nullable else e.required(first_known)


def nullif(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Null where two values are equal, else the first."""
    value, other = call.children()
    kept = e.share(value)
    return e.if_then(e.lowered("comparison:equal", kept, other), e.null(kept.type), kept)


def of_anything(name: str) -> Form:
    """A comparison of dates or times, which the functions for any type compare likewise."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        return e.lowered(f"comparison:{name}", *call.children())

    return rule


REWRITES = rewrites(
    {
        **{f"datetime:{name}": of_anything(name) for name in ("equal", "gt", "gte", "lt", "lte", "not_equal")},
        "comparison:between": between,
        "comparison:coalesce": coalesce,
        "comparison:equal": equal,
        "comparison:gt": ordering("lt", "lte"),
        "comparison:gte": ordering("lte", "lt", "gt"),
        "comparison:is_distinct_from": distinct,
        "comparison:is_not_distinct_from": not_distinct,
        "comparison:is_not_null": null_test("is_null"),
        "comparison:is_null": null_test("is_not_null"),
        "comparison:lt": ordering("gt", "gte"),
        "comparison:lte": ordering("gte", "gt", "lt"),
        "comparison:not_equal": not_equal,
        "comparison:nullif": nullif,
    }
)
