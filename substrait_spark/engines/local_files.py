"""The files of a read on this machine: found, expanded, and checked to hold what Spark would read from them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..errors import InvalidPlanError
from .arrow.schema import Columns
from .file_access import Folders, allowed, local_path, regular
from .names import found


def paths(items: Sequence[Any], under: Folders = None) -> list[Path]:
    """The paths of a read's items. Raises InvalidPlanError where one is no regular file, or not under those folders."""
    return [regular(allowed(path, under)) for item in items for path in _paths(item, under)]


def _paths(item: Any, under: Folders) -> Iterator[Path]:
    kind = item.WhichOneof("path_type")
    if kind is None:
        raise InvalidPlanError("A file of the plan has no path.")
    path = local_path(getattr(item, kind))
    if kind == "uri_path_glob":
        yield from _matching(allowed(path.parent, under), path)
    elif kind == "uri_file" or not allowed(path, under).is_dir():
        yield path
    else:
        raise InvalidPlanError(f"{path} is no file; folders are read by a pattern for the files in them.")


def _matching(folder: Path, pattern: Path) -> Iterator[Path]:
    """The files of a folder whose names match the last part of a path."""
    try:
        matching = sorted(path for path in folder.iterdir() if fnmatch.fnmatchcase(path.name, pattern.name))
    except OSError:
        matching = []
    if not matching:
        raise InvalidPlanError(f"There is no file {pattern}.")
    yield from matching


# ---- what a file's columns must be


class Mismatch(Exception):
    """Why a column of a file is not what the plan says."""


def require_columns(path: Path, stored: pa.Schema, columns: Columns, agree: Agreement) -> None:
    """Refuse a file whose used columns Spark would read otherwise than the engine. Columns go by their names."""
    for field in columns.schema:
        if field.name not in columns.used:
            continue
        try:
            other = _named(field.name, stored)
            if other is not None:
                agree(field.type, other.type)
        except Mismatch as problem:
            raise InvalidPlanError(f"{path}: the column {field.name!r} {problem}.") from None


Agreement = Callable[[pa.DataType, pa.DataType], None]
"""Raises Mismatch unless a file's type, second, is read as the plan's type, first, by Spark and the engine alike."""


def _named(name: str, fields: Sequence[pa.Field]) -> pa.Field | None:
    """The field of a name; None where there is none, not even one whose name differs in case."""
    similar = [field for field in fields if field.name.lower() == name.lower()]
    if len(similar) > 1:
        raise Mismatch(f"is there several times: {', '.join(repr(field.name) for field in similar)}")
    if similar and similar[0].name != name:
        raise Mismatch(f"is called {similar[0].name!r} there; names must be the same in upper and lower case")
    return similar[0] if similar else None


WIDER = {
    pa.int8(): (pa.int16(), pa.int32(), pa.int64(), pa.float64()),
    pa.int16(): (pa.int32(), pa.int64(), pa.float64()),
    pa.int32(): (pa.int64(), pa.float64()),
    pa.uint8(): (pa.int16(),),
    pa.uint16(): (pa.int32(),),
    pa.uint32(): (pa.int64(),),
    pa.uint64(): (pa.decimal128(20, 0),),
    pa.float32(): (pa.float64(),),
    pa.string(): (pa.binary(),),
}
"""Types of files, and the types that both Spark and DataFusion read them as, without loss."""


COUNTED = {pa.duration("us"): pa.int64(), pa.month_day_nano_interval(): pa.int32()}
"""Intervals, and the numbers of microseconds and months that files hold in their place."""


def exactly(declared: pa.DataType, stored: pa.DataType) -> None:
    """The same type at all levels; struct fields go by their names, and files may lack some."""
    _agree(declared, stored, lambda _, __: False)


def widening(declared: pa.DataType, stored: pa.DataType) -> None:
    """The same type, or one that holds all values of the file's; files may lack fields of structs."""
    _agree(declared, stored, _widens)


def all_of_it(declared: pa.DataType, stored: pa.DataType) -> None:
    """The same type, or one that holds all values of the table's, which lacks nothing."""
    _agree(declared, stored, _widens, lacks=False)


def all_of_it_checked(declared: pa.DataType, stored: pa.DataType) -> None:
    """As `all_of_it`; or nanoseconds, of which a cast tells whether each is a whole microsecond."""
    _agree(declared, stored, lambda wanted, there: _widens(wanted, there) or _by_value(wanted, there), lacks=False)


