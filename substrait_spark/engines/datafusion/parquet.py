"""Parquet files as DataFusion's frames: files, and tables in folders whose names hold the values of columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as pads
from datafusion import DataFrame, Expr, SessionContext, col, lit

from ...errors import InvalidPlanError
from .. import local_files
from ..arrow.inputs import used_of
from ..arrow.schema import Columns
from ..names import found
from ..table_format import table_format
from .parquet_statistics import mislead
from .unfiltered import unfiltered

PARQUET = pads.ParquetFileFormat(coerce_int96_timestamp_unit="us")
"""Parquet as datasets of pyarrow read it: Spark writes timestamps of any year, and nanoseconds would end in 2262."""


@dataclass(frozen=True)
class ParquetReader:
    """Reads Parquet files in a context, their texts as a type of Arrow's."""

    ctx: SessionContext
    text: pa.DataType

    def table(self, path: Path, columns: Columns) -> list[DataFrame]:
        """A table's file, or its folder, whose folders may hold the values of columns in their names.

        Files lack none of the columns that the plan uses: only Spark's catalog knows what stands for them in such files.
        """
        if not path.exists():
            raise InvalidPlanError(f"There is no file {path}.")
        if (format := table_format(path.absolute())) is not None:
            raise InvalidPlanError(
                f"{path} belongs to a table of {format}, and some of its files may hold rows that were deleted or replaced: give "
                f"the table's rows, as a package that reads {format} has them as an Arrow table."
            )
        if path.is_file():
            return self._of_table([path], columns)
        folders: dict[tuple[tuple[str, str], ...], list[Path]] = {}
        for file in sorted(path.rglob("*")):
            inside = file.relative_to(path).parts
            if file.is_file() and not any(part.startswith((".", "_")) and "=" not in part for part in inside):
                keys = tuple(tuple(part.split("=", 1)) for part in inside[:-1] if "=" in part)
                folders.setdefault(keys, []).append(file)  # type: ignore[arg-type]
        if not folders:
            return [self.ctx.read_batches([pa.RecordBatch.from_pylist([], self._as_stored(columns))])]
        return [frame for keys, paths in folders.items() for frame in self._partition(paths, dict(keys), columns)]

    def _of_table(self, paths: list[Path], columns: Columns) -> list[DataFrame]:
        """Files of a table, whose columns may have other names than the plan's as far as case goes."""
        by_names: dict[tuple[str, ...], tuple[Columns, list[Path]]] = {}
        for path in paths:
            named = local_files.named_in(path, columns)
            by_names.setdefault(tuple(named.schema.names), (named, []))[1].append(path)
        frames = []
        for names, (named, some) in by_names.items():
            as_wanted = [column_named(own).alias(name) for own, name in zip(names, columns.schema.names, strict=True)]
            some_frames = self.files(some, named, lacks=False)
            frames += some_frames if named is columns else [frame.select(*as_wanted) for frame in some_frames]
        return frames

    def _partition(self, paths: list[Path], keys: Mapping[str, str], columns: Columns) -> list[DataFrame]:
        """Files with the values in the names of their folders as columns."""
        values = {unquote(name): unquote(value) for name, value in keys.items()}
        names = {field.name: found(field.name, values, columns.schema.names) for field in columns.schema}
        constants = {
            field.name: lit(_partition_value(values[key], field)).alias(field.name)
            for field in columns.schema
            if (key := names[field.name]) is not None
        }
        selected = [constants.get(name, column_named(name)) for name in columns.schema.names]
        frames = self._of_table(paths, columns.without(constants))
        return [frame.select(*selected) if constants else frame for frame in frames]

    def files(self, paths: list[Path], columns: Columns, lacks: bool = True) -> list[DataFrame]:
        """Parquet files: one scan of a folder where the files are all that it holds, else one for each.

        Where a file `lacks` a column, its values are null, or it is refused.
        """
        schema = columns.schema
        misled = False
        for path in paths:
            footer = local_files.require_parquet(path, columns)
            missing = columns.used.intersection(schema.names).difference(footer.schema.names)
            if missing and not lacks:
                raise InvalidPlanError(
                    f"{path} lacks the column {min(missing)!r}, and only Spark's catalog knows its values. Give an Arrow table."
                )
            misled = misled or mislead(footer.metadata, columns)
        if misled:
            return [self._by_pyarrow(paths, columns)]
        parents = {path.parent for path in paths}
        (suffix, *others) = {path.suffix for path in paths}
        if len(set(paths)) == len(paths) > 1 and len(parents) == 1 and suffix and not others:
            (folder,) = parents
            if not UNREAD.search(str(folder)) and set(folder.rglob(f"*{suffix}")) == set(paths):
                return [self.ctx.read_parquet(f"{folder}/", file_extension=suffix, schema=self._as_stored(columns))]
        return [self._parquet_file(path, columns) for path in paths]

    def _by_pyarrow(self, paths: list[Path], columns: Columns) -> DataFrame:
        """Parquet files as pyarrow reads them; nulls where the plan uses none of a column's values."""
        used = used_of(columns)
        frame = unfiltered(self.ctx, pads.dataset(list(map(str, paths)), schema=pa.schema(used), format=PARQUET))
        return frame.select(*in_order({field.name: column_named(field.name) for field in used}, columns.schema))

    def _parquet_file(self, path: Path, columns: Columns) -> DataFrame:
        if UNREAD.search(str(path)):
            rows = local_files.parquet_table(path, columns)
            return self.ctx.read_batches(rows.to_batches() or [pa.RecordBatch.from_pylist([], rows.schema)])
        return self.ctx.read_parquet(str(path), file_extension=path.suffix, schema=self._as_stored(columns))

    def _as_stored(self, columns: Columns) -> pa.Schema:
        """The schema as files are read: intervals are the numbers that files hold, and texts what this reader reads them as.

        Texts that go through one join after another are strings. As views they keep the buffers of all rows on the left of a
        join, which the next join keeps as often as it gets batches of them: six joins of 100,000 rows took 5 GB, and ten any memory
        (https://github.com/apache/datafusion/issues/16206).
        """
        return pa.schema([field.with_type(self._type_of(field, columns)) for field in columns.schema])

    def _type_of(self, field: pa.Field, columns: Columns) -> pa.DataType:
        if field.type == pa.string():
            return field.type if field.name in columns.joined_on() else self.text
        return local_files.COUNTED.get(field.type, field.type)


def column_named(name: str) -> Expr:
    """A column by its exact name."""
    quoted = name.replace('"', '""')
    return col(f'"{quoted}"')


def in_order(values: Mapping[str, Expr], schema: pa.Schema) -> list[Expr]:
    """The columns of a schema: these values by their names, and nulls for the others."""
    return [values.get(field.name, lit(None)).cast(field.type).alias(field.name) for field in schema]


def _partition_value(text: str, field: pa.Field) -> pa.Scalar:
    try:
        return pa.scalar(None if text == "__HIVE_DEFAULT_PARTITION__" else text, pa.string()).cast(field.type)
    except pa.ArrowInvalid as error:
        raise InvalidPlanError(f"A folder's name has {text!r} for the column {field.name!r}: {error}.") from error


UNREAD = re.compile(r"[*?\[\x00-\x1f]")
"""Characters that DataFusion takes for a pattern in a path, or doesn't take."""
