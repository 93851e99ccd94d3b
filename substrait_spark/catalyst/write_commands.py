"""What commands change: how each of Spark's is said of a table, a view or a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..algebra.expression import Expression
from ..algebra.types import Type
from ..algebra.write import Behavior, Options, Storage, Target
from ..errors import Unsupported
from .locations import uri
from .source_options import HARMLESS_OPTIONS

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_NAME_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


class Session(NamedTuple):
    """What commands take from the session."""

    file_system: str | None
    """Where paths are that name no file system; None where nobody knows."""
    dynamic: bool
    """Whether only the partitions of new rows are overwritten."""


Command = Mapping[str, Any]
"""A command's class, and its fields by name (StatementReader.java says which)."""


class Change(NamedTuple):
    """What a command does: to the rows of a table where `object` is empty, else to a TABLE or a VIEW itself."""

    op: str
    target: Target
    object: str = ""
    create_mode: str = ""
    names: tuple[str, ...] = ()
    """The names of a view's columns, where these are not the query's."""
    where: bool = False
    """Whether only some rows of the table are overwritten: which, the statement says (`Statement.change`)."""
    condition: str = ""
    """Which rows of the table are overwritten, as SQL, where a writer says it."""
    schema: tuple[Type, ...] | None = None
    """The types of the table's columns, where these are known."""

    def replacing(self, condition: Expression, schema: Sequence[Type]) -> Change:
        """The same change, which overwrites the rows for which a condition over the table's columns is true."""
        behavior = self.target.behavior._replace(replace_where=condition)
        return self._replace(target=self.target._replace(behavior=behavior), schema=tuple(schema))


def change(command: Command, session: Session) -> Change:
    """What a command changes. Raises `Unsupported` for what has no plan."""
    name = command["class"]
    if name not in CHANGES:
        raise Unsupported(REFUSED.get(name, OTHER), HINT)
    return CHANGES[name]({**command, "session": session})


OTHER = "Substrait has no relation for this command"

HINT = "Run it in Spark, or export the query whose rows it uses."

NO_CHANGES = "the source of its table can't change rows, in Spark either"

EVOLVES = ("which columns the table gets by schema evolution is in no plan", "Add them before.")

NO_DEFAULT = "it changes more of a column than its default value, and no plan has a column's comment"

REFUSED = {
    "RenameColumn": "a plan has the columns after the change, which don't tell a column of a new name from a new one",
    "ReplaceColumns": "a plan has the columns after the change, which don't tell new ones from those that stay",
    "Union": "it inserts into several tables at once, and a plan has one root",
    "CreateTempViewUsing": "the columns of its files are found when it runs",
}
"""Commands without a plan, and why, where there is more to say than that Substrait has no relation for them."""

MODES = {"ErrorIfExists": "ERROR", "Ignore": "IGNORE", "Overwrite": "REPLACE", "Append": "APPEND"}
"""Spark's save modes as the specification calls them."""


def options(given: Mapping[str, str | None]) -> Options:
    """Options that a plan may name, in their order. Raises `Unsupported` for one whose value may be a secret."""
    kept = []
    for name, value in sorted((name.lower(), value) for name, value in given.items()):
        if name in ("path", "serialization.format"):
            continue
        if name not in HARMLESS_OPTIONS or value is None:
            raise Unsupported(
                f"its option {name} may hold a secret, which no plan may hold", "Set it in Spark's configuration."
            )
        kept.append((name, value))
    return tuple(kept)


def _location(location: str | None, file_system: str | None) -> str:
    """The URI of a folder; in the session's file system where it names none."""
    if location is None:
        return ""
    if _SCHEME.match(location):
        return uri(location)
    if not location.startswith("/"):
        raise Unsupported("its path is relative to a folder that no plan names", "Give the whole path.")
    if file_system is None:
        raise Unsupported("its path names no file system", "Give the path with it: file:/… or s3a://….")
    return uri(f"file:{location}" if file_system.startswith("file:") else file_system.rstrip("/") + location)