def _by_value(declared: pa.DataType, stored: pa.DataType) -> bool:
    if not (pa.types.is_timestamp(declared) and pa.types.is_timestamp(stored)):
        return False
    return bool((declared.tz is None) == (stored.tz is None) and stored.unit in ("s", "ns"))


def _widens(declared: pa.DataType, stored: pa.DataType) -> bool:
    if pa.types.is_decimal(declared) and pa.types.is_decimal(stored):
        scale = declared.scale - stored.scale
        return bool(scale >= 0 and declared.precision - stored.precision >= scale)
    if pa.types.is_timestamp(declared) and pa.types.is_timestamp(stored):
        return bool((declared.tz is None) == (stored.tz is None) and stored.unit in ("ms", "us"))
    if pa.types.is_null(stored):
        return True
    if pa.types.is_time(declared):
        return bool(pa.types.is_time(stored))
    if declared in COUNTED:
        return bool(stored == COUNTED[declared])
    if pa.types.is_fixed_size_binary(stored):
        return bool(pa.types.is_binary(declared))
    return declared in WIDER.get(stored, ())


def _agree(
    declared: pa.DataType, stored: pa.DataType, widens: Callable[[pa.DataType, pa.DataType], bool], lacks: bool = True
) -> None:
    stack = [(declared, stored)]
    while stack:
        wanted, there = stack.pop()
        if wanted == there or widens(wanted, there):
            continue
        if pa.types.is_list(wanted) and pa.types.is_list(there):
            stack.append((wanted.value_type, there.value_type))
        elif pa.types.is_map(wanted) and pa.types.is_map(there):
            stack += [(wanted.key_type, there.key_type), (wanted.item_type, there.item_type)]
        elif pa.types.is_struct(wanted) and pa.types.is_struct(there):
            pairs = [(field.type, _named(field.name, list(there))) for field in wanted]
            known = [(type, other.type) for type, other in pairs if other is not None]
            if not known or (len(known) < len(pairs) and not lacks):
                raise Mismatch(
                    f"is a struct there without {'all' if known else 'any'} of the fields that the plan reads"
                )
            stack += known
        else:
            raise Mismatch(f"holds {there}, and the plan reads it as {wanted}")


# ---- Parquet


class Footer(NamedTuple):
    """What a Parquet file says of itself."""

    metadata: pq.FileMetaData
    schema: pa.Schema
    """The columns, as they are stored."""


def require_parquet(path: Path, columns: Columns) -> Footer:
    """The footer of a Parquet file. Refuses one that Spark would read otherwise than the engine does with these columns."""
    metadata, own_schema = _opened(path)
    int96 = _int96(metadata)
    stored = pa.schema([pa.field(field.name, stored_type(field.type, int96)) for field in own_schema])
    require_columns(path, stored, columns, widening)
    _require_calendar(path, metadata.metadata or {}, columns)
    return Footer(metadata, stored)


def named_in(path: Path, columns: Columns) -> Columns:
    """The columns, in the same order, under the names that they have in a Parquet file of a table.

    A name is found as it is, or else as that of the only column that differs in case.
    """
    there = _opened(path)[1].names
    names = {name: found(name, there, columns.schema.names) or name for name in columns.schema.names}
    if all(name == own for name, own in names.items()):
        return columns
    schema = pa.schema([field.with_name(names[field.name]) for field in columns.schema])
    used, required = ([names.get(name, name) for name in some] for some in (columns.used, columns.required))
    return replace(columns, schema=schema, used=frozenset(used), required=frozenset(required))


def _opened(path: Path) -> tuple[pq.FileMetaData, pa.Schema]:
    """The metadata of a Parquet file, and its schema as Arrow has it."""
    try:
        metadata = pq.read_metadata(path)
        return metadata, metadata.schema.to_arrow_schema()
    except (OSError, pa.ArrowException) as error:
        raise InvalidPlanError(f"{path} can't be read as Parquet: {error}") from error


def parquet_table(path: Path, columns: Columns) -> pa.Table:
    """The rows of a Parquet file that `require_parquet` takes; nulls where the plan uses none of a column's values."""
    used = pa.schema([field for field in columns.schema if field.name in columns.used])
    rows = pq.read_table(path, schema=used, partitioning=None, coerce_int96_timestamp_unit="us")
    return table_of(columns.schema, rows.num_rows, {name: rows[name] for name in used.names})


