"""Mathematics that DataFusion does in other last digits, or rounds otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..function import Compute, PythonFunction, Signature
from .rows import of_typed_rows

# ---- inverse hyperbolic functions


def _of_doubles(function: Callable[[Any], Any]) -> PythonFunction:
    """A function of doubles, NaN where it has no value."""

    def computed(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        (array,) = arrays
        values = array.fill_null(0.0).to_numpy(zero_copy_only=False)
        with np.errstate(all="ignore"):
            return pa.array(function(values), pa.float64(), mask=array.is_null().to_numpy(zero_copy_only=False))

    def compute(_: Signature) -> Compute:
        return computed

    return PythonFunction(compute)


# ---- rounding of integers, half to even


def _rounded(wraps: bool) -> Callable[[Signature], Callable[..., Any]]:
    def made(signature: Signature) -> Callable[..., Any]:
        bits: int = signature.arrow_result.bit_width
        reach: int = 2**bits

        def rounded(value: int | None, scale: int | None) -> int | None:
            if value is None or scale is None:
                return None
            found = half_even(value, -scale) if scale < 0 else value
            fitting = (found + reach // 2) % reach - reach // 2
            if found != fitting and not wraps:
                raise OverflowError(f"[ARITHMETIC_OVERFLOW] {value}, rounded, has more than {bits} bits")
            return fitting

        return rounded

    return made


def half_even(value: int, zeros: int) -> int:
    """The nearest number that ends with so many zeros; of two, the one with an even digit before these."""
    unit: int = 10 ** min(zeros, 40)
    below, rest = divmod(value, unit)
    up = 2 * rest > unit or (2 * rest == unit and below % 2 == 1)
    return (below + up) * unit


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_acosh": _of_doubles(np.arccosh),
    "spark_asinh": _of_doubles(np.arcsinh),
    "spark_atanh": _of_doubles(np.arctanh),
    "spark_bround": of_typed_rows(_rounded(wraps=False)),
    "spark_try_bround": of_typed_rows(_rounded(wraps=True)),
}