def _without_properties(properties: Mapping[str, str]) -> None:
    if properties:
        raise Unsupported(
            f"its properties ({', '.join(sorted(properties))}) are in no plan, since they may hold secrets",
            "Leave TBLPROPERTIES out, and set them in Spark.",
        )


def _stored(table: Command, session: Session) -> Storage:
    """How a table of the session's catalog is stored."""
    _without_properties(table.get("properties", {}))
    storage = table["storage"]
    buckets = table.get("bucketSpec", {})
    return Storage(
        table.get("provider", ""),
        _location(storage.get("locationUri"), session.file_system),
        options(storage.get("properties", {})),
        tuple(table["partitionColumnNames"]),
        buckets.get("numBuckets", 0),
        tuple(buckets.get("bucketColumnNames", ())),
        tuple(buckets.get("sortColumnNames", ())),
        table.get("comment", ""),
    )


def _specified(command: Command) -> Storage:
    """How a table of another catalog is stored, as far as it is said."""
    _without_write_options(command)
    table = command["tableSpec"]
    _without_properties(table.get("properties", {}))
    return Storage(
        table.get("provider", ""),
        _location(table.get("location"), command["session"].file_system),
        options(table.get("options", {})),
        tuple(command["partitioning"]),
        comment=table.get("comment", ""),
    )


def _without_write_options(command: Command) -> None:
    if given := command.get("writeOptions"):
        raise Unsupported(f"the options of the write ({', '.join(sorted(given))}) are in no plan", "Leave them out.")


def _insert_into_files(command: Command) -> Change:
    overwrites = command["mode"] == "Overwrite"
    static = command["staticPartitions"] if overwrites else {}
    mode = {name.lower(): value for name, value in command["options"].items()}.get("partitionoverwritemode")
    dynamic = mode.lower() == "dynamic" if mode is not None else command["session"].dynamic
    behavior = Behavior(
        overwrites,
        tuple(static.items()),
        overwrites and dynamic and len(static) < len(command["partitionColumns"]),
        command["ifPartitionNotExists"],
    )
    if "catalogTable" in command:
        return Change("INSERT", Target(tuple(command["catalogTable"]["identifier"]), behavior=behavior))
    storage = Storage(
        command["fileFormat"],
        _location(command["outputPath"], None),
        options(command["options"]),
        tuple(command["partitionColumns"]),
    )
    return Change("INSERT", Target((), storage, behavior))


def _insert_into_folder(command: Command) -> Change:
    storage = command["storage"]
    location = _location(storage["locationUri"], command["session"].file_system)
    target_storage = Storage(command["provider"], location, options(storage["properties"]))
    return Change("INSERT", Target((), target_storage, Behavior(command["overwrite"])))


def _insert_into_source(command: Command) -> Change:
    if "logicalRelation" not in command:
        raise Unsupported("what it writes to has no name", HINT)
    names = tuple(command["logicalRelation"]["identifier"])
    return Change("INSERT", Target(names, behavior=Behavior(command["overwrite"])))


def _append(command: Command) -> Change:
    return Change("INSERT", _named(command, Behavior()))


def _overwrite(command: Command) -> Change:
    return Change("INSERT", _named(command, Behavior(overwrite=True)), where=command.get("deleteExpr") is not True)


def _overwrite_partitions(command: Command) -> Change:
    return Change("INSERT", _named(command, Behavior(overwrite=True, dynamic_partitions=True)))


def _named(command: Command, behavior: Behavior) -> Target:
    _without_write_options(command)
    if command.get("withSchemaEvolution"):
        raise Unsupported(*EVOLVES)
    if "table" not in command:
        raise Unsupported("what it writes to has no name", HINT)
    return Target(tuple(command["table"]), behavior=behavior)


def _create_as_select(command: Command) -> Change:
    table = command["table"]
    return Change(
        "CTAS",
        Target(tuple(table["identifier"]), _stored(table, command["session"])),
        create_mode=MODES[command["mode"]],
    )


