"""Comparison operators and null tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def known(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """KnownNotNull, KnownNullable: a marker around a value."""
    return e.emit(node["child"])


SCALAR: dict[str, Plain | Rule] = {
    "EqualTo": plain("comparison:equal"),
    "EqualNullSafe": plain("comparison:is_not_distinct_from"),
    "LessThan": plain("comparison:lt"),
    "LessThanOrEqual": plain("comparison:lte"),
    "GreaterThan": plain("comparison:gt"),
    "GreaterThanOrEqual": plain("comparison:gte"),
    "IsNull": plain("comparison:is_null"),
    "IsNotNull": plain("comparison:is_not_null"),
    "KnownNotNull": known,
    "KnownNullable": known,
}
