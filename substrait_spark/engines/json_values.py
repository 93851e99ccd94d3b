"""Rows of JSON text as Spark reads them; what it may read otherwise is doubtful, and refused.

Spark takes more than JSON, makes null of what does not fit a column's type, and of some values a text of its own.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import re
import struct
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, NoReturn

import pyarrow as pa


class Doubtful(Exception):
    """Why a line isn't read, as the end of a sentence that it begins."""


BLANK = " \t\r\n"
"""What JSON allows between its values."""


class Number(str):
    """A number as it is written, with a point or an exponent or without."""

    __slots__ = ()


def row(line: str, schema: pa.Schema, zone: str) -> list[Any]:
    """The values of a line's object in the columns of a schema; null where it has none."""
    try:
        parsed = json.loads(
            line, object_pairs_hook=_object, parse_int=Number, parse_float=Number, parse_constant=_constant
        )
    except (ValueError, RecursionError) as error:
        raise Doubtful(f"is no JSON that every reader takes ({error})") from None
    if not isinstance(parsed, dict):
        raise Doubtful("is no JSON object")
    return [_value(parsed.get(field.name), field.type, field.name, zone) for field in schema]


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise Doubtful("has an object with a key twice")
    return by_key


def _constant(text: str) -> NoReturn:
    raise Doubtful(f"has {text}, which is no JSON")


def _value(parsed: Any, type: pa.DataType, name: str, zone: str) -> Any:
    if parsed is None:
        return None
    if pa.types.is_struct(type) and isinstance(parsed, dict):
        return {field.name: _value(parsed.get(field.name), field.type, name, zone) for field in type}
    if pa.types.is_list(type) and isinstance(parsed, list):
        return [_value(element, type.value_type, name, zone) for element in parsed]
    if pa.types.is_map(type) and type.key_type == pa.string() and isinstance(parsed, dict):
        return [(_text(key, type, zone), _value(value, type.item_type, name, zone)) for key, value in parsed.items()]
    reader = next((reader for is_it, reader in READERS if is_it(type)), None)
    value = None if reader is None else reader(parsed, type, zone)
    if value is None:
        raise Doubtful(f"has a value in {name!r} that Spark may not read as {type} like other readers")
    return value


def _text(parsed: Any, type: pa.DataType, zone: str) -> str | None:
    if isinstance(parsed, bool):
        return str(parsed).lower()
    if isinstance(parsed, Number):
        return str(parsed) if INTEGER.fullmatch(parsed) else None
    if not isinstance(parsed, str):
        return None
    try:
        parsed.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return parsed


INTEGER = re.compile("0|-?[1-9][0-9]*", re.ASCII)
"""Integers but -0, of which some readers make 0."""


def _integer(parsed: Any, type: pa.DataType, zone: str) -> int | None:
    if not isinstance(parsed, Number) or not INTEGER.fullmatch(parsed) or len(parsed) > 20:
        return None
    bits = type.bit_width - 1
    return int(parsed) if -(2**bits) <= int(parsed) < 2**bits else None


def _float(parsed: Any, type: pa.DataType, zone: str) -> float | None:
    if not isinstance(parsed, Number) or parsed == "-0" or len(parsed) > LONGEST:
        return None
    value = float(parsed)
    if type.bit_width == 64:
        return value
    # A number in the middle between two floats is rounded twice, or once.
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return None if bits & 0x1FFFFFFF == 0x10000000 or 0 < abs(value) < 2.0**-126 else value


LONGEST = 1000
"""How many digits a number may have: Spark's limit."""


def _decimal(parsed: Any, type: pa.DataType, zone: str) -> Decimal | None:
    if not isinstance(parsed, Number) or len(parsed) > LONGEST:
        return None
    try:
        number = Decimal(parsed)
        if number and number.adjusted() >= type.precision - type.scale:
            return None
        rounded = number.quantize(Decimal((0, (1,), -type.scale)), ROUND_HALF_UP, Context(prec=type.precision + 1))
    except ArithmeticError:  # an exponent that no decimal has
        return None
    return rounded if abs(rounded.scaleb(type.scale, Context(prec=76))) < 10**type.precision else None


def _boolean(parsed: Any, type: pa.DataType, zone: str) -> bool | None:
    return parsed if isinstance(parsed, bool) else None


def _binary(parsed: Any, type: pa.DataType, zone: str) -> bytes | None:
    if not isinstance(parsed, str) or isinstance(parsed, Number) or not BASE64.fullmatch(parsed):
        return None
    return base64.b64decode(parsed)


BASE64 = re.compile("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?")


def _date(parsed: Any, type: pa.DataType, zone: str) -> dt.date | None:
    if not isinstance(parsed, str) or not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", parsed):
        return None
    try:
        return dt.date.fromisoformat(parsed)
    except ValueError:
        return None


TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])?"
)
"""Times as Spark writes them."""

UNIVERSAL = ("UTC", "Z", "Etc/UTC", "GMT")


def _time(parsed: Any, type: pa.DataType, zone: str) -> dt.datetime | None:
    match = TIME.fullmatch(parsed) if isinstance(parsed, str) else None
    if match is None or (type.tz is None and match[3]) or (type.tz and not match[3] and zone not in UNIVERSAL):
        return None
    fraction = (match[2] or ".").ljust(7, "0")
    offset = "" if type.tz is None else "+00:00" if match[3] in (None, "Z") else match[3]
    try:
        return dt.datetime.fromisoformat(match[1] + fraction + offset)
    except (ValueError, OverflowError):
        return None


READERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any, pa.DataType, str], Any]], ...] = (
    (pa.types.is_string, _text),
    (pa.types.is_integer, _integer),
    (pa.types.is_floating, _float),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_binary, _binary),
    (pa.types.is_date, _date),
    (pa.types.is_timestamp, _time),
)
"""What makes a value of a type of what JSON holds; None where that is doubtful."""
