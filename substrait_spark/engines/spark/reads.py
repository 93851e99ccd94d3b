"""Tables and files of a plan as DataFrames of the caller's session."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from ...algebra.relation import DelimitedText, DeltaTable, File, IcebergTable, LocalFiles, NamedTable, Read, SparkFiles
from ...catalyst.failures import failure_text, java_errors
from ...errors import InvalidPlanError, Unsupported, kind_of
from ..file_access import Folders, allowed, local_path, missing, regular, require_regular_inside
from ..names import found, table_name
from .types import spark_struct

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

Loaded = TypeVar("Loaded")

GLOB = "*?[]{}\\"
"""What Hadoop takes for a pattern in a path."""


class Tables:
    """What a plan finds in a session: the caller's tables, those of the session, files, and settings."""

    def __init__(self, spark: SparkSession, given: Mapping[str, DataFrame], under: Folders = None) -> None:
        self._spark = spark
        self._given = given
        self._under = under

    def setting(self, name: str) -> str:
        """A setting of the session's."""
        return str(self._spark.conf.get(name))

    def dataset(self, read: Read) -> DataFrame:
        """The rows of a read, in columns of its schema. Raises Unsupported where they can't be had."""
        if isinstance(read, NamedTable):
            return self._named_table(read)
        if isinstance(read, LocalFiles):
            return self._files(read)
        if isinstance(read, IcebergTable):
            return self._iceberg_table(read)
        if isinstance(read, DeltaTable):
            return self._delta_table(read)
        raise Unsupported(f"{type(read).__name__} is not read")

    def _delta_table(self, read: DeltaTable) -> DataFrame:
        if self._under is not None:
            raise Unsupported("what a Delta table's log names is not confined to the folders of files_under")
        path = _path(File(read.location, None), None)
        source = self._spark.read.format("delta").option("versionAsOf", str(read.version))
        return _with_schema(self._loaded(lambda: source.load(path)), read, read.location)

    def _iceberg_table(self, read: IcebergTable) -> DataFrame:
        if self._under is not None:
            raise Unsupported("what an Iceberg table's metadata name is not confined to the folders of files_under")
        source = self._spark.read.format("iceberg")
        if read.snapshot_id is not None:
            source = source.option("versionAsOf", read.snapshot_id)
        rows = self._loaded(lambda: source.load(read.metadata_uri))
        # Iceberg's reader loses rows by filters on columns with default values, and on those of a snapshot that have other names now.
        # Spark pushes none through a sample, which here is all rows.
        return _with_schema(rows.sample(fraction=1.0), read, read.metadata_uri)

    def _named_table(self, read: NamedTable) -> DataFrame:
        from pyspark.sql import DataFrame

        full = ".".join(read.table)
        name = table_name(read.table, self._given)
        given = None if name is None else self._given[name]
        if given is None:
            quoted = ".".join(f"`{part.replace('`', '``')}`" for part in read.table)
            # Spark would take two parts for a format and a path: a file that no one sees to be one.
            if len(read.table) == 2 and not self._loaded(lambda: self._spark.catalog.tableExists(quoted)):
                raise Unsupported(f"Spark can't read it: there is no table {full}", "Give the table in tables=.")
            given = self._loaded(lambda: self._spark.table(quoted))
        elif not isinstance(given, DataFrame):
            raise TypeError(f"The table {full!r} must be a PySpark DataFrame, not {kind_of(given)}.")
        return _with_schema(given, read, full)

    def _files(self, read: LocalFiles) -> DataFrame:
        from pyspark.sql import DataFrame

        reader = self._spark.read
        if read.format != BINARY:  # Spark knows the columns
            reader = reader.schema(_schema(read))
        paths = [_path(file, self._under) for file in read.files]
        if isinstance(read.format, DelimitedText):
            reader = reader.format("csv").options(**_options(read.format))
        elif isinstance(read.format, SparkFiles):
            reader = reader.format(read.format.name).options(**{**SETTLED, **dict(read.format.options)})
        else:
            reader = reader.format(read.format)
        # Of more paths at once than this, Spark lists the files by a job.
        most = max(1, int(str(self._spark.conf.get("spark.sql.sources.parallelPartitionDiscovery.threshold"))))
        parts = [paths[start : start + most] for start in range(0, len(paths), most)]
        rows = reduce(DataFrame.union, [self._loaded(partial(reader.load, part)) for part in parts])
        return _with_schema(rows, read, "of binary files") if read.format == BINARY else rows

    def _loaded(self, load: Callable[[], Loaded]) -> Loaded:
        try:
            return load()
        except java_errors() as error:
            reason = failure_text(error)
        raise Unsupported(f"Spark can't read it: {reason}", "Give the table in tables=.")


