"""What of a plan is said otherwise for Isthmus, or for the databases that read its SQL."""

from __future__ import annotations

from ...algebra.aggregate_form import AggregateForm
from ...algebra.expression import Cast, Expression, Literal, ScalarFunction
from ...dialects.concessions import DECIMAL_ROUNDING
from ...dialects.rewrite import Rewrite, rewrites
from ...errors import NotInDialect
from ...lowering.aggregate import LoweredCall
from ...lowering.builder import LoweringBuilder

SENSITIVE = {"case_sensitivity": "CASE_SENSITIVE"}


def contains(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """LIKE a pattern with anything on both sides: Calcite's own function for it passes over case."""
    text, part = call.children()
    if not isinstance(part, Literal) or part.value is None or any(sign in part.value for sign in "%_\\"):
        raise NotInDialect(f"the dialect {e.dialect.name} finds only literals without %, _ and \\ in a text")
    return e.call("string:like", text, e.text(f"%{part.value}%"), **SENSITIVE)


def substring(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A part that begins within the text, at a literal position: DuckDB counts others otherwise."""
    text, start, length = call.children()
    if not (_is_from(start, 1) and _is_from(length, 0)):
        raise NotInDialect(f"the dialect {e.dialect.name} takes parts of a text only from a literal position within it")
    return e.call("string:substring", text, start, length)


def _is_from(argument: Expression, least: int) -> bool:
    return isinstance(argument, Literal) and argument.value is not None and argument.value >= least


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


def average(call: LoweredCall) -> AggregateForm:
    """An average of decimals, where its last digits may be the database's."""
    if DECIMAL_ROUNDING not in call.e.dialect.accepted:
        raise NotInDialect(
            f"the dialect {call.e.dialect.name} has averages of decimals only with the last digits of doubles",
            "Accept that by accept={'decimal_rounding'}, or compute this column in Spark.",
        )
    return call.one("arithmetic_decimal:avg", *call.arguments)


def quotient(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A quotient of decimals, under the same condition."""
    if DECIMAL_ROUNDING not in e.dialect.accepted:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has quotients of decimals only with the last digits of doubles"
        )
    return call


REWRITES = [
    Rewrite("arithmetic_decimal:divide", quotient, defect="averages_in_doubles"),
    Rewrite("arithmetic_decimal:avg", average, defect="averages_in_doubles"),
    *rewrites({"string:contains": contains, "string:substring": substring, ("string", "i64"): raised}),
]
