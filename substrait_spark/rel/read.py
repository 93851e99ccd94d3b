"""ReadRel: tables and files (https://substrait.io/relations/logical_relations/#read-operation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.relation import NamedTable, Statistics
from ..catalyst import tree
from ..catalyst.file_metadata import FILE_CONSTANT
from ..errors import Unsupported
from . import delta, files, iceberg, local
from .builder import RelationBuilder
from .columns import is_used, stored
from .output import Output

SOURCES = {
    "JDBCRelation": "a table of another database, by JDBC,",
    "JDBCScan": "a table of another database, by JDBC,",
}
"""What classes of sources are, for those that users know by other names."""


def logical_relation(r: RelationBuilder, node: tree.Plan) -> Output:
    """LogicalRelation: a table by name or files, as the caller asked for; what a name doesn't tell isn't dropped."""
    statistics = _statistics(node["statistics"])
    named, chosen, reads = node["catalogTable"] is not None, node["chosen"], r.context.settings.reads
    if named and chosen is None and reads != "files":
        return _named_table(r, table_name(node["catalogTable"]), node["output"], statistics)
    relation, version = node["relation"], node["delta"]
    if version is not None and (not delta.is_files(relation) or reads == "tables"):
        return delta.read(r, _stored_columns(r, node["output"]), *version)
    if chosen and version is None and reads != "files":
        raise _not_in_name(chosen)
    if not isinstance(relation, tree.Node) or relation.name != "HadoopFsRelation":
        raise _no_source(relation)
    if reads == "tables":
        raise Unsupported(*FILES_WANTED)
    return files.read(r, node["output"], relation, statistics)


def scan_relation(r: RelationBuilder, node: tree.Plan) -> Output:
    """DataSourceV2ScanRelation: built-in file sources and Iceberg, whose scans show what was pushed into them."""
    if node["remote"] is not None:
        if node["options"]:
            raise _not_in_name(node["options"])
        return _remote_table(r, node["output"], *node["remote"])
    if node["iceberg"] is not None:
        return iceberg.read(r, _stored_columns(r, node["output"]), node["iceberg"])
    if node["rows"] is not None:
        return local.local_rows(
            r, tree.make_plan("LocalRelation", output=node["output"], data=node["rows"], isStreaming=False)
        )
    if node["files"] is None:
        raise _no_source(node["scan"])
    if r.context.settings.reads == "tables":
        raise Unsupported(*FILES_WANTED)
    return files.read(r, node["output"], node["files"], None)


def hive_relation(r: RelationBuilder, node: tree.Plan) -> Output:
    """HiveTableRelation: a table by name; only Hive knows how to read its files."""
    if r.context.settings.reads == "files":
        raise Unsupported("files of a Hive table can't be read as Hive does", "Use reads='auto' or reads='tables'.")
    return _named_table(r, table_name(node["tableMeta"]), (*node["dataCols"], *node["partitionCols"]), None)


def _remote_table(r: RelationBuilder, attributes: Sequence[tree.Expression], kind: str, name: Sequence[str]) -> Output:
    """What only a Spark Connect server has: a table of one of its catalogs, or a view that no other session knows."""
    if kind != "table":
        raise Unsupported(
            f"the {kind} {name[-1]!r} is known to the Spark Connect server alone",
            "Use the DataFrame that it was made of, or make it a persistent view.",
        )
    if r.context.settings.reads == "files":
        raise Unsupported("the files of a server's table are not known here", "Use reads='auto' or reads='tables'.")
    return _named_table(r, name, attributes, None)


def _named_table(
    r: RelationBuilder, name: Sequence[str], attributes: Sequence[tree.Expression], statistics: Statistics | None
) -> Output:
    columns = _stored_columns(r, attributes)
    if not isinstance(columns, tree.SourceColumns):
        columns = [attribute for attribute in columns if "__metadata_col" not in attribute["metadata"]]
    schema = stored(r, columns, by_name=False)
    read = NamedTable(name, schema.names, schema.types, statistics)
    return schema.output(r, read)


def _stored_columns(r: RelationBuilder, attributes: Sequence[tree.Expression]) -> Sequence[tree.Expression]:
    """The columns of a table without those for its files, which no query may use where the plan doesn't name them."""
    if isinstance(attributes, tree.SourceColumns):  # none of them has a mark
        return attributes
    for attribute in attributes:
        if "__metadata_col" in attribute["metadata"] and is_used(r, attribute):
            raise files.no_column(attribute["name"])
        if FILE_CONSTANT in attribute["metadata"] and is_used(r, attribute):
            raise Unsupported(
                "it asks for the names or sizes of files, and the plan names the table",
                "Use reads='files' for a catalog table of files.",
            )
    return [attribute for attribute in attributes if FILE_CONSTANT not in attribute["metadata"]]


def table_name(table: tree.Node) -> list[str]:
    """The parts of a catalog table's name, never taken apart from text."""
    identifier = table["identifier"]
    parts = (identifier.get("catalog"), identifier["database"], identifier["table"])
    return [part for part in parts if part is not None]


def _statistics(known: Any) -> Statistics | None:
    """The catalog's bytes and rows of a whole table, where it knows both."""
    size, rows = known or (None, None)
    return Statistics(rows, size / rows) if size is not None and rows else None


FILES_WANTED = ("it reads files that no catalog names", "Use reads='auto' or reads='files'.")


def _not_in_name(chosen: Sequence[str]) -> Unsupported:
    """Why a table can't go by its name: the query chose rows of it by options."""
    reason = f"the query reads the table with options ({', '.join(chosen)}), which its name doesn't tell"
    return Unsupported(reason, "Use reads='files' for a table of files, or leave out the options.")


def _no_source(source: Any) -> Unsupported:
    """Why a source can't be read that is not of files; its class is all that is told of it."""
    name = getattr(source, "java_class", str(source))
    what = SOURCES.get(name.rsplit(".", 1)[-1], "rows of")
    reason = f"{what} {name} can't be read from a plan: only Spark knows what the source was asked for"
    return Unsupported(reason, "Save the rows as Parquet or as a table and read that.")


HANDLERS = {
    "DataSourceV2ScanRelation": scan_relation,
    "HiveTableRelation": hive_relation,
    "LogicalRelation": logical_relation,
}