def _create_named_as_select(command: Command) -> Change:
    mode = "IGNORE" if command["ignoreIfExists"] else "ERROR"
    return Change("CTAS", Target(tuple(command["name"]), _specified(command)), create_mode=mode)


def _replace_as_select(command: Command) -> Change:
    _require_or_create(command)
    return Change("CTAS", Target(tuple(command["name"]), _specified(command)), create_mode="REPLACE")


def _create(command: Command) -> Change:
    _require_plain_columns(command)
    table, behavior = command["table"], Behavior(if_not_exists=command["ignoreIfExists"])
    storage = _of_columns(command, _stored(table, command["session"]))
    return Change("CREATE", Target(tuple(table["identifier"]), storage, behavior), "TABLE")


def _create_named(command: Command) -> Change:
    _require_plain_columns(command)
    behavior = Behavior(if_not_exists=command["ignoreIfExists"])
    storage = _of_columns(command, _specified(command))
    return Change("CREATE", Target(tuple(command["name"]), storage, behavior), "TABLE")


def _replace(command: Command) -> Change:
    _require_plain_columns(command)
    _require_or_create(command)
    storage = _of_columns(command, _specified(command))
    return Change("CREATE_OR_REPLACE", Target(tuple(command["name"]), storage), "TABLE")


def _of_columns(command: Command, storage: Storage) -> Storage:
    """How a table is stored, with the comments of its columns."""
    return storage._replace(column_comments=tuple(command["comments"].items()))


def _require_or_create(command: Command) -> None:
    if not command["orCreate"]:
        raise Unsupported(
            "Substrait has no mode that replaces a table only if it exists", "Write CREATE OR REPLACE TABLE."
        )


def _require_plain_columns(command: Command) -> None:
    if marked := command["marked"]:
        raise Unsupported(
            f"its columns {', '.join(marked)} are generated, or have comments or texts of limited length inside, which is in no plan",
            "Leave that out.",
        )


TEMPORARY = {"LocalTempView": "session", "GlobalTempView": "global", "PersistedView": ""}


def _create_view(command: Command) -> Change:
    _without_properties(command["properties"])
    behavior = Behavior(if_not_exists=command["allowExisting"], temporary=TEMPORARY[command["viewType"]])
    columns = command["userSpecifiedColumns"]
    names = tuple(column["_1"] for column in columns)
    comments = tuple((column["_1"], column["_2"]) for column in columns if "_2" in column)
    target = Target(
        tuple(command["name"]), Storage(comment=command.get("comment", ""), column_comments=comments), behavior
    )
    return Change("CREATE_OR_REPLACE" if command["replace"] else "CREATE", target, "VIEW", names=names)


def _alter_view(command: Command) -> Change:
    names = tuple(command["name"])
    temporary = "session" if len(names) == 1 else ""
    return Change("ALTER", Target(names, behavior=Behavior(temporary=temporary)), "VIEW")


def _alter(table: str) -> Callable[[Command], Change]:
    def altered(command: Command) -> Change:
        _require_plain_columns(command)
        if any("newComment" in each or "comment" in each for each in (command, *command.get("specs", ()))):
            raise Unsupported("comments of columns are in no plan", "Leave the comment out.")
        return Change("ALTER", Target(tuple(command[table])), "TABLE")

    return altered


def _drop(names: str, object: Callable[[Command], str], temporary: str = "") -> Callable[[Command], Change]:
    def dropped(command: Command) -> Change:
        op = "DROP_IF_EXIST" if command.get("ifExists") else "DROP"
        behavior = Behavior(purge=command.get("purge", False), temporary=temporary)
        return Change(op, Target(tuple(command[names]), behavior=behavior), object(command))

    return dropped


