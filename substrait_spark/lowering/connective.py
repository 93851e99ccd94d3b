"""And, or and not that a dialect lacks, in terms of those that it has: the same in three-valued logic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..algebra.expression import Expression, ScalarFunction
from . import variadic

if TYPE_CHECKING:
    from .builder import LoweringBuilder
    from .rules import CallRule


def connective(name: str, other: str) -> CallRule:
    """An `and` or `or`: of fewer operands at a time, or by De Morgan's laws."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        operands = call.children()
        return e.instead(
            call, lambda: variadic.rule(e, call), lambda: e.not_(e.listed(other, *[e.not_(each) for each in operands]))
        )

    return rule


def negation(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Not: equal to false."""
    return e.instead(call, lambda: e.listed("comparison:equal", *call.children(), e.false()))


CALLS: Mapping[str, CallRule] = {
    "boolean:and": connective("boolean:and", "boolean:or"),
    "boolean:not": negation,
    "boolean:or": connective("boolean:or", "boolean:and"),
}
