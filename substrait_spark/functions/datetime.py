"""Date, timestamp and interval functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from .table import Plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def year(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Year of a date."""
    child = e.emit(node["child"])
    return e.first(
        lambda: e.cast(e.call("datetime:extract", "YEAR", child), types.I32),
        lambda: e.cast(e.call("datafusion:date_part", e.literal("year", types.STRING), child), types.I32),
    )


SCALAR: dict[str, Plain | Rule] = {"Year": year}
