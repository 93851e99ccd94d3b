"""The commands: what each is given, and what it does with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from .. import __version__, df_to_substrait, diff, explain, lower, sql_to_substrait, support
from .. import check as check_query
from ..context import READS, STAGES, SWITCHES
from ..dialects import discovery
from ..dialects.asked import asked_dialect
from ..dialects.concessions import CONCESSIONS
from ..dialects.file import load
from ..engines import engine as engines
from ..engines import progress
from ..engines.comparison.run import TOLERANCE
from ..statements.captured import COMMAND
from ..testing import departures
from ..user_functions.declared import UserFunctions
from . import plan_files, rows, supported
from .engines import compared, run_on, run_on_spark
from .outcome import FINDING, FINE
from .plan_tables import require_tables
from .script import captured, summary
from .spark_query import Query, dataframe, functions_without_session, with_tables
from .user_functions import FUNCTIONS
from .waiting import waiting

PLAN = click.argument("plan", metavar="PLAN", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
FORMAT = click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(plan_files.FORMATS),
    help="The form of the plan. If not given: json for .json, text for .txt and stdout, else binary. Text can't be read back.",
)
OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Where to write; stdout if not given.",
)
DIALECT = click.option(
    "-d",
    "--dialect",
    metavar="NAME|FILE",
    help=f"A built-in dialect ({', '.join(discovery.engines(discovery.DIALECT))}), or the path of a dialect file. Without one, the specification's canonical forms.",
)
ACCEPT = click.option(
    "--accept",
    "accept",
    type=click.Choice(list(CONCESSIONS)),
    multiple=True,
    help="A concession: what may differ from Spark in the plan's rows, where a standard function can be called then. check tells where. Repeat it for several.",
)
READS_OPTION = click.option(
    "--reads",
    type=click.Choice(READS),
    default="auto",
    show_default=True,
    help="Scans of catalog tables by name and paths as files (auto), or all as files or tables.",
)


STAGE = click.option(
    "--stage",
    type=click.Choice(STAGES),
    default="optimized",
    show_default=True,
    help="The query as Spark's optimizer makes it, or as it was written (analyzed).",
)

SWITCHED_ON = click.option(
    "--with",
    "switches",
    type=click.Choice([switch.replace("_", "-") for switch in SWITCHES]),
    multiple=True,
    help="What the plan has besides: types under aliases, expressions stored apart where they nest too deep, what it was made of, parts that are the same once, or hints. Repeat it for several.",
)


class Pair(click.ParamType[tuple[str, str]]):
    """`name=value`."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, equals, rest = str(value).partition("=")
        if not (name and equals and rest):
            self.fail(f"{value!r} is not of the form {self.name}", param, ctx)
        return name, rest


