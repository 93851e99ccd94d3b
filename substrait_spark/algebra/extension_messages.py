"""The messages of our extension relations, formats of files and remarks (docs/reference/extension-relations.md), described
here in place of a .proto file, so that nothing needs to be generated."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError
from substrait import algebra_pb2

PACKAGE = "substrait_spark"

_Fields = tuple[tuple[str, Any, str], ...]

_RELATIONS: dict[str, _Fields] = {
    "Generate": (
        ("rows", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
        ("outer", FieldDescriptorProto.TYPE_BOOL, ""),
        ("whole_elements", FieldDescriptorProto.TYPE_BOOL, ""),
        ("with_position", FieldDescriptorProto.TYPE_BOOL, ""),
    ),
    "Sample": (
        ("lower_bound", FieldDescriptorProto.TYPE_DOUBLE, ""),
        ("upper_bound", FieldDescriptorProto.TYPE_DOUBLE, ""),
        ("with_replacement", FieldDescriptorProto.TYPE_BOOL, ""),
        ("seed", FieldDescriptorProto.TYPE_INT64, ""),
    ),
    "FlatMap": (
        ("call", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.AggregateFunction"),
        ("keys", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
    ),
    "FlatMapCoGroups": (
        ("call", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.AggregateFunction"),
        ("keys", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
        ("other_keys", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
    ),
    "Recursion": (
        ("number", FieldDescriptorProto.TYPE_INT64, ""),
        ("level_limit", FieldDescriptorProto.TYPE_INT64, ""),
        ("row_limit", FieldDescriptorProto.TYPE_INT64, ""),
        ("limit", FieldDescriptorProto.TYPE_INT64, ""),
    ),
    "Merge": (
        ("named_table", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.NamedTable"),
        ("table_schema", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.NamedStruct"),
        ("condition", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
        ("matched", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.MergeClause"),
        ("not_matched", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.MergeClause"),
        ("not_matched_by_source", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.MergeClause"),
        ("matches_once", FieldDescriptorProto.TYPE_BOOL, ""),
    ),
}
"""Fields of the message of each relation, numbered from 1: name, type, and the message's name where it is one."""

