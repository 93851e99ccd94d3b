"""What comes of one query: equal rows, the same failure, a refusal, or something that must not be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import quick_spark
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import Expression, JoinRel, Rel
from substrait.plan_pb2 import Plan

from substrait_spark import EngineError, PlanningError, UnsupportedPlanError, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.algebra.types import field_count
from substrait_spark.catalyst.query_order import Ordering, ordering
from substrait_spark.catalyst.row_order import ORDER_KEEPING
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.comparison.rows import Float, rows
from substrait_spark.inference.complaints import Complaints
from substrait_spark.inference.functions import Functions
from substrait_spark.inference.relations import Relations
from substrait_spark.testing import assert_well_formed

from .queries import Query

TOLERANCE = 1e-12
"""Averages of doubles depend on the order of their rows."""

EQUAL, RAISED, REFUSED, INVALID = "equal", "raised by both", "refused", "no valid query"
LOUD = "raised by the engine alone"
UNNEEDED = "raised by Spark alone, over rows that no result needs"
OPTIMIZED = "raised by the engine alone, over rows that Spark's optimizer leaves out"
WRONG, FOREIGN, UNSTABLE = "wrong", "foreign exception", "unstable plan"
FAILURES = (WRONG, FOREIGN, UNSTABLE)


class Outcome(NamedTuple):
    """What came of a query, and what there is to say of it."""

    kind: str
    detail: str = ""


class Engine(NamedTuple):
    """What runs the plans: a dialect, the canonical one without, and how."""

    dialect: str | None
    rows: Callable[[Plan, SparkSession], pa.Table]
    """Raises EngineError where the engine fails as it runs, and UnsupportedPlanError where it can't run the plan."""
    stage: str = "optimized"
    """Of which stage its plans are."""

    def plan(self, asked: Asked) -> Plan:
        """What it runs of a DataFrame."""
        return asked.plan(self.dialect, self.stage)


def _in_spark(plan: Plan, spark: SparkSession) -> pa.Table:
    df = spark_engine.execute(plan, _session_beside(spark, str(spark.conf.get("spark.sql.ansi.enabled"))))
    try:
        return spark_table(df)
    except Exception as error:
        raise EngineError(str(error)) from error


@lru_cache(maxsize=4)
def _session_beside(spark: SparkSession, _mode: str) -> SparkSession:
    """A session of other settings than one in ANSI mode, or without it: to make one takes longer than most plans."""
    return other_session(spark)


OF_LARGE_TABLES = {
    "execution.batch_size": 7,
    "execution.target_partitions": 3,
    "execution.perfect_hash_join_min_key_density": 1.0,
    "execution.perfect_hash_join_small_build_threshold": 0,
    "execution.skip_partial_aggregation_probe_ratio_threshold": 0.1,
    "execution.skip_partial_aggregation_probe_rows_threshold": 1,
    "execution.sort_in_place_threshold_bytes": 0,
    "optimizer.hash_join_inlist_pushdown_max_distinct_values": 0,
    "optimizer.hash_join_inlist_pushdown_max_size": 0,
    "optimizer.hash_join_single_partition_threshold": 0,
    "optimizer.hash_join_single_partition_threshold_rows": 0,
    "optimizer.repartition_file_min_size": 1,
}
"""Settings by which DataFusion does with few rows what it does with many: these go by batches, threads and other ways of joining and grouping."""


def _in_datafusion(plan: Plan, _spark: SparkSession) -> pa.Table:
    """The rows of a plan: of every other one as of large tables."""
    ctx = datafusion.context()
    if plan.ByteSize() % 2:
        for setting, value in OF_LARGE_TABLES.items():
            ctx.sql(f"SET datafusion.{setting} = {value}").collect()
    return datafusion.execute(plan, ctx)


ENGINES = {
    "datafusion": Engine("datafusion", _in_datafusion),
    "spark": Engine(None, _in_spark),
}
ENGINES |= {f"{name}, analyzed": engine._replace(stage="analyzed") for name, engine in ENGINES.items()}
OFFERED = {**ENGINES, "datafusion-with-catalyst": ENGINES["datafusion"]._replace(dialect="datafusion-with-catalyst")}
"""Those that `make fuzz` may be asked for."""


def settings(spark: SparkSession, ansi: bool, time_zone: str) -> None:
    """Set the mode and the time zone that the next query runs in."""
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    spark.conf.set("spark.sql.session.timeZone", time_zone)


_ROW_BY_ROW = ORDER_KEEPING | {"Generate"}


