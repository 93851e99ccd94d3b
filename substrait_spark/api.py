"""What users call to make a plan, or to lower one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from .catalyst import reader
from .catalyst.session import is_connect, require_classic_session, require_dataframe, require_running
from .errors import Problem, SubstraitSparkError, Unsupported, UnsupportedPlanError, kind_of
from .plan.options import FrameOptions, QueryOptions, StatementOptions, takes
from .report import Report
from .statements.captured import Capture, CapturedQueries

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType
    from substrait.extended_expression_pb2 import ExtendedExpression
    from substrait.plan_pb2 import Plan
    from typing_extensions import Unpack

    from .context import Settings, WriteRoot
    from .dialects import Dialect
    from .user_functions.declared import UserFunction


@takes(FrameOptions)
def df_to_substrait(
    df: DataFrame,
    **options: Unpack[FrameOptions],
) -> Plan:
    """The Substrait plan of a DataFrame: `substrait.proto.Plan`, version 0.106.

    `dialect` is None for the specification's canonical forms, the name of a built-in dialect (`"datafusion"`), the path of
    a dialect file, or a dialect that `substrait_spark.dialects.load` has loaded. `reads` is `"auto"` (catalog tables by
    name, paths as files), `"files"` or `"tables"`. `inline_limit` is how many rows of local data may be written into the
    plan. A read of more than `list_files` files names complete folders by one pattern each, in place of their files; None
    lists all files. `local_data` is a folder for local data of more rows than `inline_limit`: they are written there as Parquet
    files, which the plan reads; without it they are refused. `stage` is `"optimized"` for the plan that Spark's optimizer
    makes, or `"analyzed"` for the query as it was written, which settings of the optimizer do not change. With
    `type_aliases`, each type with parameters that is in the plan several times is declared once, and referred to. With `detach`, expressions that nest deeper than readers of
    protobuf follow are stored apart from their relations (`PlanRel.detached_expressions`), which no engine reads yet. With `provenance`, the plan says
    what it was made of: Spark's version, the stage, and the session's settings that say what queries mean. With
    `share_subplans`, parts of a canonical plan that are the same, such as common table expressions that the optimizer has written
    out, are in it once, and referred to; plans of dialects have them written out. With `hints`, relations
    have hints (`RelCommon.hint`): how many rows of what size Spark knows them to have, in the analyzed stage what the query
    calls them, and its advice on joins and partitions. A Spark Connect frame is planned by the Spark that is installed
    here, which must be of the server's minor version, unless `allow_version_mismatch` is true. `functions` are your own that the
    plan may call by their names: what `udf`, `pandas_udf`, `arrow_udf` or `udf.register` returns, or that under another name by
    `declare_function`; and paths of extension files, which declare functions by names and types. Nothing of a function but its
    name gets into the plan. `accept` are concessions by their names, what may differ from Spark where there is a standard
    function for it then: `"decimal_rounding"`, `"overflow"` (docs/how-to/accept-differences.md says what each does, and what it
    never does). The plan says where one was used.

    Starts no Spark job, except to fetch the rows of a `createDataFrame`: at most `inline_limit + 1`, or all with `local_data`.

    Raises UnsupportedPlanError, which lists every obstacle, where the plan can't say exactly what the DataFrame
    means; FunctionError for functions that can't be declared; UnsupportedSessionError for stopped and too old sessions, and for Spark Connect servers that don't answer, or that no
    Spark is here for; DialectError for a dialect that is
    unknown or invalid.
    """
    plan, problems = _convert(df, options)
    if plan is None:
        raise UnsupportedPlanError(problems)
    return plan


@takes(StatementOptions)
def sql_to_substrait(
    spark: SparkSession,
    sql: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    **options: Unpack[StatementOptions],
) -> Plan:
    """The Substrait plan of a SQL statement, which is analysed in a session and not run. Further arguments as `df_to_substrait`.

    `parameters` gives the statement's named parameters (`:since`) their types, by name: a text of Spark's such as
    `"decimal(10,2)"`, with `not null` behind it for one that is never null, or a `DataType`. They are in the plan in this
    order, from 1, as `DynamicParameter`, open until it runs. In place of a type there may be a value of Python, or a literal
    column (`lit("tea")` for texts): then it is in the plan's `parameter_bindings`, and its type is what Spark has for it.

    Raises UnsupportedPlanError, which lists every obstacle, where the plan can't say exactly what the statement means, or
    Spark can't analyse it; UnsupportedSessionError for Spark Connect, stopped and too old sessions; DialectError for a
    dialect that is unknown or invalid; SubstraitSparkError for what is no session, and for a parameter that is neither a
    type nor a value.
    """
    require_classic_session(spark, IN_CONNECT)
    if not isinstance(sql, str):
        raise SubstraitSparkError(f"Give the statement as a text, not {kind_of(sql)}.")
    from .conversion import settings_of
    from .statements.convert import convert_statement

    settings = settings_of(**options)
    plan, problems = convert_statement(spark, sql, parameters or {}, settings)
    if plan is None:
        raise UnsupportedPlanError(problems)
    return plan


@takes(FrameOptions)
def write_to_substrait(
    df: DataFrame,
    *,
    table: str | None = None,
    path: str | Path | None = None,
    mode: str = "errorifexists",
    format: str | None = None,
    partition_by: str | Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    **asked: Unpack[FrameOptions],
) -> Plan:
    """The Substrait plan of what `df.write` would save, which writes nothing. Further arguments as `df_to_substrait`.

    The rows go to a `table`, as by `saveAsTable`, or to the folder `path`, as by `save`. `mode` is `"errorifexists"`, `"append"`,
    `"overwrite"` or `"ignore"`; `format` Spark's name of the format, which is the session's default if it is not given;
    `partition_by` the columns by whose values the rows are parted; `options` are those of the format. The plan is a `WriteRel`,
    and its table's name is the one that is given. With Delta's option `replaceWhere`, it is that of an `INSERT … REPLACE WHERE`, and
    the table must be there.

    Raises what `df_to_substrait` raises, ValueError unless there is either a table or a path, or for an unknown mode, and Spark's
    errors where `replaceWhere` is no condition over the table.
    """
    if (table is None) == (path is None):
        raise ValueError("give either a table or a path to write to")
    require_dataframe(df)
    from .catalyst.write_commands import SAVE_MODES, Saving, name_parts, saving

    if not isinstance(mode, str) or mode.lower() not in SAVE_MODES:
        raise ValueError(f"mode must be one of {', '.join(SAVE_MODES)}, not {mode!r}")
    if not is_connect(df):
        require_running(df)
    names = () if table is None else name_parts(table)
    from .statements.convert import finishing_replaced, finishing_saved, session_of_writes

    try:
        default, session = session_of_writes(df)
        writer = Saving(
            mode.lower(),
            names,
            None if path is None else str(path),
            format or default,
            (partition_by,) if isinstance(partition_by, str) else tuple(partition_by),
            {name: str(value) for name, value in (options or {}).items()},
        )
        said = saving(writer, session)
        finish, problems = (
            finishing_replaced(df, said, _settings(asked)) if said.condition else (finishing_saved(said), ())
        )
    except Unsupported as problem:
        raise UnsupportedPlanError(
            [Problem("the write", "DataFrameWriter", "df.write", problem.reason, problem.hint)]
        ) from None
    if finish is None:
        raise UnsupportedPlanError(problems)
    plan, problems = _convert(df, asked, finish)
    if plan is None:
        raise UnsupportedPlanError(problems)
    return plan


IN_CONNECT = (
    "This is a Spark Connect session, whose statements are analysed on the server, out of reach. Give a classic session, "
    "for example SparkSession.builder.master('local[*]'), or, for a query, df_to_substrait(spark.sql(…))."
)


@takes(FrameOptions)
def check(
    df: DataFrame,
    **options: Unpack[FrameOptions],
) -> Report:
    """Every obstacle between a DataFrame and its plan; true when there is none. Arguments as `df_to_substrait`.

    Of a plan that can be made, it also says what an engine needs for it beyond the specification, and for which values the plan of
    a dialect raises an error where Spark has a result, and each place where a concession was used. Nothing is written into the
    folder of `local_data`.

    Raises what `df_to_substrait` raises, but for UnsupportedPlanError.
    """
    plan, problems = _convert(df, options, writes=False)
    if plan is None:
        return Report(tuple(problems))
    from .plan.concessions import uses_in
    from .plan.required_extensions import beyond_specification
    from .plan.unread_values import unread_values

    return Report(beyond=beyond_specification(plan), unread=unread_values(plan), conceded=tuple(uses_in(plan)))


@takes(QueryOptions)
@contextmanager
def capture(
    spark: SparkSession,
    **options: Unpack[QueryOptions],
) -> Iterator[CapturedQueries]:
    """The queries that a block of code runs in a session: `with capture(spark) as queries`. Arguments as `df_to_substrait`.

    The value is a sequence of `CapturedQuery`, one for each action, in the order in which they began, from any thread: what
    was collected, counted or shown, and the query below each write, in whatever form. It is complete after the block; read
    within it, it has the actions that have ended. An action that still runs when the block ends is not in it, nor is one of
    another session (`spark.newSession()`), what leaves Spark SQL (`df.rdd`, `df.foreach`), or what is streaming.

    What stands in a plan's way is in its `problems`. Once the block has begun, nothing is raised but what the block raises.
    Plans are made when the list is read or the block ends, of what Spark kept of each action as it ended: its logical plan,
    its files and its settings. Rows of a `createDataFrame` are fetched then too, so the session has to be there.

    Raises UnsupportedSessionError for Spark Connect, stopped and too old sessions; DialectError for a dialect that is
    unknown or invalid; SubstraitSparkError for what is no session.
    """
    require_classic_session(spark, RUNS_IN_CONNECT)
    from .conversion import settings_of

    settings = settings_of(**options)
    capturing = Capture(settings)
    capturing.listen(spark)
    try:
        yield capturing.queries
    finally:
        capturing.stop()


RUNS_IN_CONNECT = (
    "This is a Spark Connect session: what runs in it is told on the server, out of reach. "
    "Run the job in a classic session, for example SparkSession.builder.master('local[*]')."
)


def expressions_to_substrait(
    df_or_schema: DataFrame | StructType | str,
    expressions: Mapping[str, Column | str],
    *,
    dialect: str | Path | Dialect | None = None,
    detach: bool = False,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
    allow_version_mismatch: bool = False,
) -> ExtendedExpression:
    """Expressions by themselves, over the columns of a schema: `substrait.proto.ExtendedExpression`, version 0.106.

    `expressions` are Columns, or SQL text of one each, by the names that they get: scalar expressions, and aggregates, each of
    which is one measure. The schema is that of a DataFrame, of which nothing else matters, or a `StructType`, or one in
    words such as `"price double, item string"`; for these, the active session settles what expressions mean. `dialect`, `functions`, `accept`
    and `allow_version_mismatch` are as for `df_to_substrait`. With `detach`, what nests deeper than readers of protobuf follow is
    stored apart (`ExtendedExpression.detached_expressions`). Starts no Spark job.

    Raises UnsupportedPlanError, which lists every obstacle, with the name of the expression; UnsupportedSessionError and
    DialectError as `df_to_substrait` does; ValueError where there is no expression, and TypeError for what is none.
    """
    from .dialects.asked import asked_dialect
    from .extended.api import convert
    from .user_functions.declared import UserFunctions

    given = UserFunctions(functions)
    return convert(
        df_or_schema,
        expressions,
        asked_dialect(dialect, given.named, accept),
        detach=detach,
        functions=given,
        allow_version_mismatch=allow_version_mismatch,
    )


@overload
def lower(
    plan: Plan, dialect: str | Path | Dialect, *, functions: Iterable[Any] = (), accept: Collection[str] = frozenset()
) -> Plan: ...
@overload
def lower(
    plan: ExtendedExpression,
    dialect: str | Path | Dialect,
    *,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
) -> ExtendedExpression: ...
def lower(
    plan: Plan | ExtendedExpression,
    dialect: str | Path | Dialect,
    *,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
) -> Plan | ExtendedExpression:
    """A canonical plan in the forms of an engine: the same meaning, for a consumer that supports what the dialect lists.
    Likewise an extended expression.

    The plan may be `df_to_substrait`'s or another producer's: any plan of one root relation whose parts are read
    (docs/design.md says how). A plan of `df_to_substrait`'s that calls an engine's own functions is lowered already, and is
    refused, since what keeps the engine from its defects would be in it twice. `dialect`, `functions` and `accept` are as for
    `df_to_substrait`; what concessions were used for the plan before, it says again.

    Raises UnsupportedPlanError, which lists every obstacle by its place in the plan; DialectError for a dialect that is
    unknown or invalid; TypeError where `plan` is no such message.
    """
    from substrait.plan_pb2 import Plan as Message

    from .dialects.asked import asked_dialect
    from .extended.lowering import lower_expressions
    from .extended.plans import is_extended_expression
    from .lowering.plan import lower_plan
    from .reading.encodings import in_force
    from .testing.structure import structural_problems
    from .user_functions.declared import UserFunctions

    given = UserFunctions(functions)
    wanted = asked_dialect(dialect, given.named, accept)
    lowered: Plan | ExtendedExpression | None
    if is_extended_expression(plan):
        lowered, problems = lower_expressions(plan, wanted, given)
    elif isinstance(plan, Message):
        lowered, problems = lower_plan(plan, wanted, given)
    else:
        raise TypeError(f"plan must be a substrait.plan_pb2.Plan or an ExtendedExpression, not {kind_of(plan)}")
    if lowered is None:
        raise UnsupportedPlanError(problems)
    if wrong := structural_problems(in_force(lowered)):
        # What another producer left wrong, and no rule has met.
        raise UnsupportedPlanError(
            [Problem("the plan", "Plan", "Plan", f"it is not well-formed: {problem}", NOT_OURS) for problem in wrong]
        )
    return lowered


def declare_function(function: Any, *, name: str | None = None, urn: str | None = None) -> UserFunction:
    """A function of Spark's, under the name and the URN that plans have for it: it stands in `functions=` in the function's place.

    `function` is what `udf`, `pandas_udf`, `arrow_udf` or `udf.register` has returned. Without a name, plans have the function's
    own; without a URN, `extension:<name>:functions`.

    Raises FunctionError where the name is none for a function, as `<lambda>`, or that of a standard one; TypeError for what is
    no such function.
    """
    from .user_functions.declared import declare_function as declared

    return declared(function, name=name, urn=urn)


def write_extension_file(path: str | Path, plan: Plan, functions: Iterable[Any]) -> list[Path]:
    """Write the Substrait extension files that declare the functions of one's own that a plan calls; returns their paths.

    They tell whoever implements an engine the names, argument types and result types; `functions` are as for
    `df_to_substrait`. A file has one URN: for functions of several, `path` is a folder, in which each URN gets a file.

    Raises FunctionError where the plan calls none of the functions, or those of several URNs and `path` is a file; InvalidPlanError
    for a plan that can't be read.
    """
    from .user_functions.declared import UserFunctions
    from .user_functions.extension_file import written

    return written(path, plan, UserFunctions(functions))


NOT_OURS = "Ask the producer of the plan for one that keeps to the specification."


def _settings(asked: FrameOptions, *, writes: bool = False) -> Settings:
    from .conversion import settings_of

    wanted: dict[str, Any] = {name: value for name, value in asked.items() if name != "allow_version_mismatch"}
    return settings_of(**wanted, writes=writes)


def _convert(
    df: DataFrame, asked: FrameOptions, write_root: WriteRoot | None = None, *, writes: bool = True
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan, or its problems. It `writes` local rows into a folder, if one is asked for."""

    def converted(frame: reader.Planned) -> tuple[Plan | None, Sequence[Problem]]:
        reader.prepare(frame, asked.get("stage", "optimized"))
        # Imported while the JVM compiles the reader: at the first plan, not with the package.
        from .conversion import convert_as

        return convert_as(frame, _settings(asked, writes=writes), write_root)

    require_dataframe(df)
    if is_connect(df):
        from .connect.frame import convert_planned

        return convert_planned(df, converted, allow_version_mismatch=asked.get("allow_version_mismatch", False))
    require_running(df)
    return converted(df)
