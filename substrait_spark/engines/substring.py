"""Parts of a text for engines that count from other places than Spark's, but where a part begins at a literal position within it."""

from __future__ import annotations

from typing import NamedTuple

from ..algebra.expression import Expression, Literal, ScalarFunction
from ..dialects.rewrite import Apply
from ..errors import NotInDialect
from ..lowering.builder import LoweringBuilder

LONGEST = 2**31 - 1


class Part(NamedTuple):
    """A part of a text: where it begins, counted from 1, and how many characters it has at most."""

    text: Expression
    start: int
    length: int


def within(function: str) -> Apply:
    """The rewrite of `string:substring` to an engine's function, by `alias:name`, where both count alike."""

    def substring(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        text, start, length = stated(e, call)
        return e.call(function, text, e.i32(start), e.i32(length))

    return substring


def stated(e: LoweringBuilder, call: ScalarFunction) -> Part:
    """What a call of `string:substring` takes, where it states a place within the text; all the rest if it has no length."""
    text, *numbers = call.children()
    values = [number.value if isinstance(number, Literal) else None for number in numbers]
    start, length = values if len(values) == 2 else (*values, LONGEST)
    if start is None or start < 1 or length is None or length < 0:
        reason = f"the dialect {e.dialect.name} takes parts of a text only from a literal position within it"
        raise NotInDialect(reason)
    return Part(text, start, length)
