"""Texts as DuckDB has them by Isthmus's SQL."""

from __future__ import annotations

from ...algebra.expression import Cast, Expression, Literal, ScalarFunction
from ...dialects.rewrite import Apply, Rewrite, Sees, rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ..substring import within

SENSITIVE = {"case_sensitivity": "CASE_SENSITIVE"}


def contains(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """LIKE a pattern with anything on both sides: Calcite's own function for it passes over case."""
    text, part = call.children()
    if not isinstance(part, Literal) or part.value is None or any(sign in part.value for sign in "%_\\"):
        raise NotInDialect(f"the dialect {e.dialect.name} finds only literals without %, _ and \\ in a text")
    return e.call("string:like", text, e.text(f"%{part.value}%"), **SENSITIVE)


def concatenated(_e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """One text by itself: Isthmus has no SQL for a concatenation without an operator."""
    first, *others = call.children()
    return call if others else first


def in_case(name: str, function: str) -> Apply:
    """Upper or lower case of a text of ASCII, and an error for another: DuckDB maps single characters alone, Spark ß to SS."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (text,) = call.children()
        text = e.share(text)
        is_other = e.call("comparison:not_equal", e.call("isthmus:strlen", text), e.call("string:char_length", text))
        error = e.raises(f"[UNSUPPORTED: {name} of a text that is not ASCII]", call.type, text)
        return e.if_then(is_other, error, e.call(f"isthmus:{function}", text))

    return rule


def raised(e: LoweringBuilder, cast: Cast) -> Expression:
    """An error, where a text that is no number is cast to one: DuckDB reads more texts as numbers than Spark does."""
    if not _is_no_number(cast.input):
        raise NotInDialect(f"the dialect {e.dialect.name} has no exact cast of {cast.input.type} to {cast.type}")
    return e.call("isthmus:error", cast.input)


def _is_no_number(text: Expression) -> bool:
    """Whether a text begins like the name of one of Spark's errors."""
    if isinstance(text, ScalarFunction) and text.declaration.name == "concat":
        return _is_no_number(text.children()[0])
    return isinstance(text, Literal) and isinstance(text.value, str) and text.value.startswith("[")


REWRITES = [
    Rewrite("string:concat", concatenated, sees=Sees.BUILT),
    *rewrites(
        {
            "string:contains": contains,
            "string:lower": in_case("lower", "lcase"),
            "string:substring": within("string:substring"),
            "string:upper": in_case("upper", "ucase"),
            ("string", "i64"): raised,
        }
    ),
]
