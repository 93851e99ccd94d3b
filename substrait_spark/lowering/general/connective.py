"""And, or and not that a dialect lacks, in terms of those that it has: the same in three-valued logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...algebra.expression import Expression, ScalarFunction
from ...dialects.rewrite import rewrites
from . import variadic

if TYPE_CHECKING:
    from ..builder import LoweringBuilder


def connective(name: str, other: str) -> Callable[[LoweringBuilder, ScalarFunction], Expression]:
    """An `and` or `or`: of fewer operands at a time, or by De Morgan's laws."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        operands = call.children()
        return e.instead(
            call,
            lambda: variadic.balanced(e, call),
            lambda: e.not_(e.native_call(other, *[negated(e, each) for each in operands])),
        )

    return rule


def negated(e: LoweringBuilder, operand: Expression) -> Expression:
    """The negation of an operand; of `NOT x`, that is x."""
    if isinstance(operand, ScalarFunction) and operand.declaration.name == "not":
        return operand.children()[0]
    return e.not_(operand)


def negation(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Not: equal to false."""
    return e.instead(call, lambda: e.guarded("comparison:equal", *call.children(), e.false()))


REWRITES = rewrites(
    {
        "boolean:and": connective("boolean:and", "boolean:or"),
        "boolean:not": negation,
        "boolean:or": connective("boolean:or", "boolean:and"),
    }
)
