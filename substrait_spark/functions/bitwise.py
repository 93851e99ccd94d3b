"""Bitwise operators and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import Expression
from ..catalyst import tree
from .string import integer
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder, Rule

WIDTHS = {"i32": 32, "i64": 64}


def shift(standard: str, masking: str) -> Rule:
    """A shift: the standard functions don't say what a count beyond the width does, of which Spark takes the low bits."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value, count = e.emit_all(arguments_of(node))
        known = integer(node["right"])
        if known is not None and 0 <= known < WIDTHS[value.type.kind]:
            return e.call(f"arithmetic:{standard}", value, count)
        return e.call(f"spark:{masking}", value, count)

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "BitwiseAnd": plain("arithmetic:bitwise_and"),
    "BitwiseCount": plain("spark:bit_count"),
    "BitwiseGet": plain("spark:bit_get"),
    "BitwiseNot": plain("arithmetic:bitwise_not"),
    "BitwiseOr": plain("arithmetic:bitwise_or"),
    "BitwiseXor": plain("arithmetic:bitwise_xor"),
    "ShiftLeft": shift("shift_left", "shiftleft"),
    "ShiftRight": shift("shift_right", "shiftright"),
    "ShiftRightUnsigned": shift("shift_right_unsigned", "shiftrightunsigned"),
}
