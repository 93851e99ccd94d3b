"""Products, quotients and remainders of decimals of so many digits that engines don't hold them on the way; means in doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any

from ..function import PythonFunction, Signature
from .rows import Function, of_all_rows, of_typed_rows

EXACT = Context(prec=250)
"""So many digits that a quotient of two decimals is rounded as it would be with all its digits."""

MOST = 39
"""How many digits a quotient may have in Spark where a remainder is computed: `Decimal.MATH_CONTEXT`."""

LIMIT = 10**38
"""Above all decimals."""

Operation = Callable[[Decimal, Decimal], Decimal]


def _whole(left: Decimal, right: Decimal) -> Decimal:
    """The quotient without its fraction. Raises ArithmeticError, as Java does, for one of too many digits."""
    whole = EXACT.divide_int(left, right)
    if whole != whole.quantize(Decimal(1).scaleb(max(whole.adjusted() + 1 - MOST, 0)), ROUND_DOWN, EXACT):
        raise ArithmeticError("[INTERNAL_ERROR] Division impossible: its quotient has more than 39 digits")
    return whole


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    """With the sign of the dividend."""
    _whole(left, right)
    return EXACT.remainder(left, right)


def _positive_remainder(left: Decimal, right: Decimal) -> Decimal:
    remainder = _remainder(left, right)
    return _remainder(EXACT.add(remainder, right), right) if remainder < 0 else remainder


def _low_64_bits(left: Decimal, right: Decimal) -> int | None:
    """Of the quotient without its fraction, null where that is no decimal."""
    whole = int(_whole(left, right))
    return (whole + 2**63) % 2**64 - 2**63 if abs(whole) < LIMIT else None


def _low_64_bits_or_error(left: Decimal, right: Decimal) -> int:
    bits = _low_64_bits(left, right)
    if bits is None:
        raise OverflowError("[NUMERIC_VALUE_OUT_OF_RANGE] The quotient has more than 38 digits.")
    return bits


def _decimal(operation: Operation, *, raises: bool = True, divides: bool = True) -> PythonFunction:
    """An operation whose result is rounded to its type: an error, or null, where it has no value or doesn't fit."""

    def made(signature: Signature) -> Function:
        kind = signature.arrow_result
        unit, limit = Decimal(1).scaleb(-kind.scale), Decimal(1).scaleb(kind.precision - kind.scale)

        def rounded(left: Decimal, right: Decimal) -> Decimal | None:
            result = operation(left, right).quantize(unit, ROUND_HALF_UP, EXACT)
            if result.copy_abs() < limit:  # `abs` would round it
                return result
            if raises:
                raise OverflowError(f"[NUMERIC_VALUE_OUT_OF_RANGE] {result} is no {kind}.")
            return None

        return _divided(rounded, raises) if divides else _of_both(rounded)

    return of_typed_rows(made)


def _divided(operation: Callable[[Decimal, Decimal], Any], raises: bool) -> Function:
    """An operation with an error, or null, for a zero divisor. Further arguments are of the result's type and say nothing."""

    def divided(left: Decimal, right: Decimal) -> Any:
        if right:
            return operation(left, right)
        if raises:
            raise ZeroDivisionError("[DIVIDE_BY_ZERO] Division by zero.")
        return None

    return _of_both(divided)


def _of_both(operation: Callable[[Decimal, Decimal], Any]) -> Function:
    """An operation that is null where an operand is."""

    def computed(left: Decimal | None, right: Decimal | None, *_: object) -> Any:
        return None if left is None or right is None else operation(left, right)

    return computed


def _mean_in_doubles(signature: Signature) -> Function:
    """Of a sum and a count: the sum without its point by the count, by the power of ten; the shortest text of that is rounded."""
    scale, kind = signature.arrow_arguments[0].scale, signature.arrow_result
    unit = Decimal(1).scaleb(-kind.scale)

    def computed(total: Decimal | None, count: int | None, _: object) -> Decimal | None:
        if total is None or not count:
            return None
        mean = float(int(total.scaleb(scale, EXACT))) / count / 10.0**scale
        return Decimal(repr(mean)).quantize(unit, ROUND_HALF_UP, EXACT)

    return computed


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_div": of_all_rows(_divided(_low_64_bits_or_error, raises=True)),
    "spark_divide": _decimal(EXACT.divide),
    "spark_mean_in_doubles": of_typed_rows(_mean_in_doubles),
    "spark_mod": _decimal(_remainder),
    "spark_multiply": _decimal(EXACT.multiply, divides=False),
    "spark_pmod": _decimal(_positive_remainder),
    "spark_try_div": of_all_rows(_divided(_low_64_bits, raises=False)),
    "spark_try_divide": _decimal(EXACT.divide, raises=False),
    "spark_try_mod": _decimal(_remainder, raises=False),
    "spark_try_multiply": _decimal(EXACT.multiply, raises=False, divides=False),
    "spark_try_pmod": _decimal(_positive_remainder, raises=False),
}
