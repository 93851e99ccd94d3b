"""Comparison operators and null tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from .floating import comparable
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def comparison(name: str) -> Rule:
    """=, <=>, <, <=, > and >=: for floating-point values NaN equals NaN and is greatest."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        left, right = e.emit(node["left"]), e.emit(node["right"])
        return e.call(f"comparison:{name}", comparable(e, left), comparable(e, right))

    return emit


def known(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """KnownNotNull, KnownNullable: a marker around a value."""
    return e.emit(node["child"])


SCALAR: dict[str, Plain | Rule] = {
    "EqualTo": comparison("equal"),
    "EqualNullSafe": comparison("is_not_distinct_from"),
    "LessThan": comparison("lt"),
    "LessThanOrEqual": comparison("lte"),
    "GreaterThan": comparison("gt"),
    "GreaterThanOrEqual": comparison("gte"),
    "IsNull": plain("comparison:is_null"),
    "IsNotNull": plain("comparison:is_not_null"),
    "KnownNotNull": known,
    "KnownNullable": known,
}
