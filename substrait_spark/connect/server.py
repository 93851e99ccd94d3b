"""What is asked of a Spark Connect server: its version, settings, and what its names are. No job is run there."""

from __future__ import annotations

import json
import logging
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pyspark.errors import AnalysisException, PySparkException

from ..catalyst.failures import failure_text
from ..errors import Unsupported, UnsupportedSessionError

Name = tuple[str, ...]
"""A name of a table by its parts: catalog, namespace, table."""

SESSION_CATALOG = "spark_catalog"


@dataclass(frozen=True)
class Table:
    """A table or view of the server, as `DESCRIBE TABLE EXTENDED` tells of it."""

    name: Name
    """Its own name, in the case in which it was made."""
    provider: str = ""
    partitions: tuple[str, ...] = ()
    view_text: str | None = None
    """The SQL text of a persistent view."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """The properties that Spark keeps of a view: the names and settings that its text was written under."""
    temporary: bool = False
    width: int | None = None
    """How many columns it has, where that is told."""


class Server:
    """The server of a Connect session. Names are looked up as the session's user may see them."""

    def __init__(self, session: Any) -> None:
        from pyspark.logger import PySparkLogger

        # What is known of a session ends with it.
        self._remote = weakref.ref(session)
        PySparkLogger.getLogger("SQLQueryContextLogger").addFilter(_is_told)

    @property
    def _session(self) -> Any:
        return self._remote()

    @property
    def version(self) -> str:
        """The version of the server's Spark."""
        with answers():
            return str(self._session.version)

    def settings(self) -> dict[str, str]:
        """The settings of Spark SQL that were set in the session or for the server."""
        from pyspark.sql.connect.proto import base_pb2

        ask = base_pb2.ConfigRequest.Operation(get_all=base_pb2.ConfigRequest.GetAll(prefix=SQL_SETTINGS))
        with answers():
            pairs = self._session.client.config(ask).pairs
        return {SQL_SETTINGS + key.removeprefix(SQL_SETTINGS): value for key, value in pairs if value is not None}

    def default_of(self, setting: str) -> str:
        """The value of a setting that has one, whether it was set or not."""
        with answers():
            return str(self._session.conf.get(setting))

    def place(self) -> tuple[str, tuple[str, ...]]:
        """The current catalog and namespace."""
        with answers():
            return self._session.catalog.currentCatalog(), tuple(
                namespace_parts(self._session.catalog.currentDatabase())
            )

    def table(self, name: Name, full: Name) -> Table:
        """What a name is, in full or as it is written; of one part, a temporary view goes before a table.

        Raises Unsupported where it is nothing.
        """
        with answers():
            try:
                answer = self._answer(f"DESCRIBE TABLE EXTENDED {quoted(name)} AS JSON")
            except AnalysisException as error:
                # Spark can't describe tables of other catalogs so, which have no more to tell than their columns.
                if NOT_FOUND in failure_text(error):
                    raise
                self.schema(full)
                return Table(full)
        return described(json.loads(answer))

    def columns(self, relations: Mapping[Name, Name]) -> list[Any]:
        """The fields of all columns of relations, by the names as they are asked for and as they are in full.

        Raises Unsupported where one is not what its full name says: where a temporary view hides it.
        """
        stars = ", ".join(f"{quoted(full)}.*" for full in relations.values())
        with answers():
            return list(self._select(stars, relations).schema.fields)

    def schemas(self, tables: Sequence[Table]) -> list[Any]:
        """The columns that reading each table gives, in one round trip where their numbers are known."""
        from pyspark.sql.types import StructType

        widths = [table.width for table in tables]
        if len(tables) < 2 or None in widths:
            return [self.schema(table.name) for table in tables]
        fields = iter(self.columns({table.name: table.name for table in tables}))
        schemas = [StructType(list(islice(fields, width))) for width in widths]
        if next(fields, None) is not None or [len(schema) for schema in schemas] != widths:
            # A table got or lost columns between two requests.
            return [self.schema(table.name) for table in tables]
        return schemas

    def schema(self, name: Name) -> Any:
        """The columns that reading a table gives."""
        with answers():
            return self._select("*", [name]).schema

    def files(self, read: Any) -> tuple[str, list[str], int]:
        """Of a read of files: the JSON of its columns' schema, the URIs of the files, and their size as Spark estimates it."""
        from pyspark.sql.connect.proto import base_pb2

        client = self._session.client
        plan = base_pb2.Plan(root=read)
        with answers():
            schema, uris = client.schema(plan).json(), list(client._analyze("input_files", plan=plan).input_files)
            return schema, uris, (self._leaf_sizes(plan) or [LARGEST])[-1]

    def sizes(self, names: Sequence[Name]) -> list[int]:
        """The bytes of tables as Spark estimates them, which its optimizer goes by."""
        if not names:
            return []
        with answers():
            sizes = self._leaf_sizes(self._select("*", names)._plan.to_proto(self._session.client))
        if len(sizes) == len(names):
            return sizes
        # Spark knows of an empty table, for one, that nothing is to be read at all.
        return [LARGEST] if len(names) == 1 else [size for name in names for size in self.sizes([name])]

    def _leaf_sizes(self, plan: Any) -> list[int]:
        return leaf_sizes(self._session.client._analyze("explain", plan=plan, explain_mode="cost").explain_string)

    @property
    def is_here(self) -> bool:
        """Whether the server runs on this machine, and its files are this machine's."""
        host = str(getattr(self._session.client._builder, "host", ""))
        return host in LOOPBACK

    def functions(self, names: Sequence[str]) -> dict[str, str | None]:
        """The classes of functions by name, None where a function has none."""
        if not names:
            return {}
        with answers():
            listed = self._session.catalog.listFunctions(pattern="|".join(names))
        return {function.name: function.className for function in listed}

    def _answer(self, statement: str) -> str:
        """The only value that a statement answers: as the server's commands are, it comes without a job, in one round trip."""
        from pyarrow import ipc
        from pyspark.sql.connect.plan import SQL

        client = self._session.client
        _, properties, *_ = client.execute_command(SQL(statement, [], {}, []).command(client))
        with ipc.open_stream(properties["sql_command_result"].local_relation.data) as stream:
            return str(stream.read_all().column(0)[0].as_py())

    def _select(self, columns: str, names: Iterable[Name]) -> Any:
        """A frame of the columns of these tables, which is not run."""
        from pyspark.sql.connect.dataframe import DataFrame
        from pyspark.sql.connect.plan import SQL

        # In so many words, because spark.sql.crossJoin.enabled may forbid products that only a comma says.
        tables = " CROSS JOIN ".join(map(quoted, names))
        return DataFrame(SQL(f"SELECT {columns} FROM {tables}", [], {}, []), self._session)  # noqa: S608


