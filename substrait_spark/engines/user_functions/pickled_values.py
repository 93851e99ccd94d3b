"""What becomes of values on the way between the JVM and a function of pickled rows, in both directions.

Spark pickles rows for such a function, and unpickles its results into Java objects, of which it takes those that fit the declared
type: `EvaluatePython.toJava` and `EvaluatePython.makeFromJava` in Spark's sources. Others become null.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...errors import InvalidPlanError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Convert = Callable[[Any], Any]

INTEGERS = {"byte": 8, "short": 16, "integer": 32, "long": 64}

ATOMIC = frozenset(
    ("boolean", *INTEGERS, "float", "double", "decimal", "string", "binary", "date", "timestamp", "timestamp_ntz")
)


class NotUnpickled(TypeError):
    """A value that Spark can't unpickle, or makes another text of each time."""


# ---- arguments


def values(array: pa.Array, kind: DataType, binary: type) -> list[Any]:
    """The values of an array as a function of pickled rows gets them; `binary` is what bytes are there."""
    as_stored = _internal(array, binary)
    return [kind.fromInternal(value) for value in as_stored] if kind.needConversion() else as_stored


def require_arguments(kind: DataType) -> None:
    """Refuse what arrives in another way than can be told here: maps come in the order of Java's hashes."""
    _require(kind, "arguments")


def require_result(kind: DataType) -> None:
    """Refuse a result type whose values come back in another order than they are returned in."""
    _require(kind, "results")


def _require(kind: DataType, what: str) -> None:
    name = kind.typeName()
    if name == "array":
        return _require(kind.elementType, what)  # type: ignore[attr-defined]
    if name == "struct":
        for field in kind.fields:  # type: ignore[attr-defined]
            _require(field.dataType, what)
        return None
    if name == "map":
        raise InvalidPlanError(
            f"Functions of pickled rows with {what} that are maps can't be run here: Spark has their entries in an order of its own. "
            "Use udf(…, useArrow=True)."
        )
    if name not in ATOMIC:
        raise InvalidPlanError(
            f"Functions of pickled rows with {what} of the type {kind.simpleString()} can't be run here."
        )
    return None


def _internal(array: pa.Array, binary: type) -> list[Any]:
    """The values in the form that Spark pickles: days, microseconds, tuples of fields."""
    kind = array.type
    if pa.types.is_struct(kind):
        rows = zip(*[_internal(array.field(n), binary) for n in range(kind.num_fields)], strict=True)
        return [row if known else None for row, known in zip(rows, array.is_valid().to_pylist(), strict=True)]
    if pa.types.is_list(kind):
        inner = _internal(array.values, binary)
        ends = array.offsets.to_pylist()
        known = array.is_valid().to_pylist()
        return [inner[start:end] if valid else None for start, end, valid in zip(ends, ends[1:], known, strict=False)]
    if pa.types.is_date(kind):
        return _listed(array.cast(pa.int32()))
    if pa.types.is_timestamp(kind):
        return _listed(array.cast(pa.int64()))
    if pa.types.is_binary(kind) and binary is not bytes:
        return [None if value is None else binary(value) for value in _listed(array)]
    return _listed(array)


def _listed(array: pa.Array) -> list[Any]:
    listed: list[Any] = array.to_pylist()
    return listed


# ---- results


def array_of(results: Sequence[Any], kind: DataType, arrow: pa.DataType) -> pa.Array:
    """The results of a function, of which `toInternal` was made where its type asks for that, as Spark takes them."""
    convert = converter(kind)
    return pa.array([None if value is None else convert(value) for value in results], arrow)


def converter(kind: DataType) -> Convert:
    """What Spark makes of an unpickled value for a type; None of what it does not take."""
    name = kind.typeName()
    if name in INTEGERS:
        return _integer(INTEGERS[name])
    if name in ("date", "timestamp", "timestamp_ntz"):
        return _integer(32 if name == "date" else 64, exact=name == "date")
    if name == "decimal":
        return _decimal(kind.precision, kind.scale)  # type: ignore[attr-defined]
    if name == "array":
        return _array(converter(kind.elementType))  # type: ignore[attr-defined]
    if name == "struct":
        return _struct([(f.name, converter(f.dataType)) for f in kind.fields])  # type: ignore[attr-defined]
    return CONVERTERS[name]


