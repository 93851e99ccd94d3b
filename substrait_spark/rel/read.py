"""ReadRel: tables, files and local rows (https://substrait.io/relations/logical_relations/#read-operation)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..algebra import types
from ..algebra.expression import Expression
from ..algebra.relation import LocalFiles, NamedTable, Project, Read, Relation, Set, VirtualTable
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.types import field_names, to_substrait
from ..errors import NotInDialect, Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.literal import require_value, stored_literal
from .builder import RelationBuilder
from .output import Output, ids_of

FORMATS = {
    "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat": "parquet",
    "org.apache.spark.sql.execution.datasources.orc.OrcFileFormat": "orc",
}


def schema(
    r: RelationBuilder, attributes: Sequence[tree.Expression], stored: bool = False
) -> tuple[list[str], list[Type]]:
    """The depth-first names and the types of a leaf's columns, every one of them checked; `stored` for a table's."""
    shown = _unique([attribute["name"] for attribute in attributes])
    names = [
        name
        for column, attribute in zip(shown, attributes, strict=True)
        for name in field_names(column, attribute.type)
    ]
    return names, [_column_type(r, attribute, stored) for attribute in attributes]


def _unique(names: Sequence[str]) -> list[str]:
    """The names of columns, with a number where one repeats: local rows may have that, no engine's table has."""
    taken, found = set(names), []
    seen: set[str] = set()
    for name in names:
        candidate = name
        for number in itertools.count(2):
            if candidate not in seen and (candidate == name or candidate not in taken):
                break
            candidate = f"{name}_{number}"
        seen.add(candidate)
        found.append(candidate)
    return found


def _column_type(r: RelationBuilder, attribute: tree.Expression, stored: bool) -> Type:
    try:
        type = to_substrait(attribute.type, attribute.nullable)
        r.dialect.require_type(type, stored)
    except Unsupported as problem:
        r.context.report(attribute, problem)
        return types.nullable(types.BOOLEAN)
    return type if stored or r.dialect.quirks.nested_required else types.nullable_inside(type)


def logical_relation(r: RelationBuilder, node: tree.Plan) -> Output:
    """LogicalRelation: a table by name or files, as the caller asked for."""
    names, kinds = schema(r, node["output"], stored=True)
    table = node["catalogTable"]
    if table is not None and r.context.settings.reads != "files":
        return Output(_checked(r, "NAMED_TABLE", NamedTable(table_name(table), names, kinds)), ids_of(node["output"]))
    if r.context.settings.reads == "tables":
        raise Unsupported("it reads files that no catalog names", "Use reads='auto' or reads='files'.")
    return Output(files(r, node, names, kinds), ids_of(node["output"]))


def table_name(table: tree.Node) -> list[str]:
    """The parts of a catalog table's name, never taken apart from text."""
    identifier = table["identifier"]
    parts = (identifier.get("catalog"), identifier["database"], identifier["table"])
    return [part for part in parts if part is not None]


def files(r: RelationBuilder, node: tree.Plan, names: list[str], kinds: list[Type]) -> Relation:
    """The files of a relation, one item each; of a partitioned one, a read for each folder, with the folder's values."""
    relation = node["relation"]
    if not isinstance(relation, tree.Node) or relation.name != "HadoopFsRelation":
        source = getattr(relation, "java_class", relation)
        raise Unsupported(f"rows of {source} can't be read from a plan", "Save them as Parquet and read that.")
    format = FORMATS.get(relation["fileFormat"])
    if format is None:
        raise Unsupported(
            f"files of {relation['fileFormat'].rsplit('.', 1)[-1]} can't be read as Spark does",
            "Save them as Parquet and read that.",
        )
    folders = relation["partitions"]
    width = _stored_columns(node)
    named_by_folders = node["output"][width:]
    if not named_by_folders:
        listed = [file for _, found in folders for file in found]
        return _checked(r, "LOCAL_FILES", LocalFiles(sorted(listed), format, names, kinds))
    if not folders:
        return _checked(r, "VIRTUAL_TABLE", VirtualTable([], names, kinds))
    stored = names[: -len(named_by_folders)]  # the other columns have no fields inside
    e = r.expressions(Output(VirtualTable([], [], []), ()).scope())
    parts: list[Relation] = []
    for row, found in folders:
        read = _checked(r, "LOCAL_FILES", LocalFiles(sorted(found), format, stored, kinds[:width]))
        columns = zip(row.values, named_by_folders, kinds[width:], strict=True)
        parts.append(Project(read, [_cell(e, *column) for column in columns]))
    return parts[0] if len(parts) == 1 else Set(parts, "UNION_ALL")


