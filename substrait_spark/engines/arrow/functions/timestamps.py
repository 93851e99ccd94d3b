"""Timestamps of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, Inexact

import numpy as np
import pyarrow as pa

from ..function import Compute, PythonFunction, Signature

EXACT = Context(prec=60, traps=[Inexact])
LEAST, MOST = -(2**63), 2**63 - 1


def _of_decimal(seconds: Decimal) -> int:
    micros = seconds.scaleb(6, EXACT)
    if micros != int(micros) or not LEAST <= micros <= MOST:
        raise ArithmeticError(f"[DATETIME_OVERFLOW] {seconds} seconds are no microseconds of 64 bits")
    return int(micros)


def _of_decimals(array: pa.Array) -> pa.Array:
    return pa.array([None if value is None else _of_decimal(value) for value in array.to_pylist()], pa.int64())


def _of_doubles(array: pa.Array) -> pa.Array:
    """Rounded towards zero, and the nearest of those there are; null for NaN and infinities."""
    seconds = array.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    known = np.isfinite(seconds)
    with np.errstate(over="ignore"):
        micros = np.where(known, seconds, 0.0) * 1e6
    held = np.abs(micros) < 2.0**63
    counts = np.where(held, np.where(held, micros, 0.0).astype(np.int64), np.where(micros > 0, MOST, LEAST))
    return pa.array(counts, pa.int64(), mask=~known)


def _timestamp_seconds(signature: Signature) -> Compute:
    of = _of_decimals if pa.types.is_decimal(signature.arrow_arguments[0]) else _of_doubles

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        return of(arrays[0]).cast(signature.arrow_result)

    return compute


FUNCTIONS: Mapping[str, PythonFunction] = {"spark_timestamp_seconds": PythonFunction(_timestamp_seconds)}
