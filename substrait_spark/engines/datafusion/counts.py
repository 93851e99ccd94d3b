"""The integers that stand for intervals in DataFusion, whose own are inexact, and for times of day, which plans can't have there."""

from __future__ import annotations

from substrait.type_pb2 import NamedStruct

from ...algebra import types
from ...algebra.types import Type

COUNTS: dict[str, Type] = {
    "interval_day": types.of("i64"),
    "interval_year": types.of("i32"),
    "precision_time": types.of("i64"),
}
"""By the kind of the type: microseconds, months, and nanoseconds since midnight."""


def counted(kind: Type) -> Type:
    """The type of the counts of values; any other type as it is."""
    count = COUNTS.get(kind.kind)
    return kind if count is None else types.with_nullable(count, kind.nullable)


def declare_counts(schema: NamedStruct) -> None:
    """Have a schema say what DataFusion gets in the place of values that are counted."""
    for kind in schema.struct.types:
        count = COUNTS.get(str(kind.WhichOneof("kind")))
        if count is not None:
            nullability = getattr(kind, str(kind.WhichOneof("kind"))).nullability
            getattr(kind, count.kind).nullability = nullability