class Asked:
    """A DataFrame, with what Spark gives for it, and its plans: each made when first asked for, once for all engines."""

    def __init__(self, make: Callable[[], DataFrame]) -> None:
        self.make = make
        self.df = make()
        self._plans: dict[tuple[str | None, str], Plan] = {}

    def plan(self, dialect: str | None, stage: str) -> Plan:
        """Its plan in a dialect."""
        if (dialect, stage) not in self._plans:
            self._plans[dialect, stage] = df_to_substrait(self.df, dialect=dialect, stage=stage)
        return self._plans[dialect, stage]

    @cached_property
    def order(self) -> Ordering | None:
        """The order of the rows, where the query's last step is to sort them, or to limit what is sorted."""
        node = self.df._jdf.queryExecution().analyzed()
        while node.nodeName() in ("GlobalLimit", "LocalLimit", "Offset"):
            node = node.child()
        return ordering(self.df) if node.nodeName() == "Sort" else None

    @cached_property
    def is_sorted(self) -> bool:
        """Whether the rows come in one order alone: those of a sort by all columns, or what single ones of these become, one after the other.

        Spark's optimizer leaves out a sort by constants.
        """
        executed = self.df._jdf.queryExecution()
        sort = _sort_of_rows(executed.analyzed())
        return (
            sort is not None
            and bool(sort.child().outputSet().subsetOf(sort.references()))
            and _sort_of_rows(executed.optimizedPlan()) is not None
        )

    @cached_property
    def expected(self) -> tuple[pa.Table | None, str]:
        """Spark's rows, or none and what it raises."""
        return _ran(self.df)

    @cached_property
    def compiled(self) -> tuple[pa.Table | None, str]:
        """The same of code that Spark compiles, where these sessions interpret expressions."""
        spark = self.df.sparkSession
        kept = {name: str(spark.conf.get(name)) for name in quick_spark.INTERPRETED}
        try:
            for name in kept:
                spark.conf.unset(name)
            return _ran(self.make())
        finally:
            for name, value in kept.items():
                spark.conf.set(name, value)


def _sort_of_rows(node: Any) -> Any:
    """The sort whose rows, and what single ones of them become, are those of a plan; None where there is none."""
    while node.nodeName() in _ROW_BY_ROW:
        if not node.subqueries().isEmpty():  # which become joins
            return None
        node = node.children().head()
    return node if node.nodeName() == "Sort" else None


def _ran(df: DataFrame) -> tuple[pa.Table | None, str]:
    try:
        return spark_table(df), ""
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is an outcome
        return None, str(error).split("\n", 1)[0]


def judge(spark: SparkSession, query: Query, engines: Mapping[str, Engine]) -> dict[str, Outcome]:
    """What comes of a query's plan in each engine; both its forms have the same plan, but before they are optimized."""
    try:
        by_sql, by_operations = Asked(lambda: spark.sql(query.sql())), Asked(lambda: query.dataframe(spark))
    except (AnalysisException, ParseException) as error:
        return dict.fromkeys(engines, Outcome(INVALID, str(error).split("\n", 1)[0]))
    return {name: _both_forms(by_sql, by_operations, engine) for name, engine in engines.items()}


def _both_forms(by_sql: Asked, by_operations: Asked, engine: Engine) -> Outcome:
    outcome = outcome_of(by_sql, engine)
    if outcome.kind not in (EQUAL, RAISED):
        return outcome
    return outcome if same_plan(by_sql, by_operations, engine) else outcome_of(by_operations, engine)


def same_plan(one: Asked, other: Asked, engine: Engine) -> bool:
    """Whether two DataFrames have the same bytes as a plan: not where one has none, as where its form nests too deep."""
    try:
        plans = [engine.plan(asked) for asked in (one, other)]
    except Exception:  # noqa: BLE001 - judged by itself, it says what it is
        return False
    return plans[0].SerializeToString(deterministic=True) == plans[1].SerializeToString(deterministic=True)


def outcome_of(asked: Asked, engine: Engine) -> Outcome:
    """What comes of a DataFrame in an engine."""
    try:
        for dialect in {None, engine.dialect}:
            assert_well_formed(asked.plan(dialect, engine.stage))
        plan = engine.plan(asked)
        if df_to_substrait(asked.df, dialect=engine.dialect, stage=engine.stage) != plan:
            return Outcome(UNSTABLE)
        return compared(asked, plan, engine)
    except UnsupportedPlanError as error:
        return Outcome(REFUSED, "; ".join(sorted({problem.reason for problem in error.problems})))
    except Exception as error:  # noqa: BLE001 - nothing else may leave the library
        return Outcome(FOREIGN, f"{type(error).__name__}: {error}")