SQL_SETTINGS = "spark.sql."

LOST = ("[INVALID_HANDLE", "[RETRIES_EXCEEDED", "[SESSION_")
"""Beginnings of what the client says where there is no server or no session any more."""

LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")

NOT_FOUND = "NOT_FOUND"
"""What Spark's conditions have in common that say that there is no such table, namespace or catalog."""


@contextmanager
def answers() -> Iterator[None]:
    """Tells what the server refuses as Unsupported, and where it doesn't answer, as UnsupportedSessionError.

    What a server says may hold its address, and an address may hold a token: only the kind of the failure is repeated.
    """
    asking = _ASKING.set(True)
    try:
        yield
        return
    except (PySparkException, OSError, ValueError) as error:
        told = failure_text(error)
        if isinstance(error, AnalysisException) or (told.startswith("[") and not told.startswith(LOST)):
            failure: Exception = Unsupported(f"Spark itself can't plan it: {told}")
        else:
            failure = UnsupportedSessionError(
                f"The Spark Connect server doesn't answer ({told}): is its session still there?"
            )
    finally:
        _ASKING.reset(asking)
    raise failure


_ASKING: ContextVar[bool] = ContextVar("asking", default=False)
"""Whether the server is asked for something that it may refuse, so that PySpark's client need not log that it did."""


def _is_told(record: logging.LogRecord) -> bool:
    return not _ASKING.get()


def described(answer: Mapping[str, Any]) -> Table:
    """The table that the JSON of DESCRIBE TABLE EXTENDED tells of (Spark's DescribeRelationJsonCommand)."""
    catalog = answer.get("catalog_name")
    namespace = answer.get("namespace") or []
    if catalog in (None, "system") or not namespace:
        return Table((answer["table_name"],), temporary=True)
    name = (catalog, *namespace, answer["table_name"])
    width = len(answer.get("columns") or ()) or None
    if answer.get("type") != "VIEW":
        provider, partitions = str(answer.get("provider") or ""), tuple(answer.get("partition_columns") or ())
        return Table(name, provider, partitions, width=width)
    return Table(name, view_text=answer["view_text"], properties=view_properties(answer), width=width)


def view_properties(answer: Mapping[str, Any]) -> dict[str, str]:
    """The properties of a view in Spark's catalogs (Spark's CatalogTable.viewCatalogAndNamespace and its neighbours)."""
    place = namespace_parts(answer.get("view_catalog_and_namespace") or "")
    columns = answer.get("view_query_output_columns") or []
    settings = answer.get("view_creation_spark_configuration") or {}
    return {
        "view.catalogAndNamespace.numParts": str(len(place)),
        **{f"view.catalogAndNamespace.part.{index}": part for index, part in enumerate(place)},
        "view.query.out.numCols": str(len(columns)),
        **{f"view.query.out.col.{index}": column for index, column in enumerate(columns)},
        **{f"view.sqlConfig.{key}": value for key, value in settings.items()},
        "view.schemaMode": str(answer.get("view_schema_mode") or "BINDING"),
    }


UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

ESTIMATE = re.compile(r"^([ :+-]*).*Statistics\(sizeInBytes=([\d.]+(?:E\+?\d+)?) (\w+)", re.MULTILINE)
"""A node of a plan: what it is indented by, and its size."""

LARGEST = 2**63 - 1


def leaf_sizes(text: str) -> list[int]:
    """The sizes of the relations at the bottom of a plan, from the text of `explain` in its mode "cost", to two digits."""
    nodes = [(len(indent), _bytes(number, unit)) for indent, number, unit in ESTIMATE.findall(text)]
    deeper = [depth for depth, _ in nodes[1:]] + [0]
    return [size for (depth, size), following in zip(nodes, deeper, strict=False) if following <= depth]


def _bytes(number: str, unit: str) -> int:
    return min(LARGEST, int(float(number) * 1024 ** UNITS.index(unit))) if unit in UNITS else LARGEST


def quoted(name: Name) -> str:
    """A name in SQL text, whatever its parts are."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in name)


def namespace_parts(text: str) -> list[str]:
    """The parts of a name in SQL text, as Spark writes it: a part is in backticks where it must be."""
    parts: list[str] = []
    rest = text
    while rest:
        if rest.startswith("`"):
            end = 1
            while rest[end] != "`" or rest[end + 1 : end + 2] == "`":
                end += 2 if rest[end] == "`" else 1
            parts.append(rest[1:end].replace("``", "`"))
            rest = rest[end + 2 :]
        else:
            part, _, rest = rest.partition(".")
            parts.append(part)
    return parts
