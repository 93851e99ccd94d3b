"""Binding the reads of a plan to tables in memory: all that Acero reads from a plan by itself are tables of a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from ...algebra import types
from ...algebra.expression import Cast, Expression, Literal
from ...algebra.message_walk import messages_of
from ...algebra.relation import NamedTable, Relation, VirtualTable
from ...algebra.traversal import transformed
from ...errors import InvalidPlanError, kind_of
from ...plan.message import build
from ...reading.plan import ReadPlan, read_plan
from .. import local_files
from ..arrow.inputs import in_columns, in_memory, is_arrow, used_of
from ..arrow.schema import Columns, columns_of
from ..arrow.values import array
from ..file_access import Folders, regular
from ..file_rows import file_rows
from ..names import found, table_name
from ..table_format import table_format
from .stages import never_without_columns

Tables = Mapping[str, Any]

ALLOWED = (
    "a pyarrow.Table, the path of a Parquet file or of a folder of such, what hands over Arrow's stream or array (`__arrow_c_stream__`, `__arrow_c_array__`), "
    "as frames of polars and pandas do, or a pyarrow.dataset.Dataset"
)


def require_tables(tables: Tables) -> None:
    """Raises TypeError where something is given for a table that no rows can be had of."""
    for name, source in tables.items():
        if not (isinstance(source, str | Path | pads.Dataset) or is_arrow(source)):
            raise TypeError(f"The table {name!r} must be {ALLOWED}, not {kind_of(source)}.")


def bound(
    read: ReadPlan, tables: Tables, under: Folders, form: Callable[[Relation], Relation] = never_without_columns
) -> tuple[Relation, dict[str, pa.Table]]:
    """The plan's relation with a table of a name of its own in the place of each read, and these tables.

    `form` is what else an engine needs of it.
    """
    rows: dict[str, pa.Table] = {}
    if read.root is None or read.problems:
        raise InvalidPlanError(
            f"The plan can't be read: {read.problems[0].reason if read.problems else 'it has no root'}."
        )

    def without_rows(relation: Relation) -> Relation:
        if not isinstance(relation, VirtualTable):
            return relation
        name = f"rows {len(rows)}"
        if not relation.schema:
            rows[name] = pa.table({"row": pa.nulls(len(relation.rows), pa.bool_())})
            return NamedTable([name], ["row"], [types.nullable(types.BOOLEAN)]).select([])
        rows[name] = _written(relation)
        return NamedTable([name], relation.names, relation.schema).emitting_as(relation)

    plan = build(form(transformed(read.root, without_rows)), read.names)
    for message in list(_reads(plan)):
        if message.named_table.names[:1] and message.named_table.names[0] in rows:
            continue
        name = f"table {len(rows)}"
        rows[name] = _rows(message, tables, under)
        message.ClearField("local_files")
        del message.named_table.names[:]
        message.named_table.names.append(name)
    root = read_plan(plan).root
    assert root is not None  # noqa: S101 - it was read before
    return root, rows


def _reads(plan: Plan) -> Iterator[ReadRel]:
    return messages_of(plan, ReadRel)


def _written(read: VirtualTable) -> pa.Table:
    """The rows that a plan has in it."""
    columns = [[_value(row[n]) for row in read.rows] for n in range(len(read.schema))]
    arrays = [array(column, kind) for column, kind in zip(columns, read.schema, strict=True)]
    return pa.Table.from_arrays(arrays, names=types.column_names(read.schema, read.names))


def _value(cell: Expression) -> Any:
    if isinstance(cell, Cast) and cell.type.kind.startswith(
        "precision"
    ):  # of its microseconds, as Acero takes literals of it
        cell = cell.input
    if not isinstance(cell, Literal):
        raise InvalidPlanError("A row in the plan has a value that is no literal.")
    return cell.value


def _rows(read: ReadRel, tables: Tables, under: Folders) -> pa.Table:
    kind, columns = read.WhichOneof("read_type"), columns_of(read)
    if kind == "local_files":
        return _of_files(read, columns, under)
    if kind != "named_table":
        raise InvalidPlanError(f"Acero has no reads of the kind {kind}.")
    parts = list(read.named_table.names)
    name = table_name(parts, tables)
    if name is None:
        raise InvalidPlanError(
            f"There is no table {'.'.join(parts)!r}: give its rows or the path of its files as tables={{{parts[-1]!r}: …}}."
        )
    return _of_source(tables[name], columns, name)


def _of_source(source: Any, columns: Columns, shown: str) -> pa.Table:
    if isinstance(source, str | Path):
        return _parquet(Path(source), columns)
    if isinstance(source, pads.Dataset):
        names = [found(field.name, source.schema.names, columns.schema.names) for field in used_of(columns)]
        source = source.to_table([name for name in names if name is not None])
    return in_columns(in_memory(source), columns, shown)


def _of_files(read: ReadRel, columns: Columns, under: Folders) -> pa.Table:
    items = list(read.local_files.items)
    return file_rows(items, local_files.paths(items, under), columns)


def _parquet(path: Path, columns: Columns) -> pa.Table:
    """The rows of a table's file, or of the files of its folder, which lack none of the columns that the plan uses."""
    tables = []
    for file in _files(path):
        named = local_files.named_in(regular(file), columns)
        missing = named.used.difference(local_files.require_parquet(file, named).schema.names)
        if missing:
            raise InvalidPlanError(f"{file} lacks the column {min(missing)!r}.")
        tables.append(local_files.parquet_table(file, named).rename_columns(columns.schema.names or ["rows"]))
    return pa.concat_tables(tables) if tables else columns.schema.empty_table()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if (format := table_format(path.absolute())) is not None:
        raise InvalidPlanError(f"{path} is a table of {format}: give its rows as an Arrow table.")
    found = [file for file in sorted(path.rglob("*")) if file.is_file()]
    own = [file for file in found if not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)]
    if any("=" in part for file in own for part in file.relative_to(path).parent.parts):
        raise InvalidPlanError(
            f"{path} has values of columns in the names of its folders: give a pyarrow.dataset.Dataset."
        )
    return own
