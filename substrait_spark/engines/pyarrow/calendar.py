"""Dates and timestamps by the days and microseconds that they are."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, ScalarFunction
from ...dialects.rewrite import Apply, rewrites
from ...lowering.builder import LoweringBuilder

MICROSECONDS = 86_400_000_000
"""Those of a day."""


def days(e: LoweringBuilder, date: Expression) -> Expression:
    """The number of days since 1970-01-01."""
    return e.cast(date, types.I32)


def number(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """unix_date, unix_micros: what a date or a timestamp is."""
    (value,) = call.children()
    return e.cast(value, call.type)


def shifted(operation: str) -> Apply:
    """date_add, date_sub: the day that is some days later or earlier; their number wraps around."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        date, count = call.children()
        return e.cast(e.call(f"arithmetic:{operation}", days(e, date), count, overflow="SILENT"), call.type)

    return rule


def difference(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """datediff: the days between two dates."""
    end, start = call.children()
    return e.call("arithmetic:subtract", days(e, end), days(e, start), overflow="SILENT")


def seconds(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """unix_seconds: whole ones since 1970-01-01, one less for a part of one before."""
    value = e.share(e.cast(call.children()[0], types.I64))
    quotient = e.share(
        e.call("arithmetic:divide", value, e.i64(1_000_000), overflow="SILENT", on_division_by_zero="ERROR")
    )
    product = e.call("arithmetic:multiply", quotient, e.i64(1_000_000), overflow="SILENT")
    less = e.call("arithmetic:subtract", quotient, e.i64(1), overflow="SILENT")
    return e.if_then(e.call("comparison:lt", value, product), less, quotient)


def midnight(e: LoweringBuilder, cast: Cast) -> Expression:
    """The timestamp at which a date begins; raises for one that is too far from now."""
    count = e.cast(days(e, cast.input), types.I64)
    return e.cast(e.call("arithmetic:multiply", count, e.i64(MICROSECONDS), overflow="ERROR"), cast.type)


CALLS = {
    "spark:date_add": shifted("add"),
    "spark:date_from_unix_date": number,
    "spark:date_sub": shifted("subtract"),
    "spark:datediff": difference,
    "spark:timestamp_micros": number,
    "spark:unix_date": number,
    "spark:unix_micros": number,
    "spark:unix_seconds": seconds,
}

CASTS = {("date", "precision_timestamp"): midnight}

REWRITES = [*rewrites(CALLS), *rewrites(CASTS)]
