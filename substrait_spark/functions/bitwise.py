"""Bitwise operators and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .table import Plain, plain

if TYPE_CHECKING:
    from ..expr.builder import Rule

SCALAR: dict[str, Plain | Rule] = {
    "BitwiseAnd": plain("arithmetic:bitwise_and"),
    "BitwiseCount": plain("spark:bit_count"),
    "BitwiseGet": plain("spark:bit_get"),
    "BitwiseNot": plain("arithmetic:bitwise_not"),
    "BitwiseOr": plain("arithmetic:bitwise_or"),
    "BitwiseXor": plain("arithmetic:bitwise_xor"),
    # The standard shifts don't say what a count beyond the width does.
    "ShiftLeft": plain("spark:shiftleft"),
    "ShiftRight": plain("spark:shiftright"),
    "ShiftRightUnsigned": plain("spark:shiftrightunsigned"),
}
