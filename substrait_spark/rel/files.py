"""Reads of files: one item for each, and the values that partitioned layouts keep in the names of folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..algebra import types
from ..algebra.expression import Expression, FieldReference
from ..algebra.relation import File, LocalFiles, Relation, Set, Statistics, VirtualTable
from ..algebra.spark_options import SPARK_OPTIONS
from ..algebra.traversal import columns
from ..catalyst import locations, tree
from ..catalyst.file_metadata import FILE_CONSTANT, INPUT_FILE_NAME, METADATA_FIELDS
from ..catalyst.source_options import option_text
from ..catalyst.tree import DataType, Field, SourceColumns
from ..errors import Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.literal import typed_literal
from . import delimited, spark_files
from .builder import RelationBuilder
from .columns import is_used, stored, type_names, used_of
from .output import Output, ids_of

DATASOURCES = "org.apache.spark.sql.execution.datasources."

FORMATS = {
    f"{DATASOURCES}parquet.ParquetFileFormat": "parquet",
    f"{DATASOURCES}v2.parquet.ParquetScan": "parquet",
    f"{DATASOURCES}orc.OrcFileFormat": "orc",
    f"{DATASOURCES}v2.orc.OrcScan": "orc",
    f"{DATASOURCES}csv.CSVFileFormat": "csv",
    f"{DATASOURCES}v2.csv.CSVScan": "csv",
    f"{DATASOURCES}text.TextFileFormat": "text",
    f"{DATASOURCES}v2.text.TextScan": "text",
    f"{DATASOURCES}json.JsonFileFormat": "json",
    f"{DATASOURCES}v2.json.JsonScan": "json",
    f"{DATASOURCES}binaryfile.BinaryFileFormat": "binaryFile",
}
"""Spark's classes of file formats, and of version 2 scans."""

ONLY = {
    "datetimerebasemode": ("exception", "corrected"),
    "int96rebasemode": ("exception", "corrected"),
    "ignorecorruptfiles": ("false",),
    "ignoremissingfiles": ("false",),
    "orc.force.positional.evolution": ("false",),
}
"""Options of Parquet and ORC that say which rows there are, with the values that any reader keeps to."""

BRANCHES = 1000
"""How many branches a plan may hold for one read: a partition each, or a file where its name is asked for."""

Leaf = Callable[[Sequence[File]], Output]
"""The relation of some files."""


def read(
    r: RelationBuilder, attributes: Sequence[tree.Expression], relation: tree.Node, statistics: Statistics | None
) -> Output:
    """Files with these columns. `relation` has partitionSchema, dataSchema, fileFormat, options, tableFormat and
    partitions."""
    _require_no_table(relation["tableFormat"])
    format = _format(relation["fileFormat"])
    fields = relation["dataSchema"].parameters
    data, used, keys, constants = _read_columns(r, attributes, relation["partitionSchema"], relation["dataSchema"])
    partitions = _partitions(relation["partitions"], list(keys), one_each=bool(constants))
    options: Mapping[str, str | None] = relation["options"].entries
    if format == "csv":
        leaf = _csv(r, data, fields, options, [file for partition in partitions for file in partition.files])
    elif format in SPARK_OPTIONS:
        leaf = spark_files.leaf(r, data, fields, format, options)
    else:
        leaf = _columnar(r, data, format, options, None if keys or constants else statistics)
    branches: list[Output] = []
    for partition in partitions:
        values = dict(zip([key["exprId"] for key in keys.values()], partition.values, strict=True))
        values.update({constant["exprId"]: _constant(constant["name"], partition) for constant in constants})
        branches.append(_with_values(r, leaf(partition.files), [*used, *constants], values))
    if not branches:
        return _no_rows(r, [*used, *constants])
    if len(branches) == 1:
        return branches[0]
    return Output(Set([branch.relation for branch in branches], "UNION_ALL"), branches[0].ids)


class ReadColumns(NamedTuple):
    """The columns of a read: those in its files; all that the plan uses; of these, by number, those in names of folders; and those that
    tell of a file."""

    data: Sequence[tree.Expression]
    used: list[tree.Expression]
    keys: dict[int, tree.Expression]
    constants: list[tree.Expression]


