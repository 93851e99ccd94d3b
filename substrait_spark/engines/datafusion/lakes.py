"""Iceberg and Delta tables as Arrow tables, by the readers of the extra `lakes`: pyiceberg and deltalake."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from substrait.algebra_pb2 import ReadRel

from ...algebra import extension_messages
from ...errors import InvalidPlanError, exception_text
from ..arrow.schema import Columns, Condition
from ..file_access import Folders
from ..table_format import table_format

MISSING = "{table} takes the package {package}: pip install 'substrait-spark[lakes]'."

NANOSECONDS = (dt.datetime(1677, 9, 22, tzinfo=dt.timezone.utc), dt.datetime(2262, 4, 11, tzinfo=dt.timezone.utc))
"""What 64 bits of nanoseconds hold, which deltalake reads Parquet's old timestamps (INT96) into: others wrap around."""


def table(read: ReadRel, columns: Columns, under: Folders) -> tuple[pa.Table, str]:
    """The columns that a plan uses of the lake table that it names, and the table's name for messages.

    Raises InvalidPlanError where the readers don't take the table, or are not here.
    """
    if under is not None:
        raise InvalidPlanError(
            "The files of a lake's table are where its metadata say, which files_under can't confine."
        )
    if read.HasField("iceberg_table"):
        direct = read.iceberg_table.direct
        if direct.HasField("snapshot_timestamp"):
            raise InvalidPlanError("A snapshot by its time is not read: the plan must have its number.")
        snapshot = int(direct.snapshot_id) if direct.HasField("snapshot_id") else None
        shown = f"of {direct.metadata_uri}"
        return _iceberg(_opened(direct.metadata_uri), snapshot, columns, shown), shown
    delta = extension_messages.unpacked_table(read.extension_table.detail)
    if not isinstance(delta, extension_messages.DeltaTable):
        raise InvalidPlanError(
            f"Tables of the type {read.extension_table.detail.type_url or 'of nothing'} are not read."
        )
    shown = f"of {delta.location}"
    return _delta(delta.location, delta.version, columns, shown), shown


def is_table(source: object) -> bool:
    """Whether what is given for a table is one of pyiceberg or deltalake."""
    package = type(source).__module__.partition(".")[0]
    return package in ("pyiceberg", "deltalake") and hasattr(source, "scan" if package == "pyiceberg" else "version")


def given(source: Any, columns: Columns) -> pa.Table | None:
    """The columns that a plan uses of a lake table that is given by itself or by its path; None for what is none."""
    if isinstance(source, str | Path):
        text = str(source)
        if text.endswith(".metadata.json"):
            return _iceberg(_opened(text), None, columns, f"of {text}")
        if table_format(Path(text).absolute()) == "Delta" and (Path(text) / "_delta_log").exists():
            return _delta(text, None, columns, f"of {text}")
        return None
    if not is_table(source):
        return None
    if type(source).__module__.startswith("pyiceberg"):
        return _iceberg(source, None, columns, "of pyiceberg")
    return _delta_rows(source, columns, "of deltalake")


@contextmanager
def _reading(shown: str, package: str) -> Iterator[None]:
    """What a reader raises in the block, as an error of ours: they have many classes of them."""
    try:
        yield
    except InvalidPlanError:
        raise
    except ImportError as error:
        raise InvalidPlanError(MISSING.format(table=f"The table {shown}", package=package)) from error
    except Exception as error:
        raise InvalidPlanError(f"The table {shown} can't be read by {package}: {exception_text(error)}") from error


def _used(columns: Columns) -> list[str]:
    """The columns to read: those that the plan uses, or one for the number of rows."""
    return [name for name in columns.schema.names if name in columns.used] or list(columns.schema.names[:1])


# ---- Iceberg


def _opened(metadata: str) -> Any:
    with _reading(f"of {metadata}", "pyiceberg"):
        from pyiceberg.table import StaticTable

        return StaticTable.from_metadata(metadata)


def _iceberg(table: Any, snapshot: int | None, columns: Columns, shown: str) -> pa.Table:
    names = _used(columns)
    for field in columns.schema:
        if field.name in columns.used and _holds(field.type, _loses_nulls):
            raise InvalidPlanError(
                f"The table {shown}: the column {field.name!r} has maps or lists of structs, and pyiceberg makes empty ones of those "
                "that are null. Give its rows as an Arrow table, or run the plan in Spark."
            )
    with _reading(shown, "pyiceberg"):
        scan = table.scan(snapshot_id=snapshot, selected_fields=tuple(names))
        present = {field.name for field in scan.projection().fields}
        if missing := [name for name in names if name not in present]:
            raise InvalidPlanError(f"The table {shown} has no column {missing[0]!r}.")
        return _rows(table, scan, snapshot, columns)


def _rows(table: Any, scan: Any, snapshot: int | None, columns: Columns) -> pa.Table:
    """The rows of a scan but for those of files that have none that the plan's filters keep.

    pyiceberg compares bounds of files and partitions alone, by the columns of today; rows it would compare as pyarrow does.
    """
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    is_current = snapshot is None or scan.snapshot().schema_id == table.metadata.current_schema_id
    wanted = _predicates(table, columns.conditions()) if is_current else []
    if not wanted:
        return scan.to_arrow()
    kept = {task.file.file_path for task in reduce(type(scan).filter, wanted, scan).plan_files()}
    tasks = [task for task in scan.plan_files() if task.file.file_path in kept]
    return ArrowScan(table.metadata, scan.io, scan.projection(), AlwaysTrue()).to_table(tasks)


COMPARED = ("int", "long", "string", "date")
"""Iceberg's types of columns by which files are left out."""

