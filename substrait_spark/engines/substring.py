"""Parts of a text for engines that count from other places than Spark's, but where a part begins at a literal position within it."""

from __future__ import annotations

from ..algebra.expression import Expression, Literal, ScalarFunction
from ..dialects.rewrite import Apply
from ..errors import NotInDialect
from ..lowering.builder import LoweringBuilder


def within(function: str) -> Apply:
    """The rewrite of `string:substring` to an engine's function, by `alias:name`, where both count alike."""

    def substring(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        text, start, length = call.children()
        if not (_is_from(start, 1) and _is_from(length, 0)):
            reason = f"the dialect {e.dialect.name} takes parts of a text only from a literal position within it"
            raise NotInDialect(reason)
        return e.call(function, text, start, length)

    return substring


def _is_from(argument: Expression, least: int) -> bool:
    return isinstance(argument, Literal) and argument.value is not None and argument.value >= least
