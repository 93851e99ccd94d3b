"""What of a plan is said otherwise for Isthmus, or for the databases that read its SQL."""

from __future__ import annotations

from ...algebra.aggregate_form import AggregateForm
from ...algebra.expression import Cast, Expression, ScalarFunction, WindowFunction
from ...algebra.relation import NamedTable, Relation
from ...algebra.types import INTEGERS
from ...dialects.concessions import DECIMAL_ROUNDING
from ...dialects.rewrite import Apply, Conversion, Rewrite, Sees, Target, rewrites
from ...errors import NotInDialect
from ...lowering.aggregate import LoweredCall
from ...lowering.builder import LoweringBuilder
from ...lowering.expression import ExpressionLowering
from ...lowering.general.read import without
from ..pyarrow import arithmetic
from . import literals, text

SPREADS = {
    ("std_dev", "POPULATION"): "stddev_pop",
    ("std_dev", "SAMPLE"): "stddev_samp",
    ("variance", "POPULATION"): "var_pop",
    ("variance", "SAMPLE"): "var_samp",
}
"""The databases' names of the standard functions, whose enum arguments Isthmus doesn't take."""


def average(call: LoweredCall) -> AggregateForm:
    """An average of decimals, where its last digits may be the database's."""
    if DECIMAL_ROUNDING not in call.e.dialect.accepted:
        raise NotInDialect(
            f"the dialect {call.e.dialect.name} has averages of decimals only with last digits of its own",
            "Accept that by accept={'decimal_rounding'}, or compute this column in Spark.",
        )
    return call.one("arithmetic_decimal:avg", *call.arguments)


def quotient(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A quotient of decimals, under the same condition."""
    if DECIMAL_ROUNDING not in e.dialect.accepted:
        raise NotInDialect(f"the dialect {e.dialect.name} has quotients of decimals only with last digits of its own")
    return call


def spread(source: str) -> Apply:
    """The standard deviation or the variance of integers and decimals: of infinite values and NaN databases have none, or another."""

    def rule(call: LoweredCall) -> AggregateForm:
        distribution, value = call.arguments
        if not isinstance(value, Cast) or value.input.type.kind not in (*INTEGERS, "decimal"):
            raise NotInDialect(
                f"the dialect {call.e.dialect.name} has no {call.function.declaration.name} of values that may be infinite or NaN",
                "Take it of integers or decimals, or compute this column in Spark.",
            )
        return call.one(f"{source}:{SPREADS[call.function.declaration.name, distribution]}", value)

    return rule


def whole(source: str) -> Apply:
    """A decimal as an integer: databases would round it."""

    def rule(e: LoweringBuilder, cast: Cast) -> Expression:
        value = cast.input
        if value.type.parameters[1]:
            value = e.call(f"{source}:trunc", value)
        return e.cast(value, cast.type, cast.throws)

    return rule


def days_after(source: str) -> Apply:
    """Days added to a date."""
    return lambda e, call: e.call(f"{source}:days_after", *call.children())


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


def table(expressions: ExpressionLowering, read: NamedTable) -> Relation:
    """A table without columns of other types that nothing uses: SQL names those that it takes."""
    lacks = [not expressions.e.dialect.allows_type(kind, column=True) for kind in read.schema]
    dropped = {n for n, is_lacking in enumerate(lacks) if is_lacking and n not in read.emitted}
    return without(read, dropped) if 0 < len(dropped) < len(lacks) else read


def rewrites_of(source: str) -> list[Rewrite | Conversion]:
    """The rewrites for a database, whose own functions go by the alias of their file."""
    calls: dict[Target, Apply] = {
        "arithmetic:divide": arithmetic.divide,
        "arithmetic:std_dev": spread(source),
        "arithmetic:variance": spread(source),
        "arithmetic_decimal:avg": average,
        "spark:date_add": days_after(source),
        **{("decimal", kind): whole(source) for kind in INTEGERS},
    }
    return [
        Rewrite("arithmetic_decimal:divide", quotient, defect="averages_in_doubles"),
        Rewrite(WindowFunction, framed),
        Rewrite(NamedTable, table, sees=Sees.ORIGINAL),
        *rewrites(calls),
        *literals.rewrites_of(source),
        *text.rewrites_of(source),
    ]


REWRITES = rewrites_of("isthmus")
