"""What of a plan is said otherwise for Isthmus, or for the databases that read its SQL."""

from __future__ import annotations

from ...algebra.aggregate_form import AggregateForm
from ...algebra.expression import Cast, Expression, ScalarFunction, WindowFunction
from ...algebra.types import INTEGERS
from ...dialects.concessions import DECIMAL_ROUNDING
from ...dialects.rewrite import Rewrite, rewrites
from ...errors import NotInDialect
from ...lowering.aggregate import LoweredCall
from ...lowering.builder import LoweringBuilder
from ..pyarrow import arithmetic
from . import literals, text

SPREADS = {
    ("std_dev", "POPULATION"): "stddev_pop",
    ("std_dev", "SAMPLE"): "stddev_samp",
    ("variance", "POPULATION"): "var_pop",
    ("variance", "SAMPLE"): "var_samp",
}
"""DuckDB's names of the standard functions, whose enum arguments Isthmus doesn't take."""


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


def spread(call: LoweredCall) -> AggregateForm:
    """The standard deviation or the variance of integers and decimals: of infinite values and NaN DuckDB has none."""
    distribution, value = call.arguments
    if not isinstance(value, Cast) or value.input.type.kind not in (*INTEGERS, "decimal"):
        raise NotInDialect(
            f"the dialect {call.e.dialect.name} has no {call.function.declaration.name} of values that may be infinite or NaN",
            "Take it of integers or decimals, or compute this column in Spark.",
        )
    return call.one(f"isthmus:{SPREADS[call.function.declaration.name, distribution]}", value)


def whole(e: LoweringBuilder, cast: Cast) -> Expression:
    """A decimal as an integer: DuckDB would round it."""
    value = cast.input
    if value.type.parameters[1]:
        value = e.call("isthmus:trunc", value)
    return e.cast(value, cast.type, cast.throws)


def days_after(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Days added to a date."""
    return e.call("isthmus:days_after", *call.children())


def framed(e: LoweringBuilder, window: WindowFunction) -> Expression:
    """A frame by rows, by peers, or by distances of integers: Isthmus has all distances as whole numbers."""
    call = window.call
    has_distance = not call.rows and any(bound.offset is not None for bound in (call.lower, call.upper))
    if has_distance and window.sorts[0].expression.type.kind not in INTEGERS:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no frames by distances of {window.sorts[0].expression.type}",
            "Order by an integer, or count rows in the place of a range.",
        )
    return window


REWRITES = [
    Rewrite("arithmetic_decimal:divide", quotient, defect="averages_in_doubles"),
    Rewrite(WindowFunction, framed),
    *rewrites(
        {
            "arithmetic:divide": arithmetic.divide,
            "arithmetic:std_dev": spread,
            "arithmetic:variance": spread,
            "arithmetic_decimal:avg": average,
            "spark:date_add": days_after,
            **{("decimal", kind): whole for kind in INTEGERS},
        }
    ),
    *literals.REWRITES,
    *text.REWRITES,
]
