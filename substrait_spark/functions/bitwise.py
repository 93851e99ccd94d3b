"""Bitwise operators and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import Expression
from .table import Plain, plain

if TYPE_CHECKING:
    from ..catalyst import tree
    from ..expr.builder import ExpressionBuilder, Rule


def bitwise_xor(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """BitwiseXor; its operands look different where an engine would say that those which look the same cancel out."""
    left, right = e.emit(node["left"]), e.emit(node["right"])
    return e.call("arithmetic:bitwise_xor", e.hidden(left) if e.dialect.quirks.forgets_nulls else left, right)


SCALAR: dict[str, Plain | Rule] = {
    "BitwiseAnd": plain("arithmetic:bitwise_and"),
    "BitwiseCount": plain("spark:bit_count"),
    "BitwiseGet": plain("spark:bit_get"),
    "BitwiseNot": plain("arithmetic:bitwise_not"),
    "BitwiseOr": plain("arithmetic:bitwise_or"),
    "BitwiseXor": bitwise_xor,
    # The standard shifts don't say what a count beyond the width does.
    "ShiftLeft": plain("spark:shiftleft"),
    "ShiftRight": plain("spark:shiftright"),
    "ShiftRightUnsigned": plain("spark:shiftrightunsigned"),
}
