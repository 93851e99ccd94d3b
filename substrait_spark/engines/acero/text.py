"""Text: patterns and parts, by functions that `engines.acero` registers."""

from __future__ import annotations

import re
from typing import Any

from ...algebra.expression import Expression, Literal, ScalarFunction
from ...algebra.like_pattern import ANY, ONE, parts_of
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ..pyarrow import text
from ..substring import stated


def like(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """LIKE a pattern that the query states: by its ends where that suffices, or as a regular expression of RE2's."""
    value, pattern, *escape = call.children()
    wanted, *escaped = map(_value, (pattern, *escape))
    parts = None if wanted is None or None in escaped else parts_of(wanted, escaped[0] if escaped else "")
    if parts is None:
        raise NotInDialect(
            f"the dialect {e.dialect.name} takes only literals as patterns of LIKE, with nothing escaped but % and _"
        )

    def matched() -> Expression:
        return e.call("acero:matches", value, e.text(r"(?s)\A" + "".join(map(_regular, parts)) + r"\z"))

    return matched() if escape else e.first(lambda: text.like(e, call), matched)


def _value(value: Expression) -> Any:
    """The value of a literal; None for all else."""
    return value.value if isinstance(value, Literal) else None


def _regular(part: object) -> str:
    if part is ANY:
        return ".*"
    return "." if part is ONE else re.escape(str(part))


def part(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A part of a text that begins at a place from its start on, which the query states."""
    value, start, length = stated(e, call)
    return e.call("acero:part", value, e.i32(start - 1), e.i32(length))


def length(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """How many characters there are."""
    return e.call("acero:length", *call.children())


REWRITES = rewrites(
    {"string:char_length": length, "spark:spark_like": like, "string:like": like, "string:substring": part}
)