def _read_columns(
    r: RelationBuilder, attributes: Sequence[tree.Expression], partition_schema: DataType, data_schema: DataType
) -> ReadColumns:
    if isinstance(attributes, SourceColumns) and attributes.type is data_schema and not partition_schema.parameters:
        return ReadColumns(attributes, used_of(r, attributes), {}, [])
    in_folders = [field.name for field in partition_schema.parameters]
    in_files = {field.name for field in data_schema.parameters}
    data: list[tree.Expression] = []
    by_role = ReadColumns(data, [], {}, [])
    for attribute in attributes:
        name = attribute["name"]
        uses = is_used(r, attribute)
        if FILE_CONSTANT in attribute["metadata"]:
            if uses:
                by_role.constants.append(attribute)
            continue
        if uses:
            by_role.used.append(attribute)
        if name not in in_folders:
            if uses:
                _require_stored(attribute, in_files)
            if uses or name in in_files:
                data.append(attribute)
        elif uses:
            by_role.keys[in_folders.index(name)] = attribute
    return by_role


def _format(java_class: str) -> str:
    name = java_class.rsplit(".", 1)[-1]
    format = FORMATS.get(java_class)
    if format is None:
        raise Unsupported(f"files of {name} can't be read as Spark does", "Save them as Parquet and read that.")
    return format


def _require_no_table(format: str) -> None:
    """Refuse the files of a table that Spark reads without the table's log, which says which of them are live."""
    if format:
        raise Unsupported(
            f"the files belong to a table of {format}, and some of them may hold rows that were deleted or replaced",
            f"Read the table by its format, as in spark.read.format('{format.lower()}').load(path), or copy the files elsewhere "
            "if their rows are what you want.",
        )


def _require_stored(attribute: tree.Expression, in_files: set[str]) -> None:
    """Refuse columns whose values are in no file."""
    if attribute["name"] not in in_files:
        raise no_column(attribute["name"])
    if "EXISTS_DEFAULT" in attribute["metadata"]:
        raise Unsupported(
            f"files from before the column {attribute['name']} was added lack its default value",
            "Write the table anew, or use reads='auto' or reads='tables' where the engine's table has the default.",
        )


def no_column(name: str) -> Unsupported:
    """Why a column of Spark's own about files and rows can't be read."""
    return Unsupported(
        f"the column {name} is metadata of the files, which no other engine has",
        f"Use no more of it than {', '.join(f'{name}.{field}' for field in METADATA_FIELDS)}, or save the rows with it as Parquet."
        if name == "_metadata"
        else "Leave it out, or save the rows with it as Parquet and read that.",
    )


class Partition(NamedTuple):
    """Files that are read by one branch: the values of columns in the names of folders, and the path of a file by itself."""

    values: tuple[Any, ...]
    files: list[File]
    path: str = ""


def _partitions(listed: Sequence[Any], keys: Sequence[int], *, one_each: bool) -> list[Partition]:
    """The files of each combination of these partition columns' values, or `one_each`, in the order of their URIs."""
    partitions: dict[str, Partition] = {}
    for values, folders in listed:
        chosen = tuple([values.values[key] for key in keys])
        files = _files(folders)
        if one_each:
            paths = _paths(folders)
            partitions.update({path: Partition(chosen, [file], path) for file, path in zip(files, paths, strict=True)})
        elif files:
            # By their text, in which -0.0 isn't 0.0.
            partitions.setdefault(repr(chosen), Partition(chosen, [])).files.extend(files)
    if len(partitions) > BRANCHES:
        raise Unsupported(
            f"it reads {len(partitions)} {'files' if one_each else 'partitions'}, and a plan holds at most {BRANCHES}",
            "Filter by the partition columns, or use reads='tables' for a catalog table."
            if not one_each
            else "Filter by the partition columns, or leave out the names of the files.",
        )
    for partition in partitions.values():
        partition.files.sort(key=_by_uri)
    return sorted(partitions.values(), key=lambda partition: partition.files)


def _paths(folders: tree.Folders) -> list[str]:
    """The files as Spark names them: by Java's URIs, in which some characters stand for themselves that RFC 3986 encodes."""
    paths = []
    for folder, *entries in folders.entries:
        if len(entries) == 1:
            raise Unsupported(
                "it asks for the names of files, and the read names a folder with a pattern in place of its files",
                "Set list_files to None or to more files.",
            )
        paths += [f"{folder}/{name}" for name in entries[::2]]
    return paths


def _constant(name: str, partition: Partition) -> Any:
    """What Spark's column of this name tells of a file, in Catalyst's internal form."""
    if name == INPUT_FILE_NAME:
        return re.sub(r"^file:/(?!/)", "file:///", partition.path)
    if name == "file_path":
        return re.sub(r"^file:///", "file:/", partition.path)
    if name == "file_name":
        return partition.path.rsplit("/", 1)[-1]
    length = partition.files[0].length
    if length is None:
        raise Unsupported("the sizes of the files are not known here", "Leave out _metadata.file_size.")
    return length


