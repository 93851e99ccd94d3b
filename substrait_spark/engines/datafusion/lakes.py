"""Iceberg and Delta tables as Arrow tables, by the readers of the extra `lakes`: pyiceberg and deltalake."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from substrait.algebra_pb2 import ReadRel

from ...algebra.extension_messages import unpacked_table
from ...errors import InvalidPlanError, exception_text
from ..arrow_schema import Columns
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
    delta = unpacked_table(read.extension_table.detail)
    if delta is None:
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
        return scan.to_arrow()


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
        selected = ", ".join('"' + name.replace('"', '""') + '"' for name in _used(columns))
        # DataFusion itself fails to plan the scan of a table with deletion vectors (EnsureCooperative).
        reader = QueryBuilder().register("t", table).execute(f"SELECT {selected} FROM t")  # noqa: S608 - names in quotes
        return pa.table(reader.read_all())


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
