"""The integers that stand for intervals in DataFusion, whose own are inexact, and for times of day, which plans can't have there."""

from __future__ import annotations

from ...algebra import types
from ...algebra.types import Type
from ..arrow.counts import COUNTED

COUNTS: dict[str, Type] = {kind: types.of(count) for kind, count in COUNTED.items()}
"""By the kind of the type: microseconds, months, and nanoseconds since midnight."""


def counted(kind: Type) -> Type:
    """The type of the counts of values; any other type as it is."""
    count = COUNTS.get(kind.kind)
    return kind if count is None else types.with_nullable(count, kind.nullable)