def _stored_columns(node: tree.Plan) -> int:
    """How many columns of a file relation are in the files; those after them are the values of folders."""
    attributes, relation = node["output"], node["relation"]
    folders = [field.name for field in relation["partitionSchema"].parameters]
    stored = len(attributes) - len(folders)
    if [attribute["name"] for attribute in attributes[stored:]] != folders or stored < 1:
        raise Unsupported(
            "its files also have columns that their folders are named by",
            "Save them without these columns, or use reads='tables' for a catalog table.",
        )
    return stored


def _checked(r: RelationBuilder, read_type: str, read: Read) -> Read:
    if not r.dialect.allows_relation("READ", "read_types", read_type):
        raise NotInDialect(f"the dialect {r.dialect.name} has no {read_type.lower().replace('_', ' ')} reads")
    return read


def local_rows(r: RelationBuilder, node: tree.Plan) -> Output:
    """LocalRelation, LogicalRDD: their rows, all of them or none."""
    if node["isStreaming"] or node["data"] is None:
        raise Unsupported("it is a streaming source")
    attributes = node["output"]
    known = len(r.context.found)
    names, kinds = schema(r, attributes)
    if len(r.context.found) > known:
        return Output(VirtualTable([], names, kinds), ids_of(attributes))  # their values can't be written either
    limit = r.context.settings.inline_limit
    if len(node["data"].values) > limit:
        raise too_many(limit, f"more than {limit}")
    e = r.expressions(Output(VirtualTable([], [], []), ()).scope())
    rows = [
        tuple(_cell(e, value, attribute, type) for value, attribute, type in zip(row, attributes, kinds, strict=True))
        for row in node["data"].values
    ]
    return Output(_checked(r, "VIRTUAL_TABLE", VirtualTable(rows, names, kinds)), ids_of(attributes))


def _cell(e: ExpressionBuilder, value: Any, attribute: tree.Expression, type: Type) -> Expression:
    require_value(value, type.nullable)
    return e.as_type(stored_literal(e, value, attribute.type), type)


def too_many(limit: int, count: str) -> Unsupported:
    return Unsupported(
        f"it has {count} local rows, and inline_limit allows {limit} in a plan",
        "Raise inline_limit, or save the rows as Parquet or as a table and read that.",
    )


def one_row(r: RelationBuilder, node: tree.Plan) -> Output:
    """OneRowRelation: one row without columns."""
    return Output(VirtualTable([()], [], []), ())


def range_(r: RelationBuilder, node: tree.Plan) -> Output:
    """Range: its numbers as rows."""
    numbers = range(node["start"], node["end"], node["step"])
    limit = r.context.settings.inline_limit
    if len(numbers) > limit:
        raise too_many(limit, str(len(numbers)))
    names, kinds = schema(r, node["output"])
    e = r.expressions(Output(VirtualTable([], [], []), ()).scope())
    rows = [(e.literal(number, kinds[0]),) for number in numbers]
    return Output(_checked(r, "VIRTUAL_TABLE", VirtualTable(rows, names, kinds)), ids_of(node["output"]))


HANDLERS = {
    "LogicalRelation": logical_relation,
    "LocalRelation": local_rows,
    "LogicalRDD": local_rows,
    "OneRowRelation": one_row,
    "Range": range_,
}