EARLIEST = dt.date(1971, 1, 1)
"""From here on, no value is in the partition of an older one: older writers counted months and years before 1970 one too many."""


def _predicates(table: Any, conditions: Sequence[Condition]) -> list[Any]:
    """pyiceberg's expressions of those conditions that its bounds of files and partitions tell about."""
    from pyiceberg import expressions

    made = {
        "<": expressions.LessThan,
        "<=": expressions.LessThanOrEqual,
        ">": expressions.GreaterThan,
        ">=": expressions.GreaterThanOrEqual,
    }
    fields = {field.name: field for field in table.schema().fields}
    found = []
    for column, comparison, values in conditions:
        field = fields.get(column)
        # A name with a point is a field's, too; a default value is in no file's bounds.
        if field is None or "." in column or field.initial_default is not None or str(field.field_type) not in COMPARED:
            continue
        if any(isinstance(value, dt.date) and value < EARLIEST for value in values):
            continue
        found.append(expressions.In(column, set(values)) if comparison == "=" else made[comparison](column, values[0]))
    return found


def _loses_nulls(kind: pa.DataType) -> bool:
    """Whether pyiceberg builds values of a type anew, without telling which are null (ArrowProjectionVisitor, 0.12)."""
    return bool(pa.types.is_map(kind) or (pa.types.is_list(kind) and pa.types.is_nested(kind.value_type)))


# ---- Delta


def _delta(location: str, version: int | None, columns: Columns, shown: str) -> pa.Table:
    with _reading(shown, "deltalake"):
        from deltalake import DeltaTable

        table = DeltaTable(_local(location), version=version)
    return _delta_rows(table, columns, shown)


def _delta_rows(table: Any, columns: Columns, shown: str) -> pa.Table:
    with _reading(shown, "deltalake"):
        from deltalake import QueryBuilder

        _require_times(table, columns, shown)
        selected = ", ".join(map(_quoted, _used(columns)))
        where = _where(table, columns.conditions())
        # DataFusion itself fails to plan the scan of a table with deletion vectors (EnsureCooperative).
        reader = QueryBuilder().register("t", table).execute(f"SELECT {selected} FROM t{where}")  # noqa: S608 - all in quotes
        return pa.table(reader.read_all())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _where(table: Any, conditions: Sequence[Condition]) -> str:
    """The conditions that deltalake leaves files out by, of tables whose files hold nothing but their rows.

    Texts are compared of partitions alone, since of others the log has only how they begin.
    """
    if table.protocol().min_reader_version > 1:
        return ""
    types = {field.name: str(getattr(field.type, "type", "")) for field in table.schema().fields}
    parts = table.metadata().partition_columns
    found = [
        f"{_quoted(column)} {comparison} {_literal(values[0])}"
        if comparison != "="
        else f"{_quoted(column)} IN ({', '.join(map(_literal, values))})"
        for column, comparison, values in conditions
        if types.get(column) in WHOLE or (types.get(column) == "string" and column in parts)
    ]
    return f" WHERE {' AND '.join(found)}" if found else ""


def _literal(value: Any) -> str:
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


WHOLE = ("byte", "short", "integer", "long", "date")
"""Delta's types of columns whose bounds its log has in full."""


def _local(location: str) -> str:
    """The path of a folder of this machine, which deltalake takes for one; other URIs as they are."""
    parsed = urlsplit(location)
    return unquote(parsed.path) if parsed.scheme == "file" else location


def _require_times(table: Any, columns: Columns, shown: str) -> None:
    """Refuse points in time that deltalake would get wrong: those in Parquet's old form beyond nanoseconds."""
    concerned = [
        field.name for field in columns.schema if field.name in columns.used and _holds(field.type, _is_point_in_time)
    ]
    if not concerned:
        return
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    for uri, file in zip(table.file_uris(), files, strict=True):
        for name in concerned:
            if not _is_known(file, name) and _has_int96(uri):
                raise InvalidPlanError(
                    f"The table {shown}: the column {name!r} has times in Parquet's old form (INT96), of which deltalake reads those "
                    "of 1678 to 2261 alone, and Delta's log doesn't tell which they are. Give its rows as an Arrow table."
                )


def _is_known(file: dict[str, Any], name: str) -> bool:
    """Whether Delta's log tells that the times of a file's column are such that nanoseconds hold them."""
    if file.get(f"null_count.{name}") is not None and file.get(f"null_count.{name}") == file.get("num_records"):
        return True
    least, greatest = file.get(f"min.{name}"), file.get(f"max.{name}")
    if not isinstance(least, dt.datetime) or not isinstance(greatest, dt.datetime):
        return False
    return NANOSECONDS[0] < _in_utc(least) and _in_utc(greatest) < NANOSECONDS[1]


def _in_utc(time: dt.datetime) -> dt.datetime:
    return time.replace(tzinfo=dt.timezone.utc) if time.tzinfo is None else time


def _has_int96(uri: str) -> bool:
    """Whether a file has times in the old form, or may have them: those of other machines are not looked into."""
    path = Path(_local(uri))
    if not path.exists():
        return True
    schema = pq.ParquetFile(path).schema
    return any(schema.column(n).physical_type == "INT96" for n in range(len(schema)))


def _is_point_in_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) and kind.tz is not None)


def _holds(kind: pa.DataType, wanted: Callable[[pa.DataType], bool]) -> bool:
    """Whether a type, or one inside of it, is a wanted one."""
    if wanted(kind):
        return True
    return pa.types.is_nested(kind) and any(_holds(kind.field(n).type, wanted) for n in range(kind.num_fields))
