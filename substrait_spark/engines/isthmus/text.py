"""Texts as databases have them by Isthmus's SQL."""

from __future__ import annotations

from ...algebra.expression import Cast, Expression, Literal, ScalarFunction
from ...dialects.rewrite import Apply, Conversion, Rewrite, Sees, Target, rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ..substring import within

SENSITIVE = {"case_sensitivity": "CASE_SENSITIVE"}


def like(pattern: str) -> Apply:
    """LIKE a pattern with a literal in it: Calcite's own function `contains` passes over case, and PostgreSQL has no `ends_with`."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        text, part = call.children()
        if not isinstance(part, Literal) or part.value is None or any(sign in part.value for sign in "%_\\"):
            raise NotInDialect(f"the dialect {e.dialect.name} finds only literals without %, _ and \\ in a text")
        return e.call("string:like", text, e.text(pattern.format(part.value)), **SENSITIVE)

    return rule


def concatenated(_e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """One text by itself: Isthmus has no SQL for a concatenation without an operator."""
    first, *others = call.children()
    return call if others else first


def in_case(source: str, name: str, function: str) -> Apply:
    """Upper or lower case of a text of ASCII, and an error for another: databases map single characters at most, Spark ß to SS."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (text,) = call.children()
        text = e.share(text)
        is_other = e.call("comparison:not_equal", e.call(f"{source}:strlen", text), e.call("string:char_length", text))
        error = e.raises(f"[UNSUPPORTED: {name} of a text that is not ASCII]", call.type, text)
        return e.if_then(is_other, error, e.call(f"{source}:{function}", text))

    return rule


def raised(source: str) -> Apply:
    """An error, where a text that is no number is cast to one: databases read more texts as numbers than Spark does."""

    def rule(e: LoweringBuilder, cast: Cast) -> Expression:
        if not _is_no_number(cast.input):
            raise NotInDialect(f"the dialect {e.dialect.name} has no exact cast of {cast.input.type} to {cast.type}")
        return e.call(f"{source}:error", cast.input)

    return rule


def _is_no_number(text: Expression) -> bool:
    """Whether a text begins like the name of one of Spark's errors."""
    if isinstance(text, ScalarFunction) and text.declaration.name == "concat":
        return _is_no_number(text.children()[0])
    return isinstance(text, Literal) and isinstance(text.value, str) and text.value.startswith("[")


def rewrites_of(source: str) -> list[Rewrite | Conversion]:
    """The rewrites, with a database's functions by their alias."""
    calls: dict[Target, Apply] = {
        "string:contains": like("%{}%"),
        "string:ends_with": like("%{}"),
        "string:lower": in_case(source, "lower", "lcase"),
        "string:substring": within("string:substring"),
        "string:upper": in_case(source, "upper", "ucase"),
        ("string", "i64"): raised(source),
    }
    return [Rewrite("string:concat", concatenated, sees=Sees.BUILT), *rewrites(calls)]
