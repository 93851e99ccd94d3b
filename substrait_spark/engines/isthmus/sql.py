"""SQL of a plan, in a database's words."""

from __future__ import annotations

from collections.abc import Collection

from substrait.algebra_pb2 import FetchRel, ReadRel
from substrait.plan_pb2 import Plan

from ...algebra import relation
from ...algebra.message_walk import messages
from ...api import lower
from ...dialects.file import load
from ...errors import InvalidPlanError, PlanningError
from ...extensions import registry
from ...lowering.older_forms import written_for
from ...plan.message import build
from ...reading.plan import read_plan
from . import converter

DIALECTS = {"duckdb": "isthmus", "postgresql": "isthmus-postgresql"}
"""The databases whose rows were compared, and the dialects whose forms become their SQL."""

DATABASES = tuple(DIALECTS)

SESSION_CATALOG, DEFAULT_SCHEMA = "spark_catalog", "default"
"""The parts of a table's name that say that it is one of the session's own."""


ALL_ROWS = -1
"""The count that Isthmus takes for no limit."""


FILES = (
    "The plan reads files, and SQL names tables alone: save them as a table, or a view of the database, and make the plan of that "
    "table with reads='tables'."
)


def to_sql(plan: Plan, database: str = "duckdb", *, accept: Collection[str] = ()) -> str:
    """The query, in the words of a database, that gives the rows of a plan.

    The plan is put into the forms of the database's dialect (`isthmus` for DuckDB, `isthmus-postgresql`), with what `accept` names, as
    `lower` does it; one that calls functions of these forms is in them. So what a plan of the dialect accepts is named here again.
    Tables go by the names that the plan has, without Spark's own catalog and its schema `default`: `sales`, or `"eu"."sales"`.

    Raises UnsupportedPlanError with all that the dialect has no form for; PlanningError where a plan reads files, and where Isthmus has no SQL
    for it; ValueError for another database; SubstraitSparkError where the archives of Isthmus are missing (`fetch()` brings them), or
    Java is.
    """
    if database not in DATABASES:
        raise ValueError(f"database must be {' or '.join(map(repr, DATABASES))}, not {database!r}.")
    dialect = load(DIALECTS[database])
    is_lowered = any(entry.urn == registry.urn(own_functions(database)) for entry in plan.extension_urns)
    return query(plan if is_lowered else lower(plan, dialect, accept=accept), database)


def own_functions(database: str) -> str:
    """The alias of the functions that a database has by names of its own, and no canonical plan calls."""
    return DIALECTS[database].replace("-", "_")


def query(plan: Plan, database: str) -> str:
    """The query of a plan that is in the forms of the database's dialect. Raises as `to_sql` does."""
    read = read_plan(plan)
    if read.root is None or read.problems:
        raise InvalidPlanError(
            f"The plan can't be read: {read.problems[0].reason if read.problems else 'it has no root'}."
        )
    written = build(read.root, read.names)
    for message in messages(written):
        if isinstance(message, ReadRel) and message.HasField("local_files"):
            raise PlanningError(FILES)
        if isinstance(message, ReadRel.NamedTable):
            _leave_out_session(message)
        if isinstance(message, ReadRel.VirtualTable):
            _leave_out_nullability(message)
        if isinstance(message, FetchRel):
            _take_all(message)
    form = written_for(load(DIALECTS[database]), written).SerializeToString()
    return converter.sql(form, database, registry.source(own_functions(database)))


def _leave_out_nullability(table: ReadRel.VirtualTable) -> None:
    """Say that values which are not null can't be: Isthmus takes nullable texts in rows for casts, and then fails."""
    for row in table.expressions:
        for cell in row.fields:
            if cell.WhichOneof("rex_type") == "literal" and cell.literal.WhichOneof("literal_type") != "null":
                cell.literal.nullable = False


def _take_all(fetch: FetchRel) -> None:
    """Say that a fetch has no limit as Isthmus has it: any number of more than 32 bits it refuses."""
    if not fetch.HasField("count_expr") or fetch.count_expr.literal.i64 == relation.ALL_ROWS:
        fetch.count_expr.literal.i64 = ALL_ROWS


def _leave_out_session(table: ReadRel.NamedTable) -> None:
    names = list(table.names)
    if len(names) > 1 and names[0] == SESSION_CATALOG:
        del names[0]
        if len(names) > 1 and names[0] == DEFAULT_SCHEMA:
            del names[0]
    table.names[:] = names
