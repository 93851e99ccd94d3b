"""String functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..errors import Unsupported
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def like(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Like: the standard function knows no escape character, so the pattern must not use one."""
    pattern = node["right"]
    if pattern.name != "Literal" or node["escapeChar"] in (pattern["value"] or ""):
        raise Unsupported("the LIKE pattern is no literal or uses its escape character")
    return e.call("string:like", e.emit(node["left"]), e.emit(pattern), case_sensitivity="CASE_SENSITIVE")


def substring(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Substring."""
    return e.call("string:substring", *e.emit_all([node["str"], node["pos"], node["len"]]), negative_start="WRAP_FROM_END")


SCALAR: dict[str, Plain | Rule] = {
    "Contains": plain("string:contains", case_sensitivity="CASE_SENSITIVE"),
    "EndsWith": plain("string:ends_with", case_sensitivity="CASE_SENSITIVE"),
    "Like": like,
    "StartsWith": plain("string:starts_with", case_sensitivity="CASE_SENSITIVE"),
    "Substring": substring,
}
