"""from_json: values of a type from JSON, as Spark's JacksonParser has them, of what is malformed as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache
from typing import Any

import pyarrow as pa

from ...datafusion.functions.structured_text import SWITCHES, by_lower_name
from ..function import Compute, PythonFunction, Signature
from .jackson import (
    Dialect,
    Float,
    MalformedJson,
    Object,
    Parser,
    as_double,
    current_value,
    quoted_as_bytes,
    strict_value,
    well_formed,
    written,
)
from .json_times import Times, is_time, time_reader


class Refused(ValueError):
    """A value that is none of the type that is asked for."""


class Partial(Exception):
    """A struct, a list or a map of which a part could not be read."""

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


# ---- values without parts

NON_NUMBERS = ("NaN", "+INF", "+Infinity", "Infinity", "-INF", "-Infinity")
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
EXACT = Context(prec=2000, rounding=ROUND_HALF_UP)
MOST_DIGITS = 38
INTEGERS = {
    pa.int8(): (-128, 255),
    **{kind: (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for kind, b in ((pa.int16(), 16), (pa.int32(), 32), (pa.int64(), 64))},
}
"""By type, the least and the greatest number that is read: Jackson takes bytes without a sign for bytes."""

Scalar = Callable[[Any], Any]
"""From a str, an int, a Float or a bool to a value of the type. Raises Refused."""


def scalar(kind: pa.DataType, times: Times) -> Scalar:
    """What reads values of a type without parts."""
    if pa.types.is_string(kind):
        return lambda value: well_formed(value) if type(value) is str else written(value, quoted_as_bytes)
    if kind in INTEGERS:
        return _integer(*INTEGERS[kind])
    if pa.types.is_boolean(kind):
        return _boolean
    if pa.types.is_decimal(kind):
        return _decimal(kind.precision, kind.scale)
    if is_time(kind):
        return _time(time_reader(kind, times))
    return _double if pa.types.is_float64(kind) else _float


def _time(of_value: Callable[[Any], int | None]) -> Scalar:
    def read(value: Any) -> int:
        found = of_value(value)
        if found is None:
            raise Refused
        return found

    return read


def _integer(least: int, greatest: int) -> Scalar:
    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= greatest:
            raise Refused
        return value - 256 if value > 127 and greatest == 255 else value

    return read


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refused
    return value


def _number(value: Any) -> str:
    """The text of a number, which may be a string that says it is none."""
    if type(value) is int or isinstance(value, Float) or (isinstance(value, str) and value in NON_NUMBERS):
        return str(value)
    raise Refused


def _double(value: Any) -> float:
    return as_double(_number(value))


def _float(value: Any) -> float:
    text = _number(value)
    found = pa.array([str(as_double(text)) if text in NON_NUMBERS else text]).cast(pa.float32())[0].as_py()
    return float(found)


def _decimal(precision: int, scale: int) -> Scalar:
    unit = Decimal(1).scaleb(-scale)

    def read(value: Any) -> Decimal:
        text = value.replace(",", "") if type(value) is str else _number(value)
        if not DECIMAL.fullmatch(text):
            raise Refused
        number = Decimal(text)
        if number and number.adjusted() >= MOST_DIGITS:
            raise Refused
        found = number.quantize(unit, context=EXACT) if number.adjusted() > -1000 else Decimal(0)
        if found and found.adjusted() + 1 + scale > precision:
            raise Refused
        return found

    return read


# ---- what is strict JSON, and has values of the type only


def of_tree(kind: pa.DataType, times: Times) -> Scalar:
    """What reads values of a type from what `strict_value` gives. Raises Refused."""
    if pa.types.is_struct(kind):
        readers = {field.name: of_tree(field.type, times) for field in kind}

        def struct(value: Any) -> dict[str, Any]:
            if not isinstance(value, Object):
                raise Refused
            return {name: None if part is None else readers[name](part) for name, part in value if name in readers}

        return struct
    if pa.types.is_map(kind):
        item = of_tree(kind.item_type, times)

        def entries(value: Any) -> list[tuple[str, Any]]:
            if not isinstance(value, Object):
                raise Refused
            return [(well_formed(name), None if part is None else item(part)) for name, part in value]

        return entries
    if pa.types.is_list(kind):
        element = of_tree(kind.value_type, times)

        def elements(value: Any) -> list[Any]:
            if type(value) is not list:
                raise Refused
            return [None if part is None else element(part) for part in value]

        return elements
    return scalar(kind, times)


# ---- token by token

Reader = Callable[[Parser], Any]


def reader(kind: pa.DataType, times: Times) -> Reader:
    """What reads a value of a type from the current token on. Raises Refused, Partial and MalformedJson."""
    if pa.types.is_struct(kind):
        return _of_token("{", _struct(kind, times))
    if pa.types.is_map(kind):
        return _of_token("{", _entries(kind, times))
    if pa.types.is_list(kind):
        return _of_token("[", _elements(kind, times))
    read = scalar(kind, times)
    if pa.types.is_string(kind):
        return _of_any_token(read)

    def of_scalar(parser: Parser) -> Any:
        if parser.token in ("{", "[", "}", "]") or (parser.token == "string" and not parser.text()):
            raise Refused
        return read(current_value(parser))

    return _unless_null(of_scalar)


def _unless_null(read: Reader) -> Reader:
    def of_value(parser: Parser) -> Any:
        while parser.token == "name":
            parser.next()
        return None if parser.token in (None, "null") else read(parser)

    return of_value


def _of_any_token(read: Scalar) -> Reader:
    return _unless_null(lambda parser: read(current_value(parser)))


def _of_token(token: str, read: Reader) -> Reader:
    def of_structure(parser: Parser) -> Any:
        if parser.token != token:
            raise Refused
        return read(parser)

    return _unless_null(of_structure)


def _until(parser: Parser, end: str) -> bool:
    return parser.next() not in (None, end)


def _struct(kind: pa.DataType, times: Times) -> Reader:
    readers = {field.name: reader(field.type, times) for field in kind}

    def read(parser: Parser) -> dict[str, Any]:
        row: dict[str, Any] = {}
        malformed = False
        while _until(parser, "}"):
            name = str(parser.name())
            if name not in readers:
                parser.skip_children()
                continue
            try:
                row[name] = readers[name](parser)
            except Partial as part:
                malformed, row[name] = True, part.result
            except (Refused, MalformedJson):
                malformed = True
                parser.skip_children()
        if malformed:
            raise Partial(row)
        return row

    return read


def _entries(kind: pa.DataType, times: Times) -> Reader:
    item = reader(kind.item_type, times)

    def read(parser: Parser) -> list[tuple[str, Any]]:
        found = []
        malformed = lacks = False
        while _until(parser, "}"):
            name = well_formed(str(parser.name()))
            try:
                found.append((name, item(parser)))
            except Partial as part:
                malformed = True
                found.append((name, part.result))
            except (Refused, MalformedJson):
                lacks = True
                parser.skip_children()
        if lacks:  # Spark makes no map of fewer values than keys, but has read on to the end
            raise Refused
        if malformed:
            raise Partial(found)
        return found

    return read


def _elements(kind: pa.DataType, times: Times) -> Reader:
    element = reader(kind.value_type, times)

    def read(parser: Parser) -> list[Any]:
        found = []
        malformed = False
        while _until(parser, "]"):
            try:
                found.append(element(parser))
            except Partial as part:
                malformed = True
                found.append(part.result)
        if malformed:
            raise Partial(found)
        return found

    return read


# ---- the function


MALFORMED = "columnnameofcorruptrecord"
"""The option with the name of the field for texts that are malformed."""


def _from_json(fails: bool) -> PythonFunction:
    def compute(signature: Signature) -> Compute:
        kind = signature.arrow_result

        @cache
        def of_options(zone: str, *pairs: str) -> Callable[[str], Any]:
            options = by_lower_name(pairs)
            times, malformed = Times(zone, options), options.get(MALFORMED, "_corrupt_record")
            read = _without(kind, malformed)
            by_tree, by_token = _root_of_tree(read, times), _root(read, times)
            return _of_texts(kind, _dialect(options), by_tree, by_token, None if fails else malformed)

        def of_row(text: str | None, _: str, zone: str, *pairs: str) -> Any:
            return None if text is None else of_options(zone, *pairs)(text)

        return lambda arrays, rows: pa.array(map(of_row, *[array.to_pylist() for array in arrays]), kind)

    return PythonFunction(compute)


def _dialect(options: Mapping[str, str]) -> Dialect:
    chosen = {SWITCHES[name]: value.lower() == "true" for name, value in options.items() if name in SWITCHES}
    return Dialect(**{"non_numeric_numbers": True, **chosen})


def _root_of_tree(kind: pa.DataType, times: Times) -> Scalar:
    read = of_tree(kind, times)
    if not _is_list_of_structs(kind):
        return read
    alone = of_tree(kind.value_type, times)
    return lambda value: [alone(value)] if isinstance(value, Object) else read(value)


def _root(kind: pa.DataType, times: Times) -> Reader:
    """What reads a whole text: an object stands for a list with just this one."""
    read = reader(kind, times)
    if not _is_list_of_structs(kind):
        return read
    alone = reader(kind.value_type, times)

    def of_text(parser: Parser) -> Any:
        if parser.token != "{":
            return read(parser)
        try:
            return [alone(parser)]
        except Partial as part:
            raise Partial([part.result]) from None

    return of_text


def _is_list_of_structs(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) and pa.types.is_struct(kind.value_type))


def _without(kind: pa.DataType, name: str) -> pa.DataType:
    """The type without a field, if it is a struct: nothing is read into the field for what is malformed."""
    return pa.struct([field for field in kind if field.name != name]) if pa.types.is_struct(kind) else kind


def _of_texts(
    kind: pa.DataType, dialect: Dialect, by_tree: Scalar, by_token: Reader, malformed: str | None
) -> Callable[[str], Any]:
    """What reads texts. One that is malformed is kept in the field of that name, if there is one; without a name it raises."""
    is_struct = pa.types.is_struct(kind)

    def read(text: str) -> Any:
        tree = strict_value(text, dialect)
        try:
            return by_tree(tree)
        except Refused:
            return of_tokens(text)

    def of_tokens(text: str) -> Any:
        parser = Parser(text, dialect)
        try:
            if parser.next() is None:
                return None
            found = by_token(parser)
            if found is None:
                raise Refused
        except (Partial, Refused, MalformedJson) as problem:
            if malformed is None:
                raise ValueError("[MALFORMED_RECORD_IN_PARSING] " + text) from None
            part = problem.result if isinstance(problem, Partial) else None
            return {**(part or {}), malformed: text} if is_struct else part
        return found

    return read


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_from_json": _from_json(fails=False),
    "spark_from_json_or_fail": _from_json(fails=True),
}
