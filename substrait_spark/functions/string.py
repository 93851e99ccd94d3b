"""String functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..errors import Unsupported
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def like(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Like: the standard function knows no escape character, so the pattern must not use one."""
    pattern = node["right"]
    if pattern.name != "Literal" or node["escapeChar"] in (pattern["value"] or ""):
        raise Unsupported("the LIKE pattern is no literal or uses its escape character")
    return e.call("string:like", e.emit(node["left"]), e.emit(pattern), case_sensitivity="CASE_SENSITIVE")


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Concat of strings: null where any of them is."""
    return e.call("string:concat", *e.emit_all(node["children"]), null_handling="ACCEPT_NULLS")


def substring(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Substring of characters: the standard does not say what a position before the start or a negative length means."""
    arguments = e.emit_all([node["str"], node["pos"], node["len"]])
    if arguments[0].type.kind == "string" and is_literal(node["pos"], 1) and is_literal(node["len"], 0):
        return e.call("string:substring", *arguments, negative_start="WRAP_FROM_END")
    return e.call("spark:substring", *arguments)


def counted(function: str) -> Rule:
    """A function that counts in 64 bits where Spark counts in 32."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.cast(e.call(function, *e.emit_all(arguments_of(node))), types.I32)

    return emit


def is_literal(node: tree.Expression, least: int) -> bool:
    """Whether an argument is an integer literal that is not smaller than this."""
    return node.cls.name == "Literal" and isinstance(node["value"], int) and node["value"] >= least


SCALAR: dict[str, Plain | Rule] = {
    "Concat(string)": concat,
    "Contains": plain("string:contains", case_sensitivity="CASE_SENSITIVE"),
    "EndsWith": plain("string:ends_with", case_sensitivity="CASE_SENSITIVE"),
    "Length(string)": counted("string:char_length"),
    "Length(binary)": plain("spark:length"),
    "Like": like,
    "Lower": plain("string:lower", char_set="UTF8"),
    "StartsWith": plain("string:starts_with", case_sensitivity="CASE_SENSITIVE"),
    "Substring": substring,
    "Upper": plain("string:upper", char_set="UTF8"),
}
