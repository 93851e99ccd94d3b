"""Where Catalyst's commands write: to which table or path, in which format and mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import Unsupported
from ..errors.quotation import identifier
from .locations import uri

Command = Mapping[str, Any]
"""A command's class, and its fields by name (PlanReader.java says which)."""


class Target(NamedTuple):
    """Where a command writes."""

    table: str | None = None
    """The table's name, as far as it is qualified: `spark_catalog.default.orders`."""
    path: str | None = None
    """The folder or file, where no table is named."""
    format: str | None = None
    """The format's name in Spark: `parquet`."""
    mode: str | None = None
    """The save mode, which says what happens to existing data: `append`, `overwrite`, `errorifexists`, `ignore` or `replace`."""
    partitioned_by: tuple[str, ...] = ()
    """The partition columns, or what partitions are computed of."""
    replaces: str | None = None
    """Of the rows that are there, those that are replaced, where these aren't all: a condition as SQL, `PARTITIONS_OF_ROWS` or
    `PARTITIONS_IF_ANY`."""

    def __str__(self) -> str:
        name = (
            f"table {self.table}"
            if self.table is not None
            else f"path {self.path}"
            if self.path is not None
            else "a source"
        )
        how = [word for word in (self.format, self.mode) if word is not None]
        if self.partitioned_by:
            how.append(f"partitioned by {', '.join(self.partitioned_by)}")
        if self.replaces is not None:
            by_partition = self.replaces in (PARTITIONS_OF_ROWS, PARTITIONS_IF_ANY)
            how.append(f"of {self.replaces}" if by_partition else f"where {self.replaces}")
        return f"{name} ({', '.join(how)})" if how else name


PARTITIONS_OF_ROWS = "the partitions of its rows"
"""What is replaced where partitions are overwritten as the new rows say."""

PARTITIONS_IF_ANY = f"{PARTITIONS_OF_ROWS} if it has partitions"
"""What is replaced so of a table that may have none, whose rows go then."""


def _stated(command: Command) -> str:
    return str(command["mode"]).lower()


def _flag(name: str, without: str, with_it: str) -> Callable[[Command], str]:
    return lambda command: with_it if command[name] else without


def _always(mode: str) -> Callable[[Command], str]:
    return lambda _: mode


_OVERWRITE = _flag("overwrite", "append", "overwrite")

WRITES: Mapping[str, Callable[[Command], str]] = {
    "AppendData": _always("append"),
    "CreateDataSourceTableAsSelectCommand": _stated,
    "CreateHiveTableAsSelectCommand": _stated,
    "CreateTableAsSelect": _flag("ignoreIfExists", "errorifexists", "ignore"),
    "DeltaDynamicPartitionOverwriteCommand": _always("overwrite"),
    "InsertIntoDataSourceCommand": _OVERWRITE,
    "InsertIntoDataSourceDirCommand": _OVERWRITE,
    "InsertIntoHadoopFsRelationCommand": _stated,
    "InsertIntoHiveDirCommand": _OVERWRITE,
    "InsertIntoHiveTable": _OVERWRITE,
    "OverwriteByExpression": _always("overwrite"),
    "OverwritePartitionsDynamic": _always("overwrite"),
    "ReplaceTableAsSelect": _always("replace"),
    "SaveAsV1TableCommand": _stated,
    "SaveIntoDataSourceCommand": _stated,
}
"""The commands that write the rows of a query as they are, each with the mode in which it does."""

TABLES = ("catalogTable", "table", "tableDesc", "logicalRelation", "name")
PATHS = ("outputPath", "storage")
FORMATS = ("fileFormat", "provider", "dataSource")
PARTITIONS = ("partitionColumns", "partitioning")
"""The fields of commands that say what a target has."""

WITHHELD = "a location that may hold secrets"


def target(command: Command | None) -> Target | None:
    """Where a command writes; None for what is no command that writes the rows of a query."""
    if command is None or command["class"] not in WRITES:
        return None
    table = _first(command, TABLES)
    described = table if isinstance(table, Mapping) else {"table": table}
    options = command.get("options") or {}
    name = described.get("table") or options.get("dbtable")
    path = _first(command, PATHS) or options.get("path")
    return Target(
        _name(name),
        None if name is not None or path is None else _shown(path),
        _first(command, FORMATS) or described.get("format"),
        WRITES[command["class"]](command),
        tuple(_first(command, PARTITIONS) or described.get("partitions") or ()),
        _replaces(command),
    )


DYNAMIC_BY_SETTING = ("InsertIntoHadoopFsRelationCommand", "SaveIntoDataSourceCommand")
"""Commands that the session tells whether only partitions of new rows are overwritten, where no option does."""

DYNAMIC_BY_OPTION = {"delta": "partitionoverwritemode", "iceberg": "overwrite-mode"}
"""Sources that overwrite only partitions of new rows where an option says so, though Spark has them overwrite all."""


def _replaces(command: Command) -> str | None:
    """Which rows a command that overwrites replaces, where these aren't all."""
    options = {**(command.get("options") or {}), **(command.get("writeOptions") or {})}
    if condition := options.get("replacewhere"):
        return str(condition)
    if command["class"] == "OverwriteByExpression":
        condition = command.get("deleteExpr")
        return _replaces_of_all(command, options) if condition in (None, "true") else str(condition)
    if command["class"] in ("DeltaDynamicPartitionOverwriteCommand", "OverwritePartitionsDynamic"):
        return PARTITIONS_OF_ROWS
    if command["class"] not in DYNAMIC_BY_SETTING or WRITES[command["class"]](command) != "overwrite":
        return None
    mode = options.get("partitionoverwritemode") or command.get("partitionOverwriteMode") or ""
    if mode.lower() != "dynamic":
        return None
    if command["class"] == "InsertIntoHadoopFsRelationCommand":
        return PARTITIONS_OF_ROWS if command.get("partitionColumns") else None
    return PARTITIONS_IF_ANY


def _replaces_of_all(command: Command, options: Mapping[str, str]) -> str | None:
    """Which rows a source replaces of a table where Spark has it overwrite all."""
    source = str(command.get("source", "")).lower()
    of_session = command.get("partitionOverwriteMode") if source == "delta" else None
    mode = options.get(DYNAMIC_BY_OPTION.get(source, "")) or of_session or ""
    if mode.lower() != "dynamic" or command.get("isPartitioned") is False:
        return None
    return PARTITIONS_OF_ROWS if command.get("isPartitioned") else PARTITIONS_IF_ANY


def merged(targets: Sequence[Target]) -> Target:
    """One target of several commands, of which each ran the next: the outermost is first, and has the mode that the user chose."""
    table = _last([each.table for each in targets])
    return Target(
        table,
        None if table is not None else _last([each.path for each in targets]),
        _last([each.format for each in targets]),
        targets[0].mode,
        _last([each.partitioned_by for each in targets]) or (),
        _last([each.replaces for each in targets]),
    )


def _last(values: Sequence[Any]) -> Any:
    return next((value for value in reversed(values) if value), None)


def _first(command: Command, fields: Sequence[str]) -> Any:
    return next((command[field] for field in fields if command.get(field)), None)


def _name(name: str | Sequence[str] | None) -> str | None:
    if isinstance(name, str):
        return _shown(name) if "/" in name else name  # some sources call a table by its path
    return None if name is None else ".".join(map(identifier, name))


def _shown(path: str) -> str:
    try:
        return uri(path)
    except Unsupported:
        return WITHHELD