def _int96(metadata: pq.FileMetaData) -> Iterator[bool]:
    """Of each leaf of a file, whether it is an INT96."""
    return (metadata.schema.column(n).physical_type == "INT96" for n in range(metadata.num_columns))


STORED: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_large_binary, pa.binary()),
    (pa.types.is_binary_view, pa.binary()),
    (pa.types.is_duration, pa.int64()),
    (pa.types.is_date64, pa.date32()),
)
"""What Parquet stores Arrow types as that it has no form of its own for."""


NO_INT96 = repeat(False)


def stored_type(type: pa.DataType, int96: Iterator[bool] = NO_INT96) -> pa.DataType:
    """The type that is in the file itself, whatever Arrow type it was written from.

    `int96` tells of each leaf, depth-first, whether its times are in that form: Spark writes, and reads, it as points in time.
    """
    if isinstance(type, pa.BaseExtensionType):
        return stored_type(type.storage_type, int96)
    if pa.types.is_dictionary(type):
        return stored_type(type.value_type, int96)
    if pa.types.is_map(type):
        key = stored_type(type.key_type, int96)
        return pa.map_(key, stored_type(type.item_type, int96))
    if pa.types.is_struct(type):
        return pa.struct([pa.field(field.name, stored_type(field.type, int96)) for field in type])
    if pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type):
        return pa.list_(stored_type(type.value_type, int96))
    return _stored_leaf(type, next(int96))


def _stored_leaf(type: pa.DataType, int96: bool) -> pa.DataType:
    if pa.types.is_timestamp(type):
        return pa.timestamp("us", "UTC") if int96 and type.tz is None else type
    if pa.types.is_decimal(type):
        return pa.decimal128(type.precision, type.scale) if type.precision <= 38 else type
    return next((stored for is_it, stored in STORED if is_it(type)), type)


def _require_calendar(path: Path, metadata: dict[bytes, bytes], columns: Columns) -> None:
    """Refuse dates and times in the calendar of Spark before 3.0, which Spark converts as it reads."""
    version = re.match(rb"(\d+)\.", metadata.get(b"org.apache.spark.version", b""))
    old = version is not None and int(version[1]) < 3
    legacy = {b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"} & metadata.keys()
    if (old or legacy) and any(field.name in columns.used and _holds_time(field.type) for field in columns.schema):
        raise InvalidPlanError(f"{path}: its dates and times are in the calendar that Spark used before version 3.")


def _holds_time(type: pa.DataType) -> bool:
    if pa.types.is_nested(type):
        return any(_holds_time(type.field(n).type) for n in range(type.num_fields))
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type))


# ---- ORC

GREGORIAN = -141427
"""The first day of the Gregorian calendar, 1582-10-15, counted from 1970: ORC writes earlier ones as Julian dates."""


def orc_table(path: Path, columns: Columns) -> pa.Table:
    """The rows of an ORC file; nulls where the plan uses none of a column's values. Refuses what Spark would read otherwise."""
    from pyarrow import orc

    try:
        file = orc.ORCFile(path)
        stored = file.schema
    except (OSError, pa.ArrowException) as error:
        raise InvalidPlanError(f"{path} can't be read as ORC: {error}") from error
    used = [field for field in columns.schema if field.name in columns.used and field.name in stored.names]
    for field in used:
        if _holds_time(field.type) and not pa.types.is_date(field.type):
            raise InvalidPlanError(
                f"{path}: ORC's timestamps and nested dates, as in {field.name!r}, depend on how they were written."
            )
    if any(re.fullmatch(r"_col\d+", name) for name in stored.names):
        raise InvalidPlanError(f"{path}: its columns have no names, so that Spark reads them by position.")
    require_columns(path, stored, columns, exactly)
    rows = pa.table(file.read(columns=[field.name for field in used]))
    values = {name: rows[name].cast(columns.schema.field(name).type) for name in rows.column_names}
    for name, column in values.items():
        if pa.types.is_date(column.type) and (pc.min(column.cast(pa.int32())).as_py() or 0) < GREGORIAN:
            raise InvalidPlanError(f"{path}: {name!r} has dates before 1582-10-15, in the Julian calendar.")
    return table_of(columns.schema, file.nrows, values)


