"""The integers that stand for intervals in DataFusion, whose own are inexact: microseconds in 64 bits, or months in 32 bits."""

from __future__ import annotations

from ...algebra import types
from ...algebra.types import Type

COUNTS: dict[str, Type] = {"interval_day": types.I64, "interval_year": types.I32}
"""By the kind of the interval's type."""


def counted(kind: Type) -> Type:
    """The type of the counts of intervals; any other type as it is."""
    count = COUNTS.get(kind.kind)
    return kind if count is None else types.with_nullable(count, kind.nullable)
