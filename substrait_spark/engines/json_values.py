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
        found = json.loads(
            line, object_pairs_hook=_object, parse_int=Number, parse_float=Number, parse_constant=_constant
        )
    except (ValueError, RecursionError) as error:
        raise Doubtful(f"is no JSON that every reader takes ({error})") from None
    if not isinstance(found, dict):
        raise Doubtful("is no JSON object")
    return [_value(found.get(field.name), field.type, field.name, zone) for field in schema]


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Doubtful("has an object with a key twice")
    return found


def _constant(text: str) -> NoReturn:
    raise Doubtful(f"has {text}, which is no JSON")


def _value(found: Any, type: pa.DataType, name: str, zone: str) -> Any:
    if found is None:
        return None
    if pa.types.is_struct(type) and isinstance(found, dict):
        return {field.name: _value(found.get(field.name), field.type, name, zone) for field in type}
    if pa.types.is_list(type) and isinstance(found, list):
        return [_value(element, type.value_type, name, zone) for element in found]
    if pa.types.is_map(type) and type.key_type == pa.string() and isinstance(found, dict):
        return [(_text(key, type, zone), _value(value, type.item_type, name, zone)) for key, value in found.items()]
    reader = next((reader for is_it, reader in READERS if is_it(type)), None)
    value = None if reader is None else reader(found, type, zone)
    if value is None:
        raise Doubtful(f"has a value in {name!r} that Spark may not read as {type} like other readers")
    return value


def _text(found: Any, type: pa.DataType, zone: str) -> str | None:
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, Number):
        return str(found) if INTEGER.fullmatch(found) else None
    if not isinstance(found, str):
        return None
    try:
        found.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return found


INTEGER = re.compile("0|-?[1-9][0-9]*", re.ASCII)
"""Integers but -0, of which some readers make 0."""


def _integer(found: Any, type: pa.DataType, zone: str) -> int | None:
    if not isinstance(found, Number) or not INTEGER.fullmatch(found) or len(found) > 20:
        return None
    bits = type.bit_width - 1
    return int(found) if -(2**bits) <= int(found) < 2**bits else None


def _float(found: Any, type: pa.DataType, zone: str) -> float | None:
    if not isinstance(found, Number) or found == "-0" or len(found) > LONGEST:
        return None
    value = float(found)
    if type.bit_width == 64:
        return value
    # A number in the middle between two floats is rounded twice, or once.
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return None if bits & 0x1FFFFFFF == 0x10000000 or 0 < abs(value) < 2.0**-126 else value


LONGEST = 1000
"""How many digits a number may have: Spark's limit."""


def _decimal(found: Any, type: pa.DataType, zone: str) -> Decimal | None:
    if not isinstance(found, Number) or len(found) > LONGEST:
        return None
    try:
        number = Decimal(found)
        if number and number.adjusted() >= type.precision - type.scale:
            return None
        rounded = number.quantize(Decimal((0, (1,), -type.scale)), ROUND_HALF_UP, Context(prec=type.precision + 1))
    except ArithmeticError:  # an exponent that no decimal has
        return None
    return rounded if abs(rounded.scaleb(type.scale, Context(prec=76))) < 10**type.precision else None


def _boolean(found: Any, type: pa.DataType, zone: str) -> bool | None:
    return found if isinstance(found, bool) else None


def _binary(found: Any, type: pa.DataType, zone: str) -> bytes | None:
    if not isinstance(found, str) or isinstance(found, Number) or not BASE64.fullmatch(found):
        return None
    return base64.b64decode(found)


BASE64 = re.compile("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?")


def _date(found: Any, type: pa.DataType, zone: str) -> dt.date | None:
    if not isinstance(found, str) or not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", found):
        return None
    try:
        return dt.date.fromisoformat(found)
    except ValueError:
        return None


TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])?"
)
"""Times as Spark writes them."""

UNIVERSAL = ("UTC", "Z", "Etc/UTC", "GMT")


def _time(found: Any, type: pa.DataType, zone: str) -> dt.datetime | None:
    match = TIME.fullmatch(found) if isinstance(found, str) else None
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
