"""Rounding to a number of digits: of decimals, and of floating-point numbers by their shortest text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa

from ..function import PythonFunction, Signature
from .rows import of_typed_rows

DIGITS = Context(prec=800)
"""All the digits that a double has before the point, and as many behind it as are asked for."""

FINEST = 400
"""Digits behind the point beyond which no double has any."""


def rounded(value: Decimal, scale: int, mode: str) -> Decimal:
    """The number with so many digits behind the point, before it if negative."""
    if scale >= FINEST:
        return value
    return value.quantize(Decimal(1).scaleb(-scale, DIGITS), mode, DIGITS) if scale > -FINEST else Decimal(0)


def _of_decimals(mode: str) -> Callable[[Signature], Callable[..., Any]]:
    """To the type of the result, which is that of the third argument."""

    def made(signature: Signature) -> Callable[..., Any]:
        kind = signature.arrow_result
        most = Decimal(10).scaleb(kind.precision - kind.scale - 1)

        def compute(value: Decimal | None, scale: int | None, _: object) -> Decimal | None:
            if value is None or scale is None:
                return None
            found = rounded(value, scale, mode)
            if found.copy_abs() >= most:  # `abs` would round it
                raise OverflowError(f"[NUMERIC_VALUE_OUT_OF_RANGE] {value}, rounded, is no {kind}")
            return rounded(found, kind.scale, mode)

        return compute

    return made


def _of_floats(mode: str) -> Callable[[Signature], Callable[..., Any]]:
    """Of the shortest decimal text of the number as a double; NaN and infinities stay."""

    def made(signature: Signature) -> Callable[..., Any]:
        nearest = _float32 if signature.arrow_result == pa.float32() else float

        def compute(value: float | None, scale: int | None) -> float | None:
            if value is None or scale is None:
                return None
            if value - value != 0:  # NaN and infinities have no finite difference
                return value
            return nearest(rounded(Decimal(repr(value)), scale, mode)) + 0.0

        return compute

    return made


def _float32(value: Decimal) -> float:
    """The nearest 32-bit number, by its text: a double on the way would be rounded twice."""
    return float(pa.scalar(str(value)).cast(pa.float32()).as_py())


def _by_kind(mode: str, others: Callable[[Signature], Callable[..., Any]]) -> Callable[[Signature], Callable[..., Any]]:
    """Decimals and floating-point numbers, and other numbers by another rule."""

    def made(signature: Signature) -> Callable[..., Any]:
        kind = signature.arrow_arguments[0]
        if pa.types.is_decimal(kind):
            return _of_decimals(mode)(signature)
        return (_of_floats(mode) if pa.types.is_floating(kind) else others)(signature)

    return made


# ---- integers, half to even


def _of_integers(wraps: bool) -> Callable[[Signature], Callable[..., Any]]:
    def made(signature: Signature) -> Callable[..., Any]:
        bits: int = signature.arrow_result.bit_width
        reach: int = 2**bits

        def compute(value: int | None, scale: int | None) -> int | None:
            if value is None or scale is None:
                return None
            found = half_even(value, -scale) if scale < 0 else value
            fitting = (found + reach // 2) % reach - reach // 2
            if found != fitting and not wraps:
                raise OverflowError(f"[ARITHMETIC_OVERFLOW] {value}, rounded, has more than {bits} bits")
            return fitting

        return compute

    return made


def half_even(value: int, zeros: int) -> int:
    """The nearest number that ends with so many zeros; of two, the one with an even digit before these."""
    unit: int = 10 ** min(zeros, 40)
    below, rest = divmod(value, unit)
    up = 2 * rest > unit or (2 * rest == unit and below % 2 == 1)
    return (below + up) * unit


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_bround": of_typed_rows(_by_kind(ROUND_HALF_EVEN, _of_integers(wraps=False))),
    "spark_ceil": of_typed_rows(_of_decimals(ROUND_CEILING)),
    "spark_floor": of_typed_rows(_of_decimals(ROUND_FLOOR)),
    "spark_round": of_typed_rows(_of_floats(ROUND_HALF_UP)),
    "spark_round_half_up": of_typed_rows(_of_decimals(ROUND_HALF_UP)),
    "spark_try_bround": of_typed_rows(_of_integers(wraps=True)),
}
