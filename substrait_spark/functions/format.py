"""Functions that write values by a pattern, and read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import INTEGERS
from ..catalyst import tree
from ..errors import NotInDialect
from .string import integer, text
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def format_string(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """FormatString: printf with Java's conversions."""
    arguments = e.emit_all(node["children"])
    return e.first(
        lambda: e.call("spark:format_string", *arguments),
        lambda: e.call("datafusion:format_string", *_if_portable(node, arguments)),
    )


CONVERSION = re.compile(r"%(?:(%|n)|(s)|([-0]?[1-9][0-9]{0,3}|[+,])?d|[xXo])")
"""The conversions that mean the same everywhere: `%s`, `%d` with a width or one flag, `%x`, `%o`, `%%` and `%n`."""


def _if_portable(node: tree.Expression, arguments: Sequence[Expression]) -> Sequence[Expression]:
    """The arguments, if the pattern is a literal whose conversions fit them and mean the same everywhere."""
    pattern = text(node["children"][0])
    if pattern is None:
        raise NotInDialect("the format is no literal")
    found = [match for match in CONVERSION.finditer(pattern) if not match[1]]
    if "%" in CONVERSION.sub("", pattern) or len(found) != len(arguments) - 1:
        raise NotInDialect("the format has conversions that engines treat in different ways")
    for conversion, argument in zip(found, arguments[1:], strict=True):
        kinds = (*INTEGERS, "string") if conversion[2] else INTEGERS
        if argument.type.kind not in kinds:
            raise NotInDialect(f"engines write {argument.type} with {conversion[0]} in different ways")
    return arguments


def format_number(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """FormatNumber: with thousands separators and a fixed number of decimals."""
    value, digits = e.emit(node["x"]), e.emit(node["d"])
    return e.first(lambda: e.call("spark:format_number", value, digits), lambda: _grouped(e, node, value))


def _grouped(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """The digits before the point in groups of three, counted from the point; the decimals as they are."""
    decimals = integer(node["d"])
    scale = value.type.parameters[1] if value.type.kind == "decimal" else 0
    if value.type.kind not in (*INTEGERS, "decimal") or decimals is None or decimals < scale:
        raise NotInDialect("the number must be rounded, or its decimals are no literal")
    shown = e.call("string:ltrim", e.cast(value, types.STRING), e.text("-"))
    whole = e.call("datafusion:split_part", shown, e.text("."), e.i32(1)) if scale else shown
    groups = e.call(
        "datafusion:regexp_replace", e.call("string:reverse", whole), e.text("([0-9]{3})"), e.text("${1},"), e.text("g")
    )
    sign = e.if_then(e.call("comparison:lt", value, _zero(e, value)), e.text("-"), e.text(""))
    parts = [sign, e.call("string:ltrim", e.call("string:reverse", groups), e.text(","))]
    if decimals:
        parts.append(e.text("." + "0" * decimals if not scale else "."))
    if scale:
        rest = e.call("datafusion:split_part", shown, e.text("."), e.i32(2))
        parts.append(e.call("string:rpad", rest, e.i32(decimals), e.text("0")))
    return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")


def _zero(e: ExpressionBuilder, value: Expression) -> Expression:
    return e.literal(0, types.required(value.type))


def to_number(name: str) -> Rule:
    """ToNumber, TryToNumber: the format says the type of the result."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"spark:{name}", e.emit(node["left"]), e.emit(node["right"]), e.null(e.type_of(node)))

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "FormatNumber": format_number,
    "FormatString": format_string,
    "ToCharacter": plain("spark:to_char"),
    "ToNumber": to_number("to_number"),
    "TryToNumber": to_number("try_to_number"),
}