def _java(value: Any) -> Any:
    """The value, if Spark can unpickle it: an object of just these classes."""
    if type(value) not in UNPICKLED or getattr(value, "tzinfo", None) is not None:
        raise NotUnpickled(
            f"Spark can't unpickle a {type(value).__module__}.{type(value).__qualname__}: return plain values of Python"
        )
    return value


UNPICKLED = frozenset(
    (
        *(bool, int, float, str, bytes, bytearray, list, tuple, dict, set, decimal.Decimal, type(None)),
        *(dt.date, dt.datetime, dt.time, dt.timedelta),
    )
)


def _integer(bits: int, exact: bool = False) -> Convert:
    """An integer, cut to so many bits; one of more than 64 is none. With `exact`, one of more than 32 bits isn't either."""
    most = 32 if exact else 64

    def convert(value: Any) -> int | None:
        if type(_java(value)) is not int or not -(2 ** (most - 1)) <= value < 2 ** (most - 1):
            return None
        wrapped: int = (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        return wrapped

    return convert


def _decimal(precision: int, scale: int) -> Convert:
    unit = decimal.Decimal((0, (1,), -scale))
    context = decimal.Context(prec=400, rounding=decimal.ROUND_HALF_UP)

    def convert(value: Any) -> decimal.Decimal | None:
        if type(_java(value)) is not decimal.Decimal or not value.is_finite():
            return None
        rounded: decimal.Decimal = value.quantize(unit, context=context)
        if len(rounded.as_tuple().digits) > precision:
            raise ArithmeticError(f"{value} has more digits than decimal({precision},{scale}) holds")
        return rounded

    return convert


def _array(element: Convert) -> Convert:
    def convert(value: Any) -> list[Any] | None:
        if type(_java(value)) not in (list, tuple):
            return None
        return [None if each is None else element(each) for each in value]

    return convert


def _struct(fields: Sequence[tuple[str, Convert]]) -> Convert:
    def convert(value: Any) -> dict[str, Any] | None:
        # A Row, which is a tuple, has become a plain one.
        if not isinstance(value, tuple):
            _java(value)
            return None
        if len(value) != len(fields):
            raise ValueError(f"a struct of {len(fields)} fields was given {len(value)} values")
        parts = zip(fields, value, strict=True)
        return {name: None if each is None else make(each) for (name, make), each in parts}

    return convert


def _text(value: Any) -> str:
    """Java's text of a value."""
    kind = type(_java(value))
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is float:
        return java_double(value)
    if kind is decimal.Decimal and value.is_finite():
        return java_decimal(value)
    if kind is list:
        return "[" + ", ".join("null" if each is None else _text(each) for each in value) + "]"
    raise NotUnpickled(f"Java's text of a {kind.__name__} is no text of Python's: return str(value)")


def java_double(value: float) -> str:
    """A floating-point number as Java writes it."""
    if math.isnan(value):
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = format(decimal.Decimal(repr(value)), "f")
        return text if "." in text else f"{text}.0"
    sign, digits, exponent = decimal.Decimal(repr(value)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = len(digits) - 1 + int(exponent)
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"


def java_decimal(value: decimal.Decimal) -> str:
    """A decimal as Java writes it, which has the exponent by the same rule."""
    return str(value)


def _exactly(*kinds: type) -> Convert:
    return lambda value: value if type(_java(value)) in kinds else None


def _single(value: Any) -> float | None:
    return value if type(_java(value)) is float else None


def _bytes(value: Any) -> bytes | None:
    kind = type(_java(value))
    if kind is str:
        return str(value).encode()
    return bytes(value) if kind in (bytes, bytearray) else None


CONVERTERS: dict[str, Convert] = {
    "binary": _bytes,
    "boolean": _exactly(bool),
    "double": _exactly(float),
    "float": _single,
    "string": _text,
}
