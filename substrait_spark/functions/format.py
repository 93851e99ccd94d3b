"""Functions that write values by a pattern, and read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def to_number(name: str) -> Rule:
    """ToNumber, TryToNumber: the format says the type of the result."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"spark:{name}", e.emit(node["left"]), e.emit(node["right"]), e.null(e.type_of(node)))

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "FormatNumber": plain("spark:format_number"),
    "FormatString": plain("spark:format_string"),
    "ToCharacter": plain("spark:to_char"),
    "ToNumber": to_number("to_number"),
    "TryToNumber": to_number("try_to_number"),
}
