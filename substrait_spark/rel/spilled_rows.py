"""Local rows that are too many for a plan: Parquet files beside it, which it reads.

A file's name says what is in it, so the same rows give the same plan.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Context as Digits
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra.relation import File, LocalFiles, Relation
from ..algebra.types import I64
from ..catalyst import tree
from ..catalyst.tree import DataType
from ..errors import SubstraitSparkError, Unsupported, kind_of
from ..expr.literal import plain, require_value
from .builder import RelationBuilder
from .columns import Columns

if TYPE_CHECKING:
    import pyarrow as pa

NO_PYARROW = (
    "Local data are written into files by pyarrow, which is not here: pip install pyarrow, or leave out local_data."
)


def folder(path: str | Path) -> Path:
    """The folder that a caller gives for local data. Raises TypeError for what is no path."""
    if not isinstance(path, str | Path) or not str(path):
        raise TypeError(f"local_data must be the path of a folder, not {kind_of(path) if path != '' else 'empty'}")
    if importlib.util.find_spec("pyarrow") is None:
        raise SubstraitSparkError(NO_PYARROW)
    return Path(path).absolute()


def read(r: RelationBuilder, where: Path, node: tree.Plan, kept: Sequence[int], schema: Columns) -> Relation:
    """The read of a file with these columns of a leaf's rows, in a folder. The file is noted in the context, to be written."""
    attributes = [node["output"][n] for n in kept]
    forms = [_form(attribute.type) for attribute in attributes]
    rows = [
        [_value(row[n], attribute) for n, attribute in zip(kept, attributes, strict=True)]
        for row in node["data"].values
    ]
    names, types = distinct([attribute["name"] for attribute in attributes]), schema.types
    if not names:  # a file without columns would have no rows
        names, types, forms = ["row_number"], [I64], [_form(DataType("long"))]
        rows = [[position] for position in range(len(rows))]
    path = where / f"local-{_digest(attributes, names, rows)}.parquet"
    content = r.context.spilled_rows[path] = _parquet(names, forms, rows)
    in_order = [part for name, form in zip(names, forms, strict=True) for part in (name, *form.names)]
    relation = LocalFiles([File(path.as_uri(), len(content))], "parquet", in_order, types)
    return relation if kept else relation.select([])


def _value(value: Any, attribute: tree.Expression) -> Any:
    require_value(value, attribute.nullable)
    return plain(value, attribute.type)


class Form(NamedTuple):
    """How a column's values are written: the Arrow type, the names of the struct fields in it, depth-first, and the values."""

    type: pa.DataType
    names: tuple[str, ...]
    value: Callable[[Any], Any]
    """What pyarrow takes for a value that `plain` gives, and that isn't null."""


def _form(kind: DataType) -> Form:
    import pyarrow as pa

    if kind.name in ATOMIC:
        return Form(ATOMIC[kind.name](pa), (), _itself)
    if kind.name.startswith(("char(", "varchar(")):
        return Form(pa.string(), (), _itself)
    if kind.name == "decimal":
        precision, scale = kind.parameters
        return Form(pa.decimal128(precision, scale), (), lambda unscaled: Decimal(unscaled).scaleb(-scale, EXACT))
    if kind.name == "array":
        element = _form(kind.parameters[0])
        return Form(
            pa.list_(element.type), element.names, lambda values: [_written(element, value) for value in values]
        )
    if kind.name == "map":
        key, entry = _form(kind.parameters[0]), _form(kind.parameters[1])
        return Form(
            pa.map_(key.type, entry.type), (*key.names, *entry.names), lambda parts: _entries(key, entry, *parts)
        )
    if kind.name == "struct":
        return _struct([field.name for field in kind.parameters], [_form(field.type) for field in kind.parameters])
    raise Unsupported(
        f"a value of the type {kind} has no form in Parquet that engines agree on",
        "Raise inline_limit, so that the rows are written into the plan, or leave the column out.",
    )


ATOMIC: Mapping[str, Callable[[Any], Any]] = {
    "boolean": lambda pa: pa.bool_(),
    "byte": lambda pa: pa.int8(),
    "short": lambda pa: pa.int16(),
    "integer": lambda pa: pa.int32(),
    "long": lambda pa: pa.int64(),
    "float": lambda pa: pa.float32(),
    "double": lambda pa: pa.float64(),
    "string": lambda pa: pa.string(),
    "binary": lambda pa: pa.binary(),
    "date": lambda pa: pa.date32(),
    "timestamp": lambda pa: pa.timestamp("us", "UTC"),
    "timestamp_ntz": lambda pa: pa.timestamp("us"),
}
"""Arrow's types of Spark's."""

EXACT = Digits(prec=38)
"""Python computes with fewer digits than decimals have."""


def _itself(value: Any) -> Any:
    return value


def _written(form: Form, value: Any) -> Any:
    return None if value is None else form.value(value)


def _entries(key: Form, entry: Form, keys: Sequence[Any], values: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(_written(key, one), _written(entry, other)) for one, other in zip(keys, values, strict=True)]


def _struct(names: Sequence[str], forms: Sequence[Form]) -> Form:
    import pyarrow as pa

    shown = distinct(names)
    type = pa.struct([pa.field(name, form.type) for name, form in zip(shown, forms, strict=True)])
    inside = tuple([part for name, form in zip(shown, forms, strict=True) for part in (name, *form.names)])

    def fields(values: Sequence[Any]) -> dict[str, Any]:
        parts = zip(shown, forms, values, strict=True)
        return {name: _written(form, value) for name, form, value in parts}

    return Form(type, inside, fields)


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number where readers of files that don't tell upper from lower case would find several, or none."""
    by_lower_case: dict[str, str] = {}
    for name in names:
        candidate, number = name, 1
        while not candidate or candidate.lower() in by_lower_case:
            candidate, number = f"{name or 'column'}_{number}", number + 1
        by_lower_case[candidate.lower()] = candidate
    return list(by_lower_case.values())


def _digest(attributes: Sequence[tree.Expression], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """What tells these rows, in these columns, from others, whichever program writes the file."""
    digest = hashlib.sha256(ascii([names, [str(attribute.type) for attribute in attributes]]).encode())
    for row in rows:
        digest.update(ascii(row).encode())
    return digest.hexdigest()[:32]


CALENDAR = {"org.apache.spark.version": "3.0.0"}
"""Tells Spark that dates and times are in today's calendar, as it has written them since that version."""


def _parquet(names: Sequence[str], forms: Sequence[Form], rows: Sequence[Sequence[Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [pa.array([_written(form, row[n]) for row in rows], form.type) for n, form in enumerate(forms)]
    table = pa.Table.from_arrays(columns, names=list(names))
    buffer = pa.BufferOutputStream()
    # Without Arrow's own schema beside Parquet's: readers see the same types in both.
    with pq.ParquetWriter(buffer, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(CALENDAR)
    return bytes(buffer.getvalue())


def write(files: Mapping[Path, bytes]) -> None:
    """Write files, each at once: whoever looks for one finds all of it, or nothing."""
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, content)
        except OSError as error:
            raise SubstraitSparkError(f"The local data can't be written to {path}: {error.strerror}.") from error


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink()