def table_of(schema: pa.Schema, rows: int, values: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """Columns by name, those without values null; a column of no meaning where there are none, to keep the rows."""
    if not schema.names:
        return pa.table({"rows": pa.nulls(rows)})
    arrays = [values[field.name] if field.name in values else pa.nulls(rows, field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


# ---- delimited text


def text_table(path: Path, options: Any, schema: pa.Schema) -> pa.Table:
    """The rows of a delimited text file, all of its columns strings. Refuses lines that could be read in two ways."""
    try:
        text = contents(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidPlanError(f"{path} is no UTF-8 text: {error}") from error
    if text.startswith("\ufeff"):
        raise InvalidPlanError(f"{path} starts with two byte-order marks, and Spark skips both.")
    lines = re.split(r"\r\n|\r|\n", text)
    if lines[-1] == "":
        lines.pop()
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            if not line.strip(BLANK):
                raise Mismatch("is empty, which Spark skips")
            if number > options.header_lines_to_skip:
                rows.append(_fields(line, options, len(schema)))
        except Mismatch as problem:
            raise InvalidPlanError(f"{path}: line {number} {problem}.") from None
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    null = options.value_treated_as_null
    arrays = [pa.array([None if v == null else v for v in column], pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, schema=schema)


TEXT = 2**30
"""How many bytes a file of text may have: it is read whole."""


def contents(path: Path) -> bytes:
    """As many bytes as a file says that it has: the system's own files say none, and may never end."""
    try:
        size = path.stat().st_size
        if size > TEXT:
            raise InvalidPlanError(f"{path} has {size:,} bytes of text, and at most {TEXT:,} are read here.")
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise InvalidPlanError(f"{path} can't be read: {error}.") from None


BLANK = "".join(map(chr, range(33)))
"""The characters that Java's trim takes off."""


def _fields(line: str, options: Any, count: int) -> list[str]:
    """The fields of a line: plain text, in which quotes are no others than letters, or text in quotes, those in it escaped."""
    if "\0" in line and not (options.quote and options.escape):
        raise Mismatch("has a NUL, which Spark takes for the quote or the escape that there is not")
    fields = line.split(options.field_delimiter)
    if options.quote and options.quote in line:
        fields = list(_quoted(line, options))
    if len(fields) != count:
        raise Mismatch(f"has {len(fields)} fields where {count} are read")
    return fields


def _quoted(line: str, options: Any) -> Iterator[str]:
    quote, escape, delimiter = options.quote, options.escape, options.field_delimiter
    position = 0
    escaped = False
    while True:
        if line.startswith(quote, position):
            start = position + 1
            parts, position = _in_quotes(line, start, quote, escape)
            field = "".join(parts)
            if not field and (options.value_treated_as_null or not escape):
                raise Mismatch("has an empty field in quotes, which readers take for null or not")
            _require_found_when_skipped(line[start:position], delimiter, escaped)
            escaped = escaped or line[position - 2] == escape
        else:
            end = line.find(delimiter, position)
            end = len(line) if end < 0 else end
            field, position = line[position:end], end
            if quote in field and _is_long(delimiter):  # Spark reads a last quote twice
                raise Mismatch("has a quote inside a field without quotes, and a separator of several characters")
        yield field
        if position == len(line):
            return
        if not line.startswith(delimiter, position):
            raise Mismatch("has text behind a field in quotes")
        position += len(delimiter)


def _require_found_when_skipped(text: str, delimiter: str, escaped: bool) -> None:
    """Refuse quotes that Spark finds the end of in another place where the query doesn't use the column.

    It takes a quote behind an escape for one that is escaped, even if the escape is, and looks for the next one.
    """
    if escaped and text.startswith(delimiter):
        raise Mismatch("has a separator at the start of quotes, behind quotes that end with an escape")
    if _is_long(delimiter) and delimiter in text:
        raise Mismatch("has a separator of several characters inside quotes")


def _is_long(delimiter: str) -> bool:
    """Whether a separator is several of Java's characters."""
    return len(delimiter.encode("utf-16-le")) > 2


def _in_quotes(line: str, position: int, quote: str, escape: str) -> tuple[list[str], int]:
    """The text up to the quote that ends the field, and where the field ends."""
    parts: list[str] = []
    while position < len(line):
        c = line[position]
        if c == escape and line[position + 1 : position + 2] in (quote, escape) and position + 1 < len(line):
            parts.append(line[position + 1])
            position += 2
        elif c == escape and escape != quote:
            raise Mismatch("has an escape before what needs none")
        elif c == quote and line[position + 1 : position + 2] != quote:
            return parts, position + 1
        elif c == quote:
            raise Mismatch("has a quote inside quotes that is not escaped")
        else:
            parts.append(c)
            position += 1
    raise Mismatch("ends inside quotes")