_MESSAGES: dict[str, _Fields] = {
    **_RELATIONS,
    "MergeClause": (
        ("condition", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
        ("delete", FieldDescriptorProto.TYPE_BOOL, ""),
        ("transformations", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.UpdateRel.TransformExpression"),
    ),
    "Parameters": (("names", FieldDescriptorProto.TYPE_STRING, ""),),
    "SparkOption": (
        ("name", FieldDescriptorProto.TYPE_STRING, ""),
        ("value", FieldDescriptorProto.TYPE_STRING, ""),
    ),
    "SparkFiles": (
        ("format", FieldDescriptorProto.TYPE_STRING, ""),
        ("options", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.SparkOption"),
    ),
    "DeltaTable": (
        ("location", FieldDescriptorProto.TYPE_STRING, ""),
        ("version", FieldDescriptorProto.TYPE_INT64, ""),
    ),
    "PreviousRows": (("number", FieldDescriptorProto.TYPE_INT64, ""),),
    "TableStorage": (
        ("format", FieldDescriptorProto.TYPE_STRING, ""),
        ("location", FieldDescriptorProto.TYPE_STRING, ""),
        ("options", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.SparkOption"),
        ("partition_by", FieldDescriptorProto.TYPE_STRING, ""),
        ("buckets", FieldDescriptorProto.TYPE_UINT32, ""),
        ("bucket_by", FieldDescriptorProto.TYPE_STRING, ""),
        ("sort_by", FieldDescriptorProto.TYPE_STRING, ""),
        ("comment", FieldDescriptorProto.TYPE_STRING, ""),
        ("column_comments", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.SparkOption"),
    ),
    "WriteBehavior": (
        ("overwrite", FieldDescriptorProto.TYPE_BOOL, ""),
        ("static_partitions", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.SparkOption"),
        ("dynamic_partitions", FieldDescriptorProto.TYPE_BOOL, ""),
        ("if_not_exists", FieldDescriptorProto.TYPE_BOOL, ""),
        ("temporary", FieldDescriptorProto.TYPE_STRING, ""),
        ("purge", FieldDescriptorProto.TYPE_BOOL, ""),
        ("replace_where", FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Expression"),
    ),
    "JoinHint": (
        ("left", FieldDescriptorProto.TYPE_STRING, ""),
        ("right", FieldDescriptorProto.TYPE_STRING, ""),
    ),
    "PartitionHint": (
        ("operation", FieldDescriptorProto.TYPE_STRING, ""),
        ("partitions", FieldDescriptorProto.TYPE_INT64, ""),
    ),
    "Concessions": (("uses", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.SparkOption"),),
    "Provenance": (
        ("spark_version", FieldDescriptorProto.TYPE_STRING, ""),
        ("stage", FieldDescriptorProto.TYPE_STRING, ""),
        ("settings", FieldDescriptorProto.TYPE_MESSAGE, f".{PACKAGE}.SparkOption"),
    ),
}
"""The same of all messages."""

_REPEATED = (
    *("keys", "names", "options", "other_keys", "settings", "uses"),
    *("partition_by", "bucket_by", "sort_by", "static_partitions", "column_comments"),
    *("matched", "not_matched", "not_matched_by_source", "transformations"),
)
"""Fields that a message may have several times."""


def _file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="substrait_spark/extension_relations.proto", package=PACKAGE, syntax="proto3")
    file.dependency.append(algebra_pb2.DESCRIPTOR.name)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, type, type_name) in enumerate(fields, 1):
            label = FieldDescriptorProto.LABEL_REPEATED if field in _REPEATED else FieldDescriptorProto.LABEL_OPTIONAL
            message.field.add(name=field, number=number, type=type, type_name=type_name or None, label=label)
    return file


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))


_POOL = descriptor_pool.Default()
_POOL.AddSerializedFile(_file().SerializeToString())

Concessions = _message("Concessions")
DeltaTable = _message("DeltaTable")
FlatMap = _message("FlatMap")
FlatMapCoGroups = _message("FlatMapCoGroups")
Generate = _message("Generate")
Merge = _message("Merge")
MergeClause = _message("MergeClause")
Parameters = _message("Parameters")
PreviousRows = _message("PreviousRows")
Recursion = _message("Recursion")
Sample = _message("Sample")
SparkFiles = _message("SparkFiles")
SparkOption = _message("SparkOption")
TableStorage = _message("TableStorage")
WriteBehavior = _message("WriteBehavior")
JoinHint = _message("JoinHint")
PartitionHint = _message("PartitionHint")
Provenance = _message("Provenance")


RELATIONS = tuple(map(_message, _RELATIONS))
"""The messages of relations, in whose details they are."""


def unpacked(detail: Any) -> Any:
    """The message in the detail of a relation where it is one of ours, else None."""
    return _unpacked(detail, *RELATIONS)


def unpacked_with_expressions(extension: Any) -> Any:
    """The message in an extension where it is one of ours that may hold expressions, else None."""
    return _unpacked(extension, *RELATIONS, WriteBehavior)


def unpacked_format(extension: Any) -> Any:
    """The message in the format of a file where it is ours, else None."""
    return _unpacked(extension, SparkFiles)


def unpacked_table(detail: Any) -> Any:
    """The message in the detail of a table that is read where it is ours, else None."""
    return _unpacked(detail, DeltaTable, PreviousRows)


def unpacked_note(extension: Any) -> Any:
    """The message in an advanced extension of a plan where it is ours, else None."""
    return _unpacked(extension, Parameters)


def unpacked_concessions(extension: Any) -> Any:
    """The message in an advanced extension of a plan that says which concessions were used, else None."""
    return _unpacked(extension, Concessions)


def unpacked_write(extension: Any) -> Any:
    """The message that says more of what a relation writes where it is ours, else None."""
    return _unpacked(extension, TableStorage, WriteBehavior)


def _unpacked(detail: Any, *messages: Any) -> Any:
    for message in messages:
        filled = message()
        if detail.Is(message.DESCRIPTOR):
            try:
                filled.MergeFromString(detail.value)
            except DecodeError:
                return None
            return filled
    return None


URL = f"type.googleapis.com/{PACKAGE}."
"""What the type URL of a detail begins with."""
