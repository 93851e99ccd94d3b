"""The text of literals: `5::i64`, `'1994-01-01'::date`, `null::string?`."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

from substrait.algebra_pb2 import Expression

from ..algebra.trampoline import Steps, in_turn
from ..errors.quotation import quoted
from .any_text import any_text
from .declarations import Declarations
from .text import Text, joined, plain
from .type_text import TypeText
from .view import View

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - literals without a time zone are read in no zone
_DECIMAL_BYTES = 16
_UUID_BYTES = 16
_EXACT = Context(prec=60)


class LiteralText:
    """Shows a value, then its type where the value's form doesn't tell it."""

    def __init__(self, declarations: Declarations, types: TypeText) -> None:
        self._declarations = declarations
        self._types = types

    def of(self, message: Expression.Literal) -> Steps[Text]:
        """A literal's text."""
        view = View(message)
        kind = view.chosen("literal_type")
        mark = "?" if view.take("nullable") else ""
        variation = view.take("type_variation_reference")
        if variation is not None:
            mark += f"[{self._declarations.variation(variation)}]"
        if kind is None:
            return (f"empty_literal{mark}", view.untaken())
        value = view.take(kind)
        shown: Text
        if kind in _SCALARS:
            text, type = _SCALARS[kind](value)
            bare = type in ("string", "boolean") and not mark
            shown = text if bare else f"{text}::{_with_mark(type, mark)}"
        elif kind in _MESSAGES:
            shown = _of_message(kind, View(value), mark)
        else:
            shown = yield self._nested(kind, value, mark)
        return (shown, view.untaken())

    def _nested(self, kind: str, value: Any, mark: str) -> Steps[Text]:
        if kind == "null":
            return ("null::", (yield self._types.of(value)), mark)
        if kind in ("empty_list", "empty_map"):
            brackets = "[]" if kind == "empty_list" else "{}"
            return (f"{brackets}{mark}::", (yield self._types.kind(kind.removeprefix("empty_"), value)))
        view = View(value)
        if kind == "user_defined":
            shown: Text = yield self._user_defined(view, mark)
            return shown
        if kind == "map":
            items = yield in_turn(map(self._pair, view.take_all("key_values")))
        else:
            items = yield in_turn(map(self.of, view.take_all("fields" if kind == "struct" else "values")))
        opening, closing = ("[", "]") if kind == "list" else ("{", "}")
        return (opening, joined(", ", items), closing, f"::{kind}{mark}" if mark else "", view.untaken())

    def _pair(self, message: Any) -> Steps[Text]:
        view = View(message)
        key, value = view.take("key"), view.take("value")
        return (
            (yield self.of(key)) if key is not None else "",
            ": ",
            (yield self.of(value)) if value is not None else "",
            view.untaken(),
        )

    def struct(self, message: Expression.Literal.Struct) -> Steps[Text]:
        """The text of a row of literals."""
        return self._nested("struct", message, "")

    def _user_defined(self, view: View, mark: str) -> Steps[Text]:
        anchor = view.chosen("type_anchor_type")
        number = 0 if anchor is None else view.take(anchor)
        name = f"alias@{number}" if anchor == "type_alias_reference" else f"u!{self._declarations.type(number)}"
        parameters = yield in_turn(map(self._types.parameter, view.take_all("type_parameters")))
        kind = view.chosen("val")
        value: Text = "empty"
        if kind == "struct":
            value = yield self.struct(view.take("struct"))
        elif kind == "value":
            value = any_text(view.take("value"))
        shown = ("<", joined(", ", parameters), ">") if parameters else ""
        return (value, f"::{name}{mark}", shown, view.untaken())


def _with_mark(type: str, mark: str) -> str:
    """A type's name with a mark before its parameters."""
    name, bracket, parameters = type.partition("<")
    return f"{name}{mark}{bracket}{parameters}"


# ---- values that are scalars


def _date(days: int) -> tuple[str, str]:
    try:
        return quoted((date(1970, 1, 1) + timedelta(days)).isoformat()), "date"
    except OverflowError:
        return str(days), "date"


def _fp32(value: float) -> tuple[str, str]:
    """The shortest decimal that reads back as the same 32-bit number."""
    shortest = (f"{value:.{digits}g}" for digits in range(6, 10))
    same = (text for text in shortest if struct.pack("f", float(text)) == struct.pack("f", value))
    return repr(float(next(same, repr(value)))), "fp32"


def _uuid(value: bytes) -> tuple[str, str]:
    return (quoted(str(uuid.UUID(bytes=value))) if len(value) == _UUID_BYTES else _hexadecimal(value)), "uuid"