def _each_once(
    context: click.Context, option: click.Parameter, pairs: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.BadParameter(f"{twice!r} is given more than once.", context, option)
    return pairs


TABLES = click.option(
    "-t",
    "--table",
    "tables",
    metavar="NAME=PATH",
    type=Pair(),
    multiple=True,
    callback=_each_once,
    help="A table of the query, and its file or folder: Parquet, or by suffix ORC, CSV with a header, JSON, or lines of text. Repeat it for each table. The plan reads these files by their paths.",
)
SETTINGS = click.option(
    "-c",
    "--conf",
    "settings",
    metavar="KEY=VALUE",
    type=Pair(),
    multiple=True,
    callback=_each_once,
    help="A setting of the Spark session, such as spark.sql.ansi.enabled=false.",
)
ENGINE = click.option(
    "-e",
    "--engine",
    type=click.Choice(engines.names()),
    default="datafusion",
    show_default=True,
    help="What runs the plan: DataFusion, or a local Spark session.",
)

FILES_UNDER = click.option(
    "--files-under",
    metavar="FOLDER",
    multiple=True,
    help="Let the plan read files by path in this folder only, or in several. If not given: wherever it says.",
)


def query_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of commands that start Spark for a query."""
    for option in (SETTINGS, TABLES):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, "-V", "--version", prog_name="substrait-spark")
def group() -> None:
    """Make, lower, read, compare, check and run Substrait plans of Spark queries.

    A plan is exported once, and everything else works on its file, without Spark. It reads the files that --table
    names where they are:

    \b
      substrait-spark export "SELECT item, sum(price) AS total FROM orders GROUP BY item" \\
          --table orders=orders.parquet -o total_for_any_engine.plan
      substrait-spark lower total_for_any_engine.plan --dialect datafusion -o total.plan
      substrait-spark explain total.plan
      substrait-spark run total.plan
      substrait-spark diff total.plan total_of_last_week.plan
      substrait-spark check total.plan --dialect datafusion
      substrait-spark compare total.sql --table orders=orders.parquet
      substrait-spark capture nightly_job.py -o plans
      substrait-spark support date_trunc

    Plans are read in binary and in JSON, whichever a file holds, and never in text, which is for people; - is stdin.

    \b
    Exit codes:
      0  all is well
      1  there is something to look at: the query can't be exported, the plans or the rows differ, the plan departs
         from the dialect, the engine raised, the function isn't supported
      2  the command couldn't do its work: wrong usage, a missing file, no plan in it, a query that Spark doesn't take
    """


@group.command()
@click.argument("sql", metavar="SQL")
@query_options
@DIALECT
@READS_OPTION
@STAGE
@click.option("--statements", is_flag=True, help="Take other statements than queries too; nothing of them runs.")
@SWITCHED_ON
@ACCEPT
@FUNCTIONS
@FORMAT
@OUTPUT
def export(
    sql: str,
    tables: list[tuple[str, str]],
    settings: list[tuple[str, str]],
    dialect: str | None,
    reads: str,
    stage: str,
    statements: bool,
    switches: tuple[str, ...],
    accept: tuple[str, ...],
    functions: tuple[str, ...],
    form: str | None,
    output: str,
) -> None:
    """Export a query as a plan.

    SQL is the query's text, the path of a file with it (ending in .sql), or - for stdin. A local Spark session is
    started to plan it. The query doesn't run; a statement that isn't one, such as INSERT, doesn't either, and is refused
    without --statements.

    \b
      substrait-spark export "SELECT 1 AS one"
      substrait-spark export revenue.sql -t orders=data/orders -d datafusion -o revenue.plan
      cat revenue.sql | substrait-spark export - -t orders=data/orders -f json > revenue.json
    """
    from ..conversion import settings_of

    asked: dict[str, Any] = {"dialect": dialect, "reads": reads, "stage": stage, "accept": accept}
    asked.update({switch.replace("-", "_"): True for switch in switches})
    try:
        settings_of(**asked)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error
    query = Query(_text(sql), tables, settings, functions)
    if statements:
        with with_tables(query) as (spark, given), waiting("exporting the plan"):
            plan = sql_to_substrait(spark, query.sql, functions=given, **asked)
    else:
        with dataframe(query) as (df, given), waiting("exporting the plan"):
            plan = df_to_substrait(df, functions=given, **asked)
    plan_files.write_plan(plan, output, plan_files.form_of(output, form))


@group.command("capture")
@click.argument("script", metavar="SCRIPT", type=click.Path(exists=True, dir_okay=False))
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@DIALECT
@READS_OPTION
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False),
    help="Where to write the plans; those that an earlier capture wrote there are replaced.",
)
@click.option(
    "--local-data",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Where to write local rows (createDataFrame) of which there are more than 10,000, as Parquet files that the plans read. If not given, they are refused.",
)
@ACCEPT
@FUNCTIONS
def capture_command(
    script: str,
    arguments: tuple[str, ...],
    dialect: str | None,
    reads: str,
    output: str,
    local_data: str | None,
    accept: tuple[str, ...],
    functions: tuple[str, ...],
) -> None:
    """Run a script, and keep the plans of its queries.

    SCRIPT is run as python runs it, with its own Spark session, which must be a classic one. For each action it gives
    FOLDER a text, 001-save.txt, and a plan, 001-save.plan, or in the text what stood in the plan's way. Of a write the
    plan is of the rows that it wrote. Plans are also written of a script that raises.

    The exit code is the script's; if that is 0, it is 1 where a query has no plan. Commands that write nothing, such as
    CREATE VIEW, have none and don't count.

    \b
      substrait-spark capture nightly_job.py -o plans
      substrait-spark capture nightly_job.py -o plans --dialect datafusion -- --date 2026-01-31
      substrait-spark capture nightly_job.py -o plans --local-data plans/data
    """
    from ..conversion import settings_of

    settings = partial(settings_of, dialect=dialect, reads=reads, local_data=local_data, accept=accept)
    queries, code = captured(script, arguments, settings, functions)
    plan_files.write_captured(queries, output)
    click.echo(summary(queries, output), err=True)
    lacking = any(query.plan is None and query.action != COMMAND for query in queries)
    raise click.exceptions.Exit(code or (FINDING if lacking else FINE))


@group.command("lower")
@PLAN
@click.option(
    "-d",
    "--dialect",
    metavar="NAME|FILE",
    required=True,
    help=f"A built-in dialect ({', '.join(discovery.engines(discovery.DIALECT))}), or the path of a dialect file.",
)
@ACCEPT
@FUNCTIONS
@FORMAT
@OUTPUT
def lower_command(
    plan: str, dialect: str, accept: tuple[str, ...], functions: tuple[str, ...], form: str | None, output: str
) -> None:
    """Put a plan into the forms of an engine.

    PLAN is a canonical plan, of this command or of another producer. The new plan means the same, in what the dialect
    lists. Exit code 1, with every obstacle, where the dialect has no form for a part of it.

    \b
      substrait-spark lower revenue.plan --dialect datafusion -o revenue_for_datafusion.plan
      cat revenue.json | substrait-spark lower - --dialect our_engine.yaml -f json
    """
    lowered = lower(plan_files.read_plan(plan), dialect, functions=functions_without_session(functions), accept=accept)
    plan_files.write_plan(lowered, output, plan_files.form_of(output, form))


@group.command("sql")
@PLAN
@click.option("--to", "database", required=True, metavar="DATABASE", help="Whose SQL: duckdb or postgresql.")
@click.option("--fetch", is_flag=True, help="Bring Isthmus from Maven Central first, some 34 MB, unless it is there.")
@ACCEPT
@OUTPUT
def sql_command(plan: str, database: str, fetch: bool, accept: tuple[str, ...], output: str) -> None:
    """Make SQL of a plan, for a database that reads no plans.

    PLAN is a canonical plan whose tables go by names (`export --reads tables`). Isthmus, of substrait-java, makes the SQL; it needs Java.

    \b
      substrait-spark sql revenue.plan --to duckdb --accept decimal_rounding -o revenue.sql
    """
    from ..engines import isthmus

    if fetch:
        isthmus.fetch()
    try:
        query = isthmus.to_sql(plan_files.read_plan(plan), database, accept=accept)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--to") from error
    plan_files.write(query.encode("utf-8") + b"\n", output)


@group.command("explain")
@PLAN
@click.option("-v", "--verbose", is_flag=True, help="Show hints and anchors too.")
@OUTPUT
def explain_command(plan: str, verbose: bool, output: str) -> None:
    """Show a plan as text.

    One line for each relation, its inputs indented below it, its columns with their types. Of an extended expression, one
    for each expression.

    \b
      substrait-spark explain revenue.plan
      cat revenue.json | substrait-spark explain -
    """
    text = explain(plan_files.read_message(plan), verbose=verbose)
    plan_files.write(text.rstrip("\n").encode("utf-8") + b"\n", output)


@group.command()
@click.argument("plan", metavar="[PLAN]", required=False, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--sql", help="Check this query (its text, a .sql file, or -) in place of a plan.")
@query_options
@DIALECT
@ACCEPT
@FUNCTIONS
def check(
    plan: str | None,
    sql: str | None,
    tables: list[tuple[str, str]],
    settings: list[tuple[str, str]],
    dialect: str | None,
    accept: tuple[str, ...],
    functions: tuple[str, ...],
) -> None:
    """Check a plan or a query against a dialect.

    Of a plan, whoever made it: whether the dialect lists every relation, expression, function and type in it. Of a
    query: whether it can be exported in the dialect's forms (without a dialect, in canonical ones), and every obstacle
    if not. Exit code 1 if anything is in the way.

    \b
      substrait-spark check revenue.plan --dialect datafusion
      substrait-spark check revenue.plan --dialect our_engine.yaml
      substrait-spark check --sql revenue.sql -t orders=data/orders --dialect datafusion
    """
    if plan is None and sql is None:
        raise click.UsageError("Give a PLAN, or a query by --sql.")
    if plan is not None and (sql is not None or tables or settings or accept):
        raise click.UsageError(
            "A PLAN is checked as it is: --sql, --table, --conf and --accept are for a query, without a PLAN."
        )
    if plan is not None and dialect is None:
        raise click.UsageError("Say by --dialect what to check the plan against.")
    if sql is not None:
        query = Query(_text(sql), tables, settings, functions)
        with dataframe(query) as (df, given), waiting("checking the query"):
            report = check_query(df, dialect=dialect, functions=given, accept=accept)
        _, *needs = str(report).splitlines()
        good = "\n".join([f"The query can be exported {_for(dialect)}.", *needs])
        _conclude(bool(report), good, str(report))
        return
    known = asked_dialect(dialect, UserFunctions(functions_without_session(functions)).named, ())
    departing = departures(plan_files.read_plan(str(plan)), known)
    lacking = [f"{known.name} lacks what the plan needs:", *(f"  {departure}" for departure in departing)]
    _conclude(not departing, f"{known.name} has everything that the plan needs.", "\n".join(lacking))


def _for(dialect: str | None) -> str:
    return "in the specification's forms" if dialect is None else f"for {load(dialect).name}"


def _conclude(fine: bool, good: str, bad: str) -> None:
    """Say how a check ended, and exit with 1 where it found something."""
    click.echo(good if fine else bad)
    if not fine:
        raise click.exceptions.Exit(1)


@group.command("diff")
@click.argument("old", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("new", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@OUTPUT
def diff_command(old: str, new: str, output: str) -> None:
    """Show how two plans differ.

    Relation by relation and expression by expression. Exit code 1 if they do.

    \b
      substrait-spark diff main.plan branch.plan
    """
    if old == new == "-":
        raise click.UsageError("Only one of the plans can come from stdin.")
    difference = diff(plan_files.read_message(old), plan_files.read_message(new))
    plan_files.write(difference.rstrip("\n").encode("utf-8") + b"\n" if difference else b"", output)
    if difference:
        raise click.exceptions.Exit(1)


@group.command("compare")
@click.argument("sql", metavar="SQL")
@query_options
@click.option(
    "-p",
    "--plan",
    metavar="PLAN",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="The plan to compare with. If not given: the query's own, as export makes it for the engine.",
)
@FILES_UNDER
@ENGINE
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1, max_open=True),
    default=TOLERANCE,
    show_default=True,
    help="How far floating-point numbers may be apart, as a part of the larger one; 0 for exact ones.",
)
@FUNCTIONS
@ACCEPT
def compare_command(
    sql: str,
    tables: list[tuple[str, str]],
    settings: list[tuple[str, str]],
    plan: str | None,
    files_under: tuple[str, ...],
    engine: str,
    tolerance: float,
    functions: tuple[str, ...],
    accept: tuple[str, ...],
) -> None:
    """Compare a query's rows in Spark with those of its plan in an engine.

    SQL is the query's text, the path of a file with it (ending in .sql), or - for stdin. Rows are compared as multisets,
    and in the columns that the query orders by also in their order; the first differing rows, columns and types are
    shown. Exit code 1 where they differ, or where either side raises.

    \b
      substrait-spark compare revenue.sql -t orders=data/orders
      substrait-spark compare revenue.sql -t orders=data/orders --plan revenue.plan
    """
    if sql == plan == "-":
        raise click.UsageError("Only one of the query and the plan can come from stdin.")
    if plan is not None and accept:
        raise click.UsageError("--accept is for the query's own plan, not for a plan that is given.")
    message = None if plan is None else plan_files.read_plan(plan)
    with dataframe(Query(_text(sql), tables, settings, functions)) as (df, given):
        comparison = compared(df, message, engine, dict(tables), files_under or None, tolerance, given, accept)
    click.echo(str(comparison))
    if not comparison:
        raise click.exceptions.Exit(FINDING)


@group.command()
@PLAN
@click.option(
    "-t",
    "--table",
    "tables",
    metavar="NAME=PATH",
    type=Pair(),
    multiple=True,
    callback=_each_once,
    help="The Parquet file or folder of a table that the plan reads by name. Files that it reads by path, as plans exported with --table do, need nothing.",
)
@FILES_UNDER
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(rows.FORMATS),
    help="The form of the rows. If not given: by the suffix .csv or .parquet of FILE; on stdout and for .txt a table to read.",
)
@ENGINE
@SETTINGS
@FUNCTIONS
@OUTPUT
def run(
    plan: str,
    tables: list[tuple[str, str]],
    files_under: tuple[str, ...],
    form: str | None,
    engine: str,
    settings: list[tuple[str, str]],
    functions: tuple[str, ...],
    output: str,
) -> None:
    """Run a plan and show its rows.

    On DataFusion, plans exported with --dialect datafusion give Spark's rows. Others run as far as DataFusion takes
    them, and their rows may be others. Spark runs canonical plans, of this command or of another producer, as the
    specification means them. Exit code 1 if the engine raises, or refuses the plan.

    A plan of tables that Spark's catalog names, as df_to_substrait makes it in Python, says only these names: give
    the files by --table.

    A plan reads whatever file of this machine it names: give --files-under for plans of others.

    \b
      substrait-spark run revenue.plan
      substrait-spark run revenue.plan -o revenue.parquet
      substrait-spark run of_named_tables.plan -t orders=data/orders
      substrait-spark run of_another_producer.plan -t orders=data/orders --engine spark
    """
    chosen = engines.engine_of(engine)
    if settings and not chosen.in_spark:
        raise click.UsageError("--conf is for the Spark session of --engine spark.")
    form = form or rows.form_of(output)
    message = plan_files.read_plan(plan)
    require_tables(message, dict(tables))
    if chosen.in_spark:
        result = run_on_spark(message, dict(tables), files_under or None, settings, functions)
    else:
        result = run_on(chosen, message, dict(tables), files_under or None, functions_without_session(functions))
    plan_files.write(rows.written(result, form), output)


@group.command("measure")
@click.argument("engine", metavar="ENGINE")
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False),
    help="Where to write.",
)
@click.option("--only", metavar="BEGINNING", default="", help="Measure the cases whose names begin like this alone.")
@click.option(
    "--since",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="outcomes.jsonl of an earlier release: what was as in Spark is looked at by one case each, and all else anew.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=20,
    show_default=True,
    help="How long a case may take.",
)
@click.option(
    "--memory",
    type=click.IntRange(0),
    default=4096,
    show_default=True,
    help="How many megabytes a case may take; 0 for no limit, which a JVM needs.",
)
@click.option(
    "--processes", type=click.IntRange(1), help="How many cases run at a time; as many as there are cores if not given."
)
def measure_command(
    engine: str, folder: str, only: str, since: str | None, seconds: float, memory: int, processes: int | None
) -> None:
    """Measure what an engine takes, and answers as Spark does.

    ENGINE is a Python file that has `run(plan: bytes, tables: dict[str, pyarrow.Table]) -> pyarrow.Table`, or the name of an
    engine. It is asked thousands of small plans, each in a process that may end or hang. FOLDER gets a dialect file of what
    always has Spark's rows, a page on the rest, and what came of each case: a measurement that was ended goes on there.

    \b
      substrait-spark measure my_engine.py -o my_engine
      substrait-spark measure my_engine.py -o my_engine --only "scalar string"
      substrait-spark measure my_engine.py -o newer --since my_engine/outcomes.jsonl
    """
    # pyarrow, which is an extra, is needed for this alone.
    from ..engines import measure

    told = progress.place()
    measurement = measure(
        engine,
        folder,
        only=only,
        since=since,
        seconds=seconds,
        memory=memory * 2**20 or None,
        processes=processes,
        tell=None if told is None else told.tell,
    )
    click.echo(str(measurement))


@group.command("support")
@click.argument("functions", nargs=-1)
@click.option("--refused", is_flag=True, help="Show the functions that can't be exported, or not every call of them.")
def support_command(functions: tuple[str, ...], refused: bool) -> None:
    """Show what is supported.

    Counts over Spark's functions, and the classes of Catalyst's relations and expressions; with names of functions,
    what becomes of each.

    Exit code 1 if a function was asked for that can't be exported.

    \b
      substrait-spark support
      substrait-spark support date_trunc regexp_replace
      substrait-spark support --refused
    """
    known = support.measured()
    asked = [known[name.lower()] for name in functions if name.lower() in known]
    shown = list(asked)
    if refused:
        shown += [function for function in known.values() if function.canonical in ("partly", "no")]
    if shown or not functions:
        click.echo("\n".join(map(supported.described, shown)) if shown else supported.summary(), nl=False)
    unknown = [name for name in functions if name.lower() not in known]
    if unknown:
        raise click.ClickException("\n".join(map(supported.unknown, unknown)))
    if any(function.canonical == "no" for function in asked):
        raise click.exceptions.Exit(1)


def _text(sql: str) -> str:
    """A query's text: given as such, in a file, or on stdin."""
    if sql != "-" and not sql.endswith(".sql"):
        return sql
    try:
        return plan_files.content(sql).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{plan_files.file_name(sql)} is not text in UTF-8: {error}.") from error
