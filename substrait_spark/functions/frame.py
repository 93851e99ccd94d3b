"""The frames of Catalyst's window specifications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra import types
from ..algebra.expression import Bound
from ..algebra.frame import Frame
from ..catalyst import tree
from ..errors import Unsupported
from .time_zone import DAY, zone

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def frame_of(e: ExpressionBuilder, spec: tree.Expression) -> Frame:
    """The frame of a WindowSpecDefinition. Catalyst's offsets before the current row are negative."""
    node = spec["frameSpecification"]
    if node.name != "SpecifiedWindowFrame":
        raise Unsupported(f"the window frame {node.name} is not known")
    if node["frameType"] == "RowFrame":
        return Frame(True, _rows(e, node["lower"]), _rows(e, node["upper"]))
    if node["frameType"] == "RangeFrame":
        return Frame(False, _range(e, spec, node["lower"]), _range(e, spec, node["upper"]))
    raise Unsupported(f"the frame type {node['frameType']} is not known")


def _rows(e: ExpressionBuilder, node: tree.Expression) -> Bound:
    named = _named(node)
    if named is not None:
        return named
    offset = _value(node)
    if offset == 0:
        return Bound("current")
    return Bound("preceding" if offset < 0 else "following", e.i64(abs(offset)))


def _range(e: ExpressionBuilder, spec: tree.Expression, node: tree.Expression) -> Bound:
    named = _named(node)
    if named is not None:
        return named
    offset = _value(node)
    if offset == 0:
        return Bound("current")
    kind = "preceding" if offset < 0 else "following"
    key = spec["orderSpec"][0]["child"].type
    if key.name == "date" and node.type.name == "integer":  # days
        return Bound(kind, e.literal(abs(offset) * DAY, types.of("interval_day", 6, nullable=False)))
    if key.name == "timestamp" and node.type.name == "daytime" and abs(offset) >= DAY:
        _require_equal_days(e)
    return Bound(kind, e.literal(abs(offset), e.type_of(node, False)))


def _require_equal_days(e: ExpressionBuilder) -> None:
    """Refuse days of instants, which Spark counts in the session's time zone, unless each has 24 hours there."""
    text = e.context.configuration.get("spark.sql.session.timeZone")
    if text is None or zone(text).offset is None:
        raise Unsupported(
            "the days of a frame by range are days in the session's time zone, which may have 23 or 25 hours",
            "Order by a TIMESTAMP_NTZ or a DATE, or by the timestamp cast to a number of seconds, or set "
            "spark.sql.session.timeZone to UTC.",
        )


def _named(node: tree.Expression) -> Bound | None:
    if node.name in ("UnboundedPreceding", "UnboundedFollowing"):
        return Bound("unbounded")
    if node.name == "CurrentRow":
        return Bound("current")
    return None


def _value(node: tree.Expression) -> Any:
    """The number in a bound: of rows, or in the internal form of its type."""
    if node.name != "Literal" or node["value"] is None:
        raise Unsupported("only literal window bounds can be exported")
    return int(node["value"]) if node.type.name == "decimal" else node["value"]