def _schema(read: Read) -> StructType:
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(spark_struct(read.schema, read.names)))


def _options(text: DelimitedText) -> dict[str, str]:
    """Spark's options for delimited text: nothing is trimmed, and what is empty is an empty string."""
    if text.header_lines_to_skip > 1:
        raise Unsupported("Spark leaves out one line at the head of a file of text, or none")
    return {
        "sep": text.field_delimiter,
        "quote": text.quote,
        "escape": text.escape,
        "nullValue": text.value_treated_as_null,
        "emptyValue": "",
        "header": str(bool(text.header_lines_to_skip)).lower(),
        "enforceSchema": "true",
        "mode": "PERMISSIVE",
    }


BINARY = SparkFiles("binaryFile", ())

SETTLED = {"columnnameofcorruptrecord": "_corrupt_record", "timezone": "UTC"}
"""What holds where the plan doesn't say an option, which otherwise would be the session's."""


def _path(file: File, under: Folders) -> str:
    """The path of a file's URI, as Hadoop reads paths: not encoded, and with patterns."""
    try:
        if file.uri.startswith("file:") or under is not None:
            _require_allowed(file, under)
        parsed = urlsplit(file.uri)
    except (InvalidPlanError, ValueError) as error:
        raise Unsupported(str(error)) from None
    path = unquote(parsed.path)
    if file.length is not None:
        path = "".join(f"\\{character}" if character in GLOB else character for character in path)
    return f"{parsed.scheme}://{parsed.netloc}{path}" if parsed.scheme else path


def _require_allowed(file: File, under: Folders) -> None:
    """Refuse local files that never end, and any outside the folders that are allowed."""
    path = local_path(file.uri)
    if file.length is None:
        if under is not None:
            raise InvalidPlanError(f"{path} is a pattern, and files_under takes files that the plan names one by one.")
        require_regular_inside(path.parent)
        require_regular_inside(path)
    elif under is not None or not missing(path):  # a cluster's files may be elsewhere
        regular(allowed(path, under))


def _with_schema(df: DataFrame, read: Read, shown: str) -> DataFrame:
    """The columns that a read's schema names, which must have its types; structs may have more fields, and in another order."""
    kinds = {field.name: field.dataType for field in df.schema.fields}
    if len(kinds) != len(df.columns):
        raise Unsupported(f"the table {shown} has several columns of one name")
    wanted = _schema(read)
    sensitive = str(df.sparkSession.conf.get("spark.sql.caseSensitive")) == "true"
    columns: list[Column] = []
    same = True
    for field in wanted.fields:
        name = _named(field.name, kinds, wanted.names, sensitive)
        if name is None:
            raise Unsupported(f"the table {shown} has no column {field.name}")
        if not _holds(_nullable(kinds[name]), field.dataType):
            raise Unsupported(
                f"the column {field.name} of the table {shown} is {kinds[name].simpleString()}, "
                f"and {field.dataType.simpleString()} in the plan"
            )
        columns.append(df[f"`{name.replace('`', '``')}`"].alias(field.name))
        same = same and _nullable(kinds[name]) == field.dataType
    rows = df.select(*columns)
    return rows if same else rows.to(wanted)


def _named(name: str, columns: Collection[str], wanted: Sequence[str], sensitive: bool) -> str | None:
    """The name of a column as the session finds it."""
    if sensitive:
        return name if name in columns else None
    return found(name, columns, wanted)


def _holds(type: DataType, wanted: DataType) -> bool:
    """Whether a type is a wanted one, or has more fields in its structs."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type, StructType) and isinstance(wanted, StructType):
        types = {field.name: field.dataType for field in type.fields}
        return all(field.name in types and _holds(types[field.name], field.dataType) for field in wanted.fields)
    if isinstance(type, ArrayType) and isinstance(wanted, ArrayType):
        return _holds(type.elementType, wanted.elementType)
    if isinstance(type, MapType) and isinstance(wanted, MapType):
        return _holds(type.keyType, wanted.keyType) and _holds(type.valueType, wanted.valueType)
    return type == wanted


def _nullable(type: DataType) -> DataType:
    """The type as the plan's types are written, where everything inside may be null, and has no metadata."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(type, ArrayType):
        return ArrayType(_nullable(type.elementType))
    if isinstance(type, MapType):
        return MapType(_nullable(type.keyType), _nullable(type.valueType))
    if isinstance(type, StructType):
        return StructType([StructField(field.name, _nullable(field.dataType)) for field in type.fields])
    return type
