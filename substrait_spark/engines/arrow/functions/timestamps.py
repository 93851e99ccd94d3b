"""Timestamps of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context, Decimal, Inexact
from typing import Any

import pyarrow as pa

from ..function import PythonFunction, Signature
from .rows import of_typed_rows

EXACT = Context(prec=60, traps=[Inexact])
LEAST, MOST = -(2**63), 2**63 - 1


def _of_decimal(seconds: Decimal) -> int:
    micros = seconds.scaleb(6, EXACT)
    if micros != int(micros) or not LEAST <= micros <= MOST:
        raise ArithmeticError(f"[DATETIME_OVERFLOW] {seconds} seconds are no microseconds of 64 bits")
    return int(micros)


def _of_double(seconds: float) -> int | None:
    """Rounded towards zero, and the nearest of those there are."""
    micros = seconds * 1e6
    if seconds - seconds != 0:  # NaN and infinities
        return None
    if abs(micros) >= 2.0**63:
        return MOST if micros > 0 else LEAST
    return int(micros)


def _timestamp_seconds(signature: Signature) -> Callable[[Any], pa.Scalar | None]:
    of = _of_decimal if pa.types.is_decimal(signature.arrow_arguments[0]) else _of_double

    def compute(seconds: Any) -> pa.Scalar | None:
        micros = None if seconds is None else of(seconds)
        return pa.scalar(micros, pa.int64()).cast(signature.arrow_result)

    return compute


FUNCTIONS: Mapping[str, PythonFunction] = {"spark_timestamp_seconds": of_typed_rows(_timestamp_seconds)}