def compared(asked: Asked, plan: Plan, engine: Engine) -> Outcome:
    """What comes of running a query and its plan.

    Where they differ, Spark's compiled code is asked as well. It is what users run, and rows that it has are no error of a
    plan's: interpreted, Spark rounds a decimal literal in place while it sorts by it, for one.
    """
    expected, raised = asked.expected
    spark = asked.df.sparkSession
    try:
        actual = engine.rows(plan, spark)
    except EngineError as error:
        return Outcome(_kind_of_error(asked, engine), str(error)[:300])
    if expected is None and (_fails_before_rows(asked.df) or _leaves_out(plan, engine, spark)):
        return Outcome(UNNEEDED, raised)
    if expected is None:
        return Outcome(WRONG, f"Spark raises: {raised}; the engine returns {actual.num_rows} rows")
    found = _differences(asked, expected, actual)
    if found and (compiled := asked.compiled[0]) is not None and not _differences(asked, compiled, actual):
        return Outcome(EQUAL)
    return Outcome(WRONG, "\n".join(found[:6])) if found else Outcome(EQUAL)


def _kind_of_error(asked: Asked, engine: Engine) -> str:
    """What it is that an engine raises: an analyzed plan has all that the query says, also below `LEFT JOIN t ON false`."""
    if asked.expected[0] is None or asked.compiled[0] is None:
        return RAISED
    optimized = engine._replace(stage="optimized")
    if engine == optimized or _raises(optimized.plan(asked), engine, asked.df.sparkSession):
        return LOUD
    return OPTIMIZED


def _differences(asked: Asked, expected: pa.Table, actual: pa.Table) -> list[str]:
    found = differences(expected, actual, tolerance=TOLERANCE, order=asked.order)
    if not found and asked.is_sorted and _in_short(expected) != _in_short(actual):
        return ["The same rows, in another order."]
    return found


def _in_short(table: pa.Table) -> list[Any]:
    """Rows without what may differ in those that are equal, or that tie: the last digits of numbers, and the signs of zeros."""

    def short(value: Any) -> Any:
        if isinstance(value, Float):
            return f"{float(value) + 0.0:.9g}"
        return tuple(map(short, value)) if isinstance(value, tuple) else value

    return [short(row) for row in rows(table)]


def _fails_before_rows(df: DataFrame) -> bool:
    """Whether Spark's optimizer raises, which computes constants though there may be no row that asks for them."""
    try:
        df._jdf.queryExecution().optimizedPlan()
    except (PySparkException, Py4JError):
        return True
    return False


def _leaves_out(plan: Plan, engine: Engine, spark: SparkSession) -> bool:
    """Whether the engine raises as well when it computes some relation of the plan by itself, with all its rows and columns.

    In the whole plan it leaves out columns that nobody uses, one side of a join if the other is empty, the keys too that
    only the join computes, rows that a filter or a limit drops, and conditions beside one on a subquery without rows.
    """
    found = list(messages(plan))
    if any(_raises(_part(plan, relation), engine, spark) for relation in found if isinstance(relation, Rel)):
        return True
    inputs = [input for join in found if isinstance(join, JoinRel) for input in (join.left, join.right)]
    inputs += [scalar.input for scalar in found if isinstance(scalar, Expression.Subquery.Scalar)]
    return any(_is_empty(_part(plan, input), engine, spark) for input in inputs)


def _part(plan: Plan, rel: Rel) -> Plan:
    """The plan of one of a plan's relations, with all columns that it has."""
    complain = Complaints()
    part = Plan()
    part.CopyFrom(plan)
    root = part.relations[-1].root
    root.input.CopyFrom(rel)
    kind = root.input.WhichOneof("rel_type")
    if kind is not None:
        getattr(root.input, kind).common.direct.SetInParent()
    columns = Relations(Functions(part, complain), complain).read_root(part.relations[-1]) or ()
    fields = sum(1 + field_count(column) for column in columns if column is not None)
    root.names[:] = [f"c{number}" for number in range(fields)]
    return part


def _raises(plan: Plan, engine: Engine, spark: SparkSession) -> bool:
    try:
        engine.rows(plan, spark)
    except EngineError:
        return True
    except (PlanningError, UnsupportedPlanError):  # it refers to a query around it
        return False
    return False


def _is_empty(plan: Plan, engine: Engine, spark: SparkSession) -> bool:
    try:
        return not engine.rows(plan, spark).num_rows
    except (EngineError, PlanningError, UnsupportedPlanError):  # it refers to a query around it
        return False