def _hexadecimal(value: bytes) -> str:
    return f"0x{value.hex()}"


_SCALARS: dict[str, Callable[[Any], tuple[str, str]]] = {
    "boolean": lambda value: (str(value).lower(), "boolean"),
    "i8": lambda value: (str(value), "i8"),
    "i16": lambda value: (str(value), "i16"),
    "i32": lambda value: (str(value), "i32"),
    "i64": lambda value: (str(value), "i64"),
    "fp32": _fp32,
    "fp64": lambda value: (repr(value), "fp64"),
    "string": lambda value: (quoted(value), "string"),
    "fixed_char": lambda value: (quoted(value), f"fixedchar<{len(value)}>"),
    "binary": lambda value: (_hexadecimal(value), "binary"),
    "fixed_binary": lambda value: (_hexadecimal(value), f"fixedbinary<{len(value)}>"),
    "date": _date,
    "uuid": _uuid,
}


# ---- values that are small messages


def _var_char(view: View) -> tuple[str, str]:
    return quoted(view.take("value") or ""), f"varchar<{view.take('length') or 0}>"


def _decimal(view: View) -> tuple[str, str]:
    data: bytes = view.take("value") or b""
    precision, scale = view.take("precision") or 0, view.take("scale") or 0
    type = f"decimal<{precision}, {scale}>"
    if len(data) != _DECIMAL_BYTES or not 0 <= scale <= 38:
        return _hexadecimal(data), type
    unscaled = int.from_bytes(data, "little", signed=True)
    return format(Decimal(unscaled).scaleb(-scale, _EXACT), "f"), type


def _precision_time(view: View) -> tuple[str, str]:
    return _moment(view, "precision_time", date_too=False)


def _precision_timestamp(view: View) -> tuple[str, str]:
    return _moment(view, "precision_timestamp", date_too=True)


def _precision_timestamp_tz(view: View) -> tuple[str, str]:
    text, type = _moment(view, "precision_timestamp_tz", date_too=True)
    return (f"{text[:-1]}Z'" if text.endswith("'") else text), type


def _moment(view: View, kind: str, *, date_too: bool) -> tuple[str, str]:
    """A time or timestamp to its last digit; the bare count where a calendar or a clock doesn't have it."""
    precision, value = view.take("precision") or 0, view.take("value") or 0
    type = f"{kind}<{precision}>"
    if not 0 <= precision <= 12:
        return str(value), type
    seconds, fraction = divmod(value, 10**precision)
    if not date_too and not 0 <= seconds < 86_400:
        return str(value), type
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return str(value), type
    text = str(moment) if date_too else str(moment.time())
    return quoted(text + (f".{fraction:0{precision}}" if precision else "")), type


def _interval_year(view: View) -> tuple[str, str]:
    return quoted(_months(view)), "interval_year"


def _months(view: View) -> str:
    years, months = view.take("years") or 0, view.take("months") or 0
    return f"{years}y {months}m"


def _interval_day(view: View) -> tuple[str, str]:
    text, precision = _seconds(view)
    return quoted(text), f"interval_day<{precision}>"


def _seconds(view: View) -> tuple[str, int]:
    """Days, seconds and parts of seconds, which needn't have the same sign, and the precision."""
    precision = view.take("precision") or 0
    text = f"{view.take('days') or 0}d {view.take('seconds') or 0}s"
    subseconds = view.take("subseconds")
    return text + (f" {subseconds}e-{precision}s" if subseconds else ""), precision


def _interval_compound(view: View) -> tuple[str, str]:
    months, days = view.take("interval_year_to_month"), view.take("interval_day_to_second")
    parts, precision = [], 0
    if months is not None:
        inner = View(months)
        parts.append(f"{_months(inner)}{plain(inner.untaken())}")
    if days is not None:
        inner = View(days)
        text, precision = _seconds(inner)
        parts.append(f"{text}{plain(inner.untaken())}")
    return quoted(" ".join(parts)), f"interval_compound<{precision}>"


_MESSAGES: dict[str, Callable[[View], tuple[str, str]]] = {
    "var_char": _var_char,
    "decimal": _decimal,
    "precision_time": _precision_time,
    "precision_timestamp": _precision_timestamp,
    "precision_timestamp_tz": _precision_timestamp_tz,
    "interval_year_to_month": _interval_year,
    "interval_day_to_second": _interval_day,
    "interval_compound": _interval_compound,
}


def _of_message(kind: str, view: View, mark: str) -> Text:
    text, type = _MESSAGES[kind](view)
    return (f"{text}::{_with_mark(type, mark)}", view.untaken())
