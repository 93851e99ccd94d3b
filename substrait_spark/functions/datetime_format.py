"""Dates and timestamps as texts by patterns, from texts by patterns, and from parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..errors import Unsupported
from . import time_zone as tz
from .datetime import failing, zone_of
from .table import Plain, in_nanos

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

POLICY = "spark.sql.legacy.timeParserPolicy"


def _require_policy(e: ExpressionBuilder, node: tree.Expression) -> None:
    """Refuse the patterns of Spark before 3.0, and to raise where only they would read a text."""
    policy = e.context.configuration.get(POLICY, "CORRECTED")
    if policy.upper() == "LEGACY" or (policy.upper() == "EXCEPTION" and not node.get("failOnError", True)):
        raise Unsupported(
            f"the setting {POLICY}={policy} changes what patterns mean, and a plan can't say so",
            "Set it to CORRECTED.",
        )


# ---- to text


def date_format(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DateFormatClass."""
    _require_policy(e, node)
    value, pattern = e.emit(node["left"]), e.emit(node["right"])
    if value.type.kind == "precision_time":
        return e.call("spark:date_format", in_nanos(e, value), pattern)
    return e.call("spark:date_format", value, pattern, e.text(zone_of(node).name))


def from_unixtime(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """FromUnixTime: seconds to text; microseconds wrap around."""
    _require_policy(e, node)
    return e.call("spark:from_unixtime", e.emit(node["sec"]), e.emit(node["format"]), e.text(zone_of(node).name))


# ---- from text


def get_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetTimestamp: to_timestamp and to_date by a pattern; what doesn't fit raises in ANSI mode, else gives null."""
    _require_policy(e, node)
    value, pattern = e.emit(node["left"]), e.emit(node["right"])
    if node.type.name == "timestamp_ntz":
        return e.call(f"spark:{failing(node, 'to_timestamp_ntz')}", value, pattern)
    return e.call(f"spark:{failing(node, 'to_timestamp')}", value, pattern, e.text(zone_of(node).name))


def unix_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnixTimestamp, ToUnixTimestamp: seconds, rounded towards zero; a timestamp without a zone counts as UTC."""
    given = node["timeExp"] if node.cls.index.get("timeExp") is not None else node["left"]
    pattern = node["format"] if node.cls.index.get("format") is not None else node["right"]
    value = e.emit(given)
    if value.type.kind == "string":
        _require_policy(e, node)
        function = f"spark:{failing(node, 'unix_timestamp')}"
        return e.call(function, value, e.emit(pattern), e.text(zone_of(node).name))
    if value.type.kind == "date":
        value = tz.instant(e, value, zone_of(node))
    return e.call("spark:unix_timestamp", value)


# ---- from parts


def make_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MakeTimestamp: what is no time raises in ANSI mode, else gives null; a second of 60 is the next minute's 0."""
    parts = e.emit_all([node[name] for name in ("year", "month", "day", "hour", "min", "sec")])
    if node.type.name == "timestamp_ntz":
        return e.call(f"spark:{failing(node, 'make_timestamp_ntz')}", *parts)
    given = node.get("timezone")
    where = e.text(zone_of(node).name) if given is None else e.emit(given)
    return e.call(f"spark:{failing(node, 'make_timestamp')}", *parts, where)


# ---- months between


def months_between(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MonthsBetween."""
    end, start, rounded = e.emit_all([node["date1"], node["date2"], node["roundOff"]])
    return e.call("spark:months_between", end, start, rounded, e.text(zone_of(node).name))


SCALAR: dict[str, Plain | Rule] = {
    "DateFormatClass": date_format,
    "FromUnixTime": from_unixtime,
    "GetTimestamp": get_timestamp,
    "MakeTimestamp": make_timestamp,
    "MonthsBetween": months_between,
    "ToUnixTimestamp": unix_timestamp,
    "UnixTimestamp": unix_timestamp,
}
