"""Comparison operators and null tests. NaN equals NaN and is greater than any other number, -0.0 equals 0.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import FLOATS
from ..catalyst import tree
from .table import Plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def comparison(name: str) -> Rule:
    """=, <=>, <, <=, > and >=."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        left, right = alike_inside(e, [e.emit(node["left"]), e.emit(node["right"])])
        return e.call(f"comparison:{name}", left, right)

    return emit


def alike_inside(e: ExpressionBuilder, values: Sequence[Expression]) -> Sequence[Expression]:
    """The values in one type where types differ in the nullability of what is inside them."""
    if len({types.required(value.type) for value in values}) > 1:
        return e.alike(values)
    return values


def known(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """KnownNotNull, KnownNullable: a marker around a value."""
    return e.emit(node["child"])


def extreme(name: str) -> Rule:
    """Greatest, Least: nulls are skipped; of equal values, such as 0.0 and -0.0, the first."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"comparison:{name}_skip_null", *e.alike(e.emit_all(node["children"])))

    return emit


def is_nan(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """IsNaN: false for null."""
    nan = e.call("comparison:is_nan", e.emit(node["child"]))
    return e.coalesce(nan, e.false()) if nan.type.nullable else nan


def nanvl(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """NaNvl: the second value where the first is NaN."""
    value = e.share(e.emit(node["left"]))
    return e.if_then(e.call("comparison:is_nan", value), e.emit(node["right"]), value)


def enough_values(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """AtLeastNNonNulls: whether so many values are neither null nor NaN."""
    counts = []
    for value in map(e.share, e.emit_all(node["children"])):
        present = e.is_not_null(value)
        if value.type.kind in FLOATS:
            present = e.and_(present, e.not_(e.call("comparison:is_nan", value)))
        counts.append(e.if_then(present, e.i32(1), e.i32(0)))
    total = counts[0] if counts else e.i32(0)
    for count in counts[1:]:
        total = e.call("spark:spark_add", total, count)
    result = e.call("comparison:gte", total, e.i32(node["n"]))
    return e.coalesce(result, e.false()) if result.type.nullable else result


SCALAR: dict[str, Plain | Rule] = {
    "AtLeastNNonNulls": enough_values,
    "Greatest": extreme("greatest"),
    "Least": extreme("least"),
    "IsNaN": is_nan,
    "NaNvl": nanvl,
    "EqualTo": comparison("equal"),
    "EqualNullSafe": comparison("is_not_distinct_from"),
    "LessThan": comparison("lt"),
    "LessThanOrEqual": comparison("lte"),
    "GreaterThan": comparison("gt"),
    "GreaterThanOrEqual": comparison("gte"),
    "KnownNotNull": known,
    "KnownNullable": known,
}