def _by_uri(file: File) -> str:
    return file.uri


def _files(folders: tree.Folders) -> list[File]:
    files = []
    for folder, *entries in folders.entries:
        shown = locations.uri(folder) + "/"
        is_local = shown.startswith("file:")
        if len(entries) == 1:
            files.append(File(shown + locations.uri(entries[0]), None))
            continue
        for name, length in zip(entries[::2], entries[1::2], strict=True):
            if not is_local:
                locations.require_no_secret(f"{folder}/{name}")
            # Of a Spark Connect server's files, lengths are known only where it is this machine.
            known = length if length >= 0 else None
            files.append(File(shown + (name if name.isascii() else locations.uri(name)), known))
    return files


def _csv(
    r: RelationBuilder,
    data: Sequence[tree.Expression],
    fields: Sequence[Field],
    options: Mapping[str, str | None],
    files: Sequence[File],
) -> Leaf:
    """Delimited text, or what only Spark's own source says."""
    try:
        return delimited.leaf(r, data, [field.name for field in fields], options, files)
    except delimited.NotDelimited:
        return spark_files.leaf(r, data, fields, "csv", options)


def _columnar(
    r: RelationBuilder,
    data: Sequence[tree.Expression],
    format: str,
    options: Mapping[str, str | None],
    statistics: Statistics | None,
) -> Leaf:
    """Parquet and ORC: columns by name, in their own types."""
    for option, values in ONLY.items():
        value = options.get(option)
        if value is not None and value.lower() not in values:
            raise Unsupported(
                f"the option {option_text(option, value)} changes what is read, and a plan can't say so",
                "Read the files without the option, or save the rows as Parquet and read that.",
            )
    if format == "parquet":
        _require_settings(r, used_of(r, data), options)
    schema = stored(r, data, by_name=True)
    return lambda files: schema.output(r, LocalFiles(files, format, schema.names, schema.types, statistics))


REBASED = {
    "datetimerebasemode": "spark.sql.parquet.datetimeRebaseModeInRead",
    "int96rebasemode": "spark.sql.parquet.int96RebaseModeInRead",
}
"""Options of Parquet, and the session's settings that count without them."""


def _require_settings(r: RelationBuilder, used: Sequence[tree.Expression], options: Mapping[str, str | None]) -> None:
    """Refuse columns that the session converts from another calendar or time zone, or finds by their numbers."""
    names = type_names(used)
    times = not names.isdisjoint(delimited.TIMES)
    numbered = any("parquet.field.id" in attribute["metadata"] for attribute in used)
    for option, setting in REBASED.items():
        if times and option not in options:
            _require_setting(r, setting, "LEGACY", "Set it to CORRECTED where the files are newer than Spark 3.0")
    if times:
        _require_setting(
            r, "spark.sql.parquet.int96TimestampConversion", "TRUE", "Set it to false where Spark wrote the files"
        )
    if numbered:
        _require_setting(r, "spark.sql.parquet.fieldId.read.enabled", "TRUE", "Set it to false where the names agree")


def _require_setting(r: RelationBuilder, setting: str, refused: str, way_out: str) -> None:
    value = r.context.configuration.get(setting, "")
    if value.upper() == refused:
        raise Unsupported(
            f"the setting {setting}={value} changes what is read, and a plan can't say so",
            f"{way_out}, or save the rows anew and read that.",
        )


def _with_values(
    r: RelationBuilder, input: Output, used: Sequence[tree.Expression], values: Mapping[int, Any]
) -> Output:
    """A branch's rows with the values that are no columns of its files, by exprId."""
    if not values:
        return input
    e = r.expressions(input.scope())
    ordinals = {id: ordinal for ordinal, id in enumerate(input.ids)}
    values_in_order: list[Expression] = []
    for attribute in used:
        ordinal = ordinals.get(attribute["exprId"])
        if ordinal is not None:
            values_in_order.append(FieldReference(ordinal, input.relation.types[ordinal]))
        else:
            values_in_order.append(_value(e, values[attribute["exprId"]], attribute))
    return Output(columns(input.relation, values_in_order), ids_of(used))


def _value(e: ExpressionBuilder, value: Any, attribute: tree.Expression) -> Expression:
    literal = typed_literal(value, attribute.type)
    return e.as_type(literal, types.nullable(literal.type))


def _no_rows(r: RelationBuilder, used: Sequence[tree.Expression]) -> Output:
    schema = stored(r, used, by_name=False)
    empty: Relation = VirtualTable([], schema.names, [types.nullable_inside(kind) for kind in schema.types])
    return Output(empty, ids_of(used))