CHANGES: Mapping[str, Callable[[Command], Change]] = {
    "AddColumns": _alter("table"),
    "AlterColumn": _alter("table"),
    "AlterColumns": _alter("table"),
    "AlterTableAddColumnsCommand": _alter("table"),
    "AlterTableChangeColumnCommand": _alter("tableName"),
    "AlterViewAsCommand": _alter_view,
    "AppendData": _append,
    "CreateDataSourceTableAsSelectCommand": _create_as_select,
    "CreateDataSourceTableCommand": _create,
    "CreateTable": _create_named,
    "CreateTableAsSelect": _create_named_as_select,
    "CreateViewCommand": _create_view,
    "DeltaDynamicPartitionOverwriteCommand": _overwrite_partitions,
    "DropColumns": _alter("table"),
    "DropTable": _drop("child", lambda _: "TABLE"),
    "DropTableCommand": _drop("tableName", lambda command: "VIEW" if command["isView"] else "TABLE"),
    "DropTempViewCommand": _drop("ident", lambda _: "VIEW", "session"),
    "DropView": _drop("child", lambda _: "VIEW"),
    "InsertIntoDataSourceCommand": _insert_into_source,
    "InsertIntoDataSourceDirCommand": _insert_into_folder,
    "InsertIntoHadoopFsRelationCommand": _insert_into_files,
    "OverwriteByExpression": _overwrite,
    "OverwritePartitionsDynamic": _overwrite_partitions,
    "ReplaceTable": _replace,
    "ReplaceTableAsSelect": _replace_as_select,
}
"""How Spark's commands are said."""

SAVE_MODES = {
    "append": "APPEND",
    "error": "ERROR",
    "errorifexists": "ERROR",
    "ignore": "IGNORE",
    "overwrite": "REPLACE",
}
"""The modes of DataFrame writers as the specification calls them."""


class Saving(NamedTuple):
    """What a DataFrame writer is told: to save as a table of a name, or in a folder without one."""

    mode: str
    names: tuple[str, ...]
    path: str | None
    format: str
    partition_by: tuple[str, ...]
    options: Mapping[str, str]


def saving(writer: Saving, session: Session) -> Change:
    """What a DataFrame writer changes. Raises `Unsupported` for what no plan says."""
    given = {name.lower(): value for name, value in writer.options.items()}
    overwritten = given.pop("partitionoverwritemode", "dynamic" if session.dynamic else "static").lower()
    if (condition := given.pop("replacewhere", None)) is not None:
        return _saving_some(writer, condition, given)
    storage = Storage(writer.format, _location(writer.path, session.file_system), options(given), writer.partition_by)
    create_mode = SAVE_MODES[writer.mode]
    by_partition = create_mode == "REPLACE" and overwritten == "dynamic"
    if writer.format.lower() != "delta":
        by_partition = by_partition and not writer.names and bool(writer.partition_by)
    elif by_partition and not writer.partition_by:
        raise Unsupported(
            "only the partitions of its rows are overwritten, if what is there has any, which is not said",
            "Say what it is partitioned by, or overwrite all of it (partitionOverwriteMode static).",
        )
    return Change(
        "CTAS", Target(writer.names, storage, Behavior(dynamic_partitions=by_partition)), create_mode=create_mode
    )


def _saving_some(writer: Saving, condition: str, given: Mapping[str, str]) -> Change:
    """What Delta's writer does with replaceWhere, for tables that are there: what `INSERT … REPLACE WHERE` does."""
    if writer.format.lower() != "delta" or SAVE_MODES[writer.mode] != "REPLACE" or not writer.names:
        raise Unsupported(
            "replaceWhere is known of tables of Delta's that are overwritten",
            "Give the table, format='delta' and mode='overwrite'.",
        )
    if given:
        raise Unsupported(f"its options {', '.join(sorted(given))} are in no plan with replaceWhere", "Leave them out.")
    return Change("INSERT", Target(writer.names, behavior=Behavior(overwrite=True)), condition=condition)


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a table's name as SQL writes it, in backticks where need be. Raises ValueError for what is none."""
    parts = list(_NAME_PART.finditer(name))
    if ".".join(part[0] for part in parts) != name or not parts:
        raise ValueError(f"{name!r} is no name of a table: put a part with other characters in backticks")
    return tuple(part[2] or part[1].replace("``", "`") for part in parts)
