"""Users' own functions: declared, called in plans by their names, and run with the conversions that Spark makes."""

from __future__ import annotations

import datetime as dt
import math
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import own_functions
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
import pytest
from datafusion import Accumulator
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType
from pyspark.sql.udf import UserDefinedFunction
from releases import later, since
from rows import differences

from substrait_spark import (
    EngineError,
    FunctionError,
    InvalidPlanError,
    UnsupportedPlanError,
    capture,
    check,
    declare_function,
    df_to_substrait,
    explain,
    expressions_to_substrait,
    lower,
    write_extension_file,
)
from substrait_spark.engines import compare, datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.spark.rows import spark_rows
from substrait_spark.engines.user_functions.pickled_values import java_double
from substrait_spark.extensions import registry
from substrait_spark.extensions.yaml_text import parsed_of_users
from substrait_spark.testing.snapshot import Form
from substrait_spark.user_functions import spark_function as ways

UTC = dt.timezone.utc

# Spark's workers don't find this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

TABLE = pa.table(
    {
        "key": pa.array([1, 1, 2, 2], pa.int32()),
        "boolean": pa.array([True, False, None, True]),
        "byte": pa.array([1, -128, None, 127], pa.int8()),
        "integer": pa.array([1, -(2**31), None, 2**31 - 1], pa.int32()),
        "long": pa.array([1, -(2**63), None, 2**63 - 1], pa.int64()),
        "float": pa.array([1.5, math.nan, None, -0.0], pa.float32()),
        "double": pa.array([0.1, -math.inf, None, 1e300]),
        "text": pa.array(["a", "", None, "é😀"]),
        "bytes": pa.array([b"a", b"", None, b"\x00\xff"]),
        "decimal": pa.array([Decimal("1.20"), Decimal("-99999999.99"), None, Decimal("0.00")], pa.decimal128(10, 2)),
        "large": pa.array([Decimal("1.2"), Decimal(10**28 - 1), None, Decimal(0)], pa.decimal128(38, 10)),
        "date": pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
        "instant": pa.array(
            [
                dt.datetime(2024, 3, 10, 10, 30, 0, 123456, UTC),
                dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
                None,
                dt.datetime(2024, 11, 3, 9, 30, tzinfo=UTC),
            ],
            pa.timestamp("us", "UTC"),
        ),
        "timestamp": pa.array(
            [dt.datetime(2024, 3, 10, 2, 30, 0, 123456), dt.datetime(1969, 12, 31), None, dt.datetime(2200, 1, 1)],
            pa.timestamp("us"),
        ),
        "integers": pa.array([[1, None], [], None, [2]], pa.list_(pa.int32())),
        "dates": pa.array([[dt.date(2024, 1, 1), None], [], None, [dt.date(1970, 1, 1)]]),
        "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": None}, {"a": 3, "b": "y"}, {"a": 2, "b": ""}]),
        "structs": pa.array([[{"a": 1, "b": [dt.date(2024, 1, 1)]}, None], [], None, [{"a": 2, "b": None}]]),
        "map": pa.array([[("k", 1), ("j", None)], [], None, [("z", 3)]], pa.map_(pa.string(), pa.int32())),
    }
)
"""Edge values in columns of the types that functions get and return."""


@pytest.fixture
def edges(spark: SparkSession, tmp_path: Path) -> DataFrame:
    pq.write_table(TABLE, tmp_path / "edges.parquet")
    return spark.read.parquet(str(tmp_path / "edges.parquet"))


def made(way: int, function: Callable[..., Any], type: Any, name: str, deterministic: bool = True) -> Any:
    """A function that Spark evaluates in one of its ways, whatever the session's settings."""
    found: Any = UserDefinedFunction(function, type, name, way, deterministic)
    return found._wrapped()


def assert_same(df: DataFrame, functions: Sequence[Any]) -> pa.Table:
    """Spark's rows of a DataFrame are DataFusion's of its plan, and Spark's of its canonical plan; where Spark raises, both do."""
    plans = {
        "the engine": df_to_substrait(df, functions=functions, dialect="datafusion"),
        "the canonical plan in Spark": df_to_substrait(df, functions=functions),
    }

    def run(name: str) -> pa.Table:
        if name == "the engine":
            return datafusion.execute(plans[name], functions=functions)
        return spark_rows(spark_engine.execute(plans[name], df.sparkSession, functions=functions))

    try:
        expected = spark_rows(df)
    except EngineError:
        for name in plans:
            with pytest.raises(EngineError):
                run(name)
        return None
    assert expected.num_rows, "vacuous: there is no row"
    for name in plans:
        found = differences(expected, run(name))
        assert not found, "\n".join([f"Spark (-) and {name} (+) differ:", *found])
    return expected


def same(value: Any) -> Any:
    return value


WAYS = [
    pytest.param(ways.PICKLED, id="pickled"),
    pytest.param(ways.ARROW_BATCHED, id="rows by Arrow"),
    pytest.param(ways.SCALAR_PANDAS, id="pandas"),
    pytest.param(ways.SCALAR_PANDAS_ITER, id="series of pandas"),
    later("4.1", ways.SCALAR_ARROW, id="Arrow"),
    later("4.1", ways.SCALAR_ARROW_ITER, id="arrays of Arrow"),
]


@pytest.mark.parametrize("way", WAYS)
def test_values_of_every_type_pass_through(edges: DataFrame, way: int) -> None:
    functions, columns = [], []
    for field in edges.schema:
        if way == ways.PICKLED and field.name == "map":
            continue  # refused
        if field.name in UNTAKEN.get(way, ()):
            continue
        function = made(way, same, field.dataType, f"pass_{field.name}")
        functions.append(function)
        columns.append(function(F.col(field.name)).alias(field.name))
    assert_same(edges.select(*columns), functions)


UNTAKEN: dict[int, tuple[str, ...]] = {}
"""What Spark itself does not take in a way."""


RESULTS: dict[str, list[Any]] = {
    "boolean": [True, 1, "true", None],
    "tinyint": [5, 300, -129, True, 1.0, "1"],
    "int": [5, 2**31, 2**63, True, 1.5, "12", Decimal(7), dt.date(2020, 1, 1), [1]],
    "bigint": [5, 2**63 - 1, 2**63, False, 2.0],
    "float": [1.5, 1, 0.1, math.nan, -0.0],
    "double": [1.5, 1, math.inf, "1.5", Decimal("1.5")],
    "decimal(10,2)": [Decimal("1.005"), Decimal("-2.5"), 7, 1.5, "1.5", Decimal("NaN")],
    "string": ["x", 5, True, 1.5, 1e10, 1e-5, -0.0, math.nan, Decimal("1.50"), ["a", 1, None]],
    "binary": [b"ab", bytearray(b"q"), "é", 5, [1]],
    "array<int>": [[1, None], (2, 3), {4}, [2**31], ["a"], 5, "ab"],
}
"""What functions that declare a type return, fitting or not."""


@pytest.mark.parametrize(
    ("type", "way"),
    [
        *(pytest.param(type, ways.PICKLED, id=f"{type} pickled") for type in RESULTS),
        # Where Spark raises at one, each is run by itself.
        *(pytest.param(t, ways.ARROW_BATCHED, id=f"{t} by Arrow", marks=pytest.mark.slow) for t in RESULTS),
    ],
)
def test_results_of_other_types_are_what_spark_makes_of_them(edges: DataFrame, type: str, way: int) -> None:
    pairs = []
    for n, value in enumerate(RESULTS[type]):
        function = made(way, lambda _, value=value: value, type, f"f{n}")
        pairs.append((function, function(F.col("integer")).alias(f"c{n}")))
    _assert_together(edges.limit(1), pairs)


def _assert_together(df: DataFrame, pairs: Sequence[tuple[Any, Column]]) -> None:
    """Compare the columns of functions together, and those by themselves of which Spark raises at one."""
    selected = df.select(*(column for _, column in pairs))
    try:
        selected.collect()
    except Exception:  # noqa: BLE001 - whatever Spark raises is an outcome
        if len(pairs) > 1:
            middle = len(pairs) // 2
            _assert_together(df, pairs[:middle])
            _assert_together(df, pairs[middle:])
            return
    assert_same(selected, [function for function, _ in pairs])


def test_what_spark_cannot_unpickle_raises(edges: DataFrame) -> None:
    number = made(ways.PICKLED, lambda _: np.int64(3), "int", "number")
    assert_same(edges.select(number("integer")), [number])
    plan = df_to_substrait(edges.select(number("integer")), functions=[number], dialect="datafusion")
    with pytest.raises(EngineError, match=r"Spark can't unpickle a numpy\.int64: return plain values of Python"):
        datafusion.execute(plan, functions=[number])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (10000000.0, "1.0E7"),
        (1.25e-300, "1.25E-300"),
        (-math.inf, "-Infinity"),
    ],
)
def test_texts_of_doubles_are_javas(value: float, text: str) -> None:
    assert java_double(value) == text


@pytest.mark.parametrize("way", WAYS[:4])
def test_structs_and_lists_are_made(edges: DataFrame, way: int) -> None:
    type = "a int, b string, c array<date>"
    if way in (ways.PICKLED, ways.ARROW_BATCHED):
        function: Callable[..., Any] = lambda i, t: Row(a=i, b=t, c=[dt.date(2024, 1, 1), None])  # noqa: E731
    elif way == ways.SCALAR_PANDAS:
        function = lambda i, t: pd.DataFrame({"a": i.astype("Int32"), "b": t, "c": [[dt.date(2024, 1, 1)]] * len(t)})  # noqa: E731
    else:

        def function(batches: Iterator[Any]) -> Iterator[pd.DataFrame]:
            for i, t in batches:
                yield pd.DataFrame({"a": i.astype("Int32"), "b": t, "c": [[dt.date(2024, 1, 1)]] * len(t)})

    build = made(way, function, type, "build")
    assert_same(edges.select(build("integer", "text").alias("s")), [build])
    fields = edges.select(build("integer", "text").alias("s")).select("s.b", F.col("s.c")[0], "s.a")
    assert_same(fields, [build])
    assert_same(edges.where(build("integer", "text")["a"] > 0).select("key"), [build])
    assert_same(edges.where("integer > 0").select(build("integer", "text").alias("s")).select("s", "s.b"), [build])


@pytest.mark.parametrize("way", WAYS)
def test_fields_of_structs_have_their_names(edges: DataFrame, way: int) -> None:
    taken = {
        ways.PICKLED: lambda s: None if s is None else f"{s.a} {s.b}",
        ways.ARROW_BATCHED: lambda s: None if s is None else f"{s.a} {s.b}",
        ways.SCALAR_PANDAS: lambda s: s["b"] + "!",
        ways.SCALAR_PANDAS_ITER: lambda batches: (s["b"] + "!" for s in batches),
        ways.SCALAR_ARROW: lambda s: s.field("b"),
        ways.SCALAR_ARROW_ITER: lambda batches: (s.field("b") for s in batches),
    }
    take = made(way, taken[way], StringType(), "take")
    both = F.coalesce("struct", F.struct(F.lit(0).cast("bigint").alias("a"), F.lit("none").alias("b")))
    assert_same(edges.select(take("struct"), take(both).alias("both")), [take])


def test_functions_stand_wherever_expressions_do(edges: DataFrame) -> None:
    lower_ = made(ways.ARROW_BATCHED, lambda text: None if text is None else text.lower(), "string", "lowered")
    twice = made(ways.PICKLED, lambda number: None if number is None else number % 1000 * 2, "int", "twice")
    plus = made(ways.SCALAR_PANDAS, lambda a, b: a + b, "double", "plus")
    given = [lower_, twice, plus]
    other = edges.select(F.col("key").alias("k"), F.col("integer").alias("n"))
    queries = [
        edges.select(lower_(lower_("text")), plus(twice("integer"), twice("key"))),
        edges.where((lower_("text") == "a") | (twice("integer") > 3)).select("key"),
        edges.where(lower_("text") != "").groupBy("key").agg(F.sum(twice("integer")), F.max(plus("double", "key"))),
        edges.groupBy(twice("key").alias("t")).count(),
        edges.join(other, twice("key") == twice("k")).select("key", "n", twice("n").alias("m")),
        edges.join(other, (F.col("key") == F.col("k")) & (plus("key", "n") > 0)).select("key", "n"),
        edges.orderBy(twice("integer")).select("integer").limit(3),
        edges.select(twice("integer").alias("a")).select("a", (F.col("a") + 1).alias("b"), F.col("a") * 2),
        edges.select(F.when(F.col("key") > 1, twice("integer")).otherwise(twice("key"))),
        edges.select(F.sum(twice("key")).over(Window.partitionBy("key").orderBy(twice("integer"))).alias("s")),
        edges.select("key", F.explode(F.array(twice("key"), twice("integer"))).alias("e")),
        edges.select(twice("key").alias("x")).union(edges.select("integer")).distinct(),
        edges.select(twice(F.lit(4)), "key"),
    ]
    for query in queries:
        assert_same(query, given)


QUERIES = (
    "SELECT key, (SELECT max(doubled(o.key)) FROM edges AS o WHERE o.key = e.key) AS m FROM edges AS e",
    "SELECT key, (SELECT max(o.integer) FROM edges AS o WHERE o.key = doubled(e.key) - e.key) AS m FROM edges AS e",
    "SELECT key, integer FROM edges AS e WHERE EXISTS (SELECT 1 FROM edges AS o WHERE doubled(o.key) > e.key + 2)",
    "SELECT key FROM edges WHERE doubled(key) NOT IN (SELECT doubled(key) + 2 FROM edges)",
    "SELECT e.key, z.m FROM edges AS e, LATERAL (SELECT max(doubled(o.key)) AS m FROM edges AS o WHERE o.key <= e.key) AS z",
    "WITH c AS (SELECT key, doubled(key) AS a FROM edges) SELECT x.a, y.a FROM c AS x JOIN c AS y ON x.key = y.key",
    "SELECT x.key, y.key FROM edges AS x JOIN edges AS y ON doubled(x.key + y.key) > 4",
    "SELECT sum(doubled(key)) FILTER (WHERE doubled(key) > 2) AS a, count(DISTINCT doubled(key)) AS b FROM edges",
    "SELECT doubled(key) AS g, text, count(*) AS n FROM edges GROUP BY CUBE (doubled(key), text) HAVING doubled(count(*)) > 2",
    "SELECT key, sum(key) OVER (ORDER BY doubled(key) RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS a FROM edges",
    "SELECT key, lag(doubled(key)) OVER (PARTITION BY doubled(byte) ORDER BY integer) AS b FROM edges",
    "SELECT explode(map(doubled(key), doubled(byte))) FROM edges WHERE byte > 0",
    "SELECT stack(2, doubled(key), key, 0, doubled(byte)) FROM edges",
    "SELECT doubled(key) AS a FROM edges INTERSECT SELECT doubled(doubled(key)) FROM edges",
    "SELECT byte FROM edges EXCEPT ALL SELECT doubled(byte) FROM edges",
    "SELECT * FROM (SELECT key, text, doubled(key) AS a FROM edges) PIVOT (sum(a) FOR text IN ('a', ''))",
    "SELECT doubled(a) AS b FROM VALUES (1), (NULL), (3) AS v(a)",
)
"""Queries with calls in all the places that SQL has for expressions."""


def test_functions_stand_wherever_sql_has_expressions(edges: DataFrame) -> None:
    spark = edges.sparkSession.newSession()
    edges.createOrReplaceGlobalTempView("edges_of_functions")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW edges AS SELECT * FROM global_temp.edges_of_functions")
    doubled = made(ways.PICKLED, lambda n: None if n is None else n * 2, "int", "doubled")
    doubled = spark.udf.register("doubled", doubled)
    for query in QUERIES:
        df = spark.sql(query)
        expected = spark_rows(df)
        assert expected.num_rows, query
        for stage in ("optimized", "analyzed"):
            found = datafusion.collect(df, functions=[doubled], stage=stage)
            assert not differences(expected, found), [query, stage]


class Adding:
    """A function that is an object, and one of its methods."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, value: int) -> int:
        return value + self.number

    def less(self, value: int, times: int = 1) -> int:
        return value - self.number * times


def test_whatever_can_be_called_is_a_function(edges: DataFrame) -> None:
    adding = Adding(5)
    by_keyword = made(ways.PICKLED, lambda value=7, *, times=3: value * times, "int", "by_keyword")
    part = made(ways.PICKLED, partial(max, 2), "int", "max")
    plus, less = made(ways.PICKLED, adding, "int", "plus"), made(ways.PICKLED, adding.less, "int", "less")
    other = made(ways.PICKLED, Adding(50), "int", "plus")
    df = edges.select(by_keyword("key"), by_keyword(), part("key"), plus("key"), less("key"), less("key", F.lit(3)))
    assert_same(df, [by_keyword, declare_function(part, name="at_least_two"), plus, less])
    both = edges.select(plus("key").alias("a"), other("key").alias("b"))
    assert_same(both, [plus, declare_function(other, name="other")])


CHAINED: list[Any] = [
    (ways.PICKLED, "int", lambda v: v, True),
    (ways.PICKLED, "int", lambda _: "12", False),
    (ways.PICKLED, "double", lambda _: 3, False),
    (ways.PICKLED, "decimal(10,2)", lambda _: Decimal("1.50"), True),
    (ways.PICKLED, "decimal(10,2)", lambda _: Decimal("1.5"), False),
    (ways.PICKLED, "a int", lambda _: {"a": 1}, False),
    (ways.ARROW_BATCHED, "string", lambda v: None if v is None else str(v), True),
    (ways.ARROW_BATCHED, "string", lambda v: v, False),
    (ways.ARROW_BATCHED, "tinyint", lambda _: 300, False),
    (ways.SCALAR_PANDAS, "double", lambda v: v / 2, True),
    (ways.SCALAR_PANDAS, "double", lambda v: v.astype("float32"), False),
    (ways.SCALAR_PANDAS_ITER, "double", lambda vs: (v / 2 for v in vs), True),
    (ways.SCALAR_PANDAS_ITER, "double", lambda vs: (v.astype("float32") for v in vs), False),
    later("4.1", ways.SCALAR_ARROW, "double", lambda v: v.cast("double"), True),
    later("4.1", ways.SCALAR_ARROW, "double", lambda v: v.cast("float"), False),
    later("4.1", ways.SCALAR_ARROW_ITER, "double", lambda vs: (v.cast("double") for v in vs), True),
    later("4.1", ways.SCALAR_ARROW_ITER, "double", lambda vs: (v.cast("float") for v in vs), False),
]
"""Functions, and whether what they return is what Arrow makes of it."""


SHOWN: dict[int, Callable[..., Any]] = {
    ways.PICKLED: repr,
    ways.ARROW_BATCHED: repr,
    ways.SCALAR_PANDAS: lambda v: v.map(repr) + str(v.dtype),
    ways.SCALAR_PANDAS_ITER: lambda vs: (v.map(repr) + str(v.dtype) for v in vs),
    ways.SCALAR_ARROW: lambda v: pa.array([f"{each} {v.type}" for each in v]),
    ways.SCALAR_ARROW_ITER: lambda vs: (pa.array([f"{each} {v.type}" for each in v]) for v in vs),
}
"""What tells the values that it gets, and of which type they are, in each way."""


@pytest.mark.parametrize(("way", "type", "function", "is_same"), CHAINED)
def test_what_is_handed_on_as_it_is_returned(
    edges: DataFrame, way: int, type: str, function: Callable[..., Any], is_same: bool
) -> None:
    """Spark converts nothing between two functions of one way: the second one sees what the first has returned."""
    first = made(way, function, type, "first_of_chain")
    shown = made(way, SHOWN[way], "string", "shown")
    df = edges.where("key > 0").select(shown(first("key")).alias("chained"), first("key").alias("alone"))
    plan = df_to_substrait(df, functions=[first, shown], dialect="datafusion")
    if is_same:
        assert_same(df, [first, shown])
        return
    with pytest.raises(EngineError, match="that Spark hands to the next function as it is"):
        datafusion.execute(plan, functions=[first, shown])
    canonical = df_to_substrait(df, functions=[first, shown])
    if type == "a int":
        with pytest.raises(UnsupportedPlanError, match="gets structs as another function has returned them"):
            spark_engine.execute(canonical, edges.sparkSession, functions=[first, shown])
        return
    again = spark_engine.execute(canonical, edges.sparkSession, functions=[first, shown])
    assert not differences(spark_rows(df.select("chained")), spark_rows(again.select("chained")))


OTHERWISE: dict[int, Callable[..., Any]] = {
    ways.PICKLED: same,
    ways.ARROW_BATCHED: same,
    ways.SCALAR_PANDAS: lambda v: v.astype("float32"),
    ways.SCALAR_PANDAS_ITER: lambda vs: (v.astype("float32") for v in vs),
    ways.SCALAR_ARROW: lambda v: v.cast("float"),
    ways.SCALAR_ARROW_ITER: lambda vs: (v.cast("float") for v in vs),
}
"""Functions of whole numbers that give other values than the doubles that they declare."""

BETWEEN: dict[str, Callable[[DataFrame], DataFrame]] = {
    "nothing": lambda df: df,
    "a cast": lambda df: df.select(F.col("a").cast("double").alias("a")),
    "a struct": lambda df: df.select(F.struct("a").alias("s")).select("s.a"),
    "a filter": lambda df: df.where("key > 1"),
    "a filter of the column": lambda df: df.where("a is not null or key > 0"),
    "a union": lambda df: df.union(df),
    "a join": lambda df: df.join(df.select(F.col("key").alias("k")).distinct(), F.col("key") == F.col("k")),
    "groups": lambda df: df.groupBy("a").count(),
    "a window": lambda df: df.withColumn("n", F.count("*").over(Window.partitionBy("key"))),
}
"""What may stand between two calls: Spark's optimizer brings some of them together."""


@pytest.mark.parametrize("way", WAYS)
def test_calls_that_the_optimizer_brings_together(edges: DataFrame, way: int) -> None:
    """Rows are Spark's or none, also of the query as it was written, where nothing shows that Spark hands a value on as it is."""
    first = made(way, OTHERWISE[way], "double", "otherwise")
    shown = made(way, SHOWN[way], "string", "shown")
    refused: dict[str, list[str]] = {"optimized": [], "analyzed": []}
    for name, between in BETWEEN.items():
        df = between(edges.select(first("key").alias("a"), "key")).select(shown("a").alias("shown"), "a")
        expected = spark_rows(df)
        for stage, names in refused.items():
            canonical = df_to_substrait(df, functions=[first, shown], stage=stage)
            again = spark_engine.execute(canonical, df.sparkSession, functions=[first, shown])
            assert not differences(expected, spark_rows(again)), [name, stage]
            try:
                rows = datafusion.collect(df, functions=[first, shown], stage=stage)
            except EngineError as error:
                assert "that Spark hands to the next function as it is" in str(error)  # noqa: PT017 - some raise
                names.append(name)
            else:
                assert not differences(expected, rows), [name, stage]
    assert "a join" not in refused["analyzed"]
    assert {"nothing", "a cast", "a union"} <= set(refused["analyzed"]) >= set(refused["optimized"])


def test_an_expression_by_itself_says_what_is_handed_on(edges: DataFrame) -> None:
    first = made(ways.PICKLED, lambda v: v, "int", "first_of_chain")
    shown = made(ways.PICKLED, repr, "string", "shown")
    for column, is_handed_on in (
        (shown(first("key").cast("int")), True),
        (shown(first("key") + 1), False),
    ):
        found = expressions_to_substrait(edges, {"x": column}, functions=[first, shown])
        assert ("handed_on=shown" in explain(found)) == is_handed_on


def test_a_query_as_written_has_its_calls(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda number: number * 2, "int", "twice")
    df = edges.select(twice("key").alias("a")).where("a > 2")
    plan = df_to_substrait(df, functions=[twice], dialect="datafusion", stage="analyzed")
    assert datafusion.execute(plan, functions=[twice]).to_pydict() == {"a": [4, 4]}


def test_a_plan_shows_a_call_where_the_query_has_one(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda number: number * 2, "int", "twice")
    plan = df_to_substrait(edges.where(twice("key") > 2).select((twice("integer") + 1).alias("n")), functions=[twice])
    text = explain(plan)
    assert "extension 'extension:twice:functions': twice:i32" in text
    assert "Filter gt(twice($" in text
    assert "Project [add(twice($0:integer)" in text
    assert text.count("Project") == 1


@pytest.mark.parametrize("count", [0, 2])
def test_arguments_are_counted(edges: DataFrame, count: int) -> None:
    nothing = made(ways.PICKLED, lambda *given: len(given), "int", "counted")
    by_arrow = made(ways.ARROW_BATCHED, lambda *given: len(given), "int", "counted_by_arrow")
    arguments = ["integer", "text"][:count]
    assert_same(edges.select(nothing(*arguments), by_arrow(*arguments), "key"), [nothing, by_arrow])


@since("4.0", "arguments by name")
def test_arguments_by_name_go_by_position(edges: DataFrame) -> None:
    minus = made(ways.ARROW_BATCHED, lambda first, second: f"{first}-{second}", "string", "minus")
    df = edges.select(minus(second=F.col("text"), first=F.col("key")), minus(F.col("key"), second=F.col("text")))
    assert_same(df, [minus])


AGGREGATES = [
    pytest.param(ways.GROUPED_AGG_PANDAS, lambda v: float(v.fillna(0).max() - v.fillna(0).min()), id="pandas"),
    later("4.1", ways.GROUPED_AGG_ARROW, lambda v: pc.subtract(pc.max(v), pc.min(v)).cast("double"), id="Arrow"),
    later(
        "4.2", ways.GROUPED_AGG_PANDAS_ITER, lambda vs: float(sum(v.fillna(0).sum() for v in vs)), id="series of pandas"
    ),
    later("4.2", ways.GROUPED_AGG_ARROW_ITER, lambda vs: float(sum(len(v) for v in vs)), id="arrays of Arrow"),
]


ONE_BY_ONE = (ways.GROUPED_AGG_PANDAS, ways.GROUPED_AGG_ARROW)
"""The ways in which Spark computes several aggregates at once."""


@pytest.mark.parametrize(("way", "function"), AGGREGATES)
def test_aggregates_get_the_rows_of_a_group(edges: DataFrame, way: int, function: Callable[..., Any]) -> None:
    spread = made(way, function, "double", "spread")
    assert_same(edges.groupBy("key").agg(spread("integer")), [spread])
    several = [spread("integer"), spread("key")] if way in ONE_BY_ONE else [spread("integer")]
    assert_same(edges.agg(*several), [spread])
    assert_same(edges.groupBy((F.col("key") > 5).alias("k")).agg(spread(F.col("integer") % 7).alias("s")), [spread])


def test_an_aggregate_of_no_rows_has_no_row(edges: DataFrame) -> None:
    spread = made(ways.GROUPED_AGG_PANDAS, lambda v: float(len(v)), "double", "spread")
    df = edges.where("key > 5").agg(spread("integer"))
    assert df.collect() == []
    assert not datafusion.execute(df_to_substrait(df, functions=[spread], dialect="datafusion"), functions=[spread])
    assert (
        spark_engine.execute(df_to_substrait(df, functions=[spread]), df.sparkSession, functions=[spread]).count() == 0
    )


def test_aggregates_over_windows(edges: DataFrame) -> None:
    spread = made(ways.GROUPED_AGG_PANDAS, lambda v: float(v.sum()), "double", "spread")
    whole, growing = Window.partitionBy("key"), Window.partitionBy("key").orderBy("byte")
    assert_same(edges.select("key", spread("byte").over(whole)), [spread])
    rows = growing.rowsBetween(Window.unboundedPreceding, 0)
    assert_same(edges.select("key", "byte", spread("byte").over(rows)), [spread])
    sliding = edges.select(spread("byte").over(growing.rowsBetween(-1, 0)))
    report = check(sliding, functions=[spread], dialect="datafusion")
    assert "has no spread:i8 over window frames that lose rows" in str(report)
    assert check(sliding, functions=[spread])


def test_aggregates_beside_others_are_refused(edges: DataFrame) -> None:
    spread = made(ways.GROUPED_AGG_PANDAS, lambda v: float(v.sum()), "double", "spread")
    report = check(edges.groupBy("key").agg(spread("byte"), F.count("*")), functions=[spread])
    assert "Spark doesn't compute spread beside aggregate functions of its own" in str(report)


def test_what_a_function_raises_is_shown(edges: DataFrame) -> None:
    def fails(number: int) -> int:
        return 1 // (number - number)

    failing = made(ways.PICKLED, fails, "int", "failing")
    df = edges.select(failing("key"))
    assert_same(df, [failing])
    with pytest.raises(EngineError) as raised:
        datafusion.execute(df_to_substrait(df, functions=[failing], dialect="datafusion"), functions=[failing])
    assert str(raised.value).startswith(
        "The function failing raised an exception.\nTraceback (most recent call last):\n"
    )
    assert "return 1 // (number - number)" in str(raised.value)
    assert str(raised.value).endswith("ZeroDivisionError: integer division or modulo by zero") or "by zero" in str(
        raised.value
    )
    assert "pyspark" not in str(raised.value)
    guarded = edges.where("key > 5").select(failing("key"))
    plan = df_to_substrait(guarded, functions=[failing], dialect="datafusion")
    assert datafusion.execute(plan, functions=[failing]).num_rows == 0


def test_a_result_of_another_length_raises(edges: DataFrame) -> None:
    short = made(ways.SCALAR_PANDAS, lambda v: v.head(1), "int", "short")
    assert_same(edges.select(short("key")), [short])


def test_functions_that_are_not_deterministic_are_called_as_often(edges: DataFrame) -> None:
    calls: list[int] = []

    def note(number: int) -> int:
        calls.append(number)
        return number

    noted = made(ways.PICKLED, note, "int", "noted", deterministic=False)
    df = edges.select(noted("key").alias("a"), noted("integer").alias("b")).select(
        "a", (F.col("a") + F.col("a")).alias("c"), "b"
    )
    plan = df_to_substrait(df, functions=[noted], dialect="datafusion")
    assert not next(iter(extensions_of(plan, [noted]))).deterministic
    found = datafusion.execute(plan, functions=[noted])
    assert found["c"].to_pylist() == [2, 2, 4, 4]
    assert len(calls) == 2 * TABLE.num_rows, "each row is called for once for each call"


@pytest.mark.parametrize("stage", ["optimized", "analyzed"])
def test_a_call_that_is_not_deterministic_is_made_once_for_a_row(spark: SparkSession, stage: str) -> None:
    calls: list[int] = []

    def draw(number: int) -> int | None:
        calls.append(number)
        return None if random.random() < 0.5 else random.randrange(1, 1000)

    drawn = made(ways.PICKLED, draw, "int", "drawn", deterministic=False)
    df = spark.range(100).select(F.col("id").cast("int").alias("n"), (F.col("id") % 2).alias("odd"))
    once = df.withColumn("a", drawn("n"))
    queries: list[tuple[DataFrame, int, Callable[..., bool]]] = [
        (df.select(F.coalesce(drawn("n"), F.lit(-1))), 100, lambda c: c is not None),
        (df.select(F.coalesce(drawn("n"), drawn("odd"), F.lit(-1))), 200, lambda c: c is not None),
        (df.select((F.coalesce(drawn("n"), F.lit(0)) / 7).alias("c")), 100, lambda c: c is not None),
        (df.select(drawn("n").alias("a"), drawn("n").alias("b")), 200, lambda _a, _b: True),
        (once.select("a", (F.col("a") + F.col("a")).alias("b")), 100, lambda a, b: a is None or 2 * a == b),
        (once.where("a > 500").where("a < 900"), 100, lambda _n, _odd, a: 500 < a < 900),
        (once.where("odd = 1").where("a > 500").select("odd"), 100, lambda odd: odd == 1),
        (once.groupBy("n").pivot("odd", [0, 1]).agg(F.max("a"), F.sum("a")), 100, lambda _, *each: same_pairs(each)),
        (once.groupBy("a").count().where("a is not null"), 100, lambda a, count: a > 0 and count > 0),
    ]
    for query, times, holds in queries:
        calls.clear()
        plan = df_to_substrait(query, functions=[drawn], dialect="datafusion", stage=stage)
        found = datafusion.execute(plan, functions=[drawn])
        assert 0 < len(calls) <= times, "a call is made again for a row"
        again = spark_engine.execute(df_to_substrait(query, functions=[drawn], stage=stage), spark, functions=[drawn])
        for rows in (found, spark_rows(again)):
            assert rows.num_rows, "vacuous: there is no row"
            assert all(holds(*row.values()) for row in rows.to_pylist()), (explain(plan), rows.to_pylist())


def same_pairs(values: Sequence[Any]) -> bool:
    """Whether the greatest and the sum of at most one value are the same."""
    return all(one == other for one, other in zip(values[::2], values[1::2], strict=True))


def test_a_call_that_would_be_evaluated_twice_is_refused(spark: SparkSession) -> None:
    """Spark computes what a query names several times once where it exchanges it, as it does below a join by keys."""
    drawn = made(ways.SCALAR_PANDAS, same, "int", "drawn_once", deterministic=False)
    once = spark.range(9).select("id", drawn(F.col("id").cast("int")).alias("a"))
    once.createOrReplaceTempView("drawn_once_rows")
    spark.udf.register("drawn_in_sql", drawn)
    twice = "WITH c AS (SELECT id, drawn_in_sql(CAST(id AS INT)) AS a FROM range(9)) "
    queries = [
        spark.sql(f"{twice} SELECT c.a FROM c JOIN c AS d ON c.a = d.a"),
        spark.sql(f"{twice} SELECT * FROM c UNION ALL SELECT * FROM c"),
        spark.sql("SELECT x.a FROM drawn_once_rows x JOIN drawn_once_rows y ON x.a = y.a"),
        once.union(once),
        once.select(F.nullif("a", F.lit(1)).alias("b")).union(once.select("a")),
    ]
    given = [declare_function(drawn, name="drawn_once")]
    for query in queries:
        for options in (
            {},
            {"dialect": "datafusion"},
            {"share_subplans": True},
            {"dialect": "datafusion", "stage": "analyzed"},
        ):
            report = str(check(query, functions=given, **options))
            assert "one call of drawn_once, which isn't deterministic, would be evaluated at 2 places" in report
    # Spark, a canonical plan and DataFusion's form evaluate it once for each row, however many sets of keys there are.
    totals = once.rollup(F.col("id") % 3).agg(F.sum("a"))
    canonical, lowered = (df_to_substrait(totals, functions=given, dialect=name) for name in (None, "datafusion"))
    assert [explain(plan).count("drawn_once(") for plan in (canonical, lowered)] == [1, 1]
    for rows in (
        spark_rows(spark_engine.execute(canonical, spark, functions=given)),
        datafusion.execute(lowered, functions=given),
    ):
        assert not differences(spark_rows(totals), rows)


def extensions_of(plan: Any, functions: Sequence[Any]) -> list[registry.Implementation]:
    """The functions in the extension file of a plan's."""
    from substrait_spark.user_functions.declared import UserFunctions
    from substrait_spark.user_functions.extension_file import documents

    ((_, text),) = documents(plan, UserFunctions(functions)).items()
    content = parsed_of_users(text)
    (function,) = content["scalar_functions"]
    return [registry._implementation(content["urn"], function, entry) for entry in function["impls"]]


# ---- declarations


def test_a_file_declares_what_is_called(edges: DataFrame, tmp_path: Path) -> None:
    clean = made(ways.PICKLED, same, "string", "clean_country")
    file = tmp_path / "functions.yaml"
    file.write_text(
        "urn: extension:com.example:test_a_file\n"
        "scalar_functions: [{name: clean_country, impls: [{args: [{value: string?}], return: string?}]}]\n"
    )
    df = edges.select(clean("text"))
    plan = df_to_substrait(df, functions=[file])
    assert "extension 'extension:com.example:test_a_file': clean_country:str" in explain(plan)
    assert lower(plan, "datafusion", functions=[str(file)]) == df_to_substrait(
        df, functions=[file], dialect="datafusion"
    )
    other = edges.select(made(ways.PICKLED, same, "string", "clean_country")("integer"))
    assert "declares no scalar function clean_country that takes (i32?)" in str(check(other, functions=[file]))
    number = edges.select(made(ways.PICKLED, same, "int", "clean_country")("text"))
    report = str(check(number, functions=[file]))
    assert "declares that clean_country returns string?, and Spark's function of that name returns i32?" in report


def test_an_extension_file_is_written(edges: DataFrame, tmp_path: Path) -> None:
    clean = declare_function(made(ways.PICKLED, same, "string", "clean"), urn="extension:com.example:written")
    spread = declare_function(
        made(ways.GROUPED_AGG_PANDAS, lambda v: 1.0, "double", "spread"), urn="extension:com.example:written"
    )
    df = edges.where(clean.spark.unwrapped("text") == "a").groupBy("key").agg(spread.spark.unwrapped("decimal"))  # type: ignore[union-attr]
    plan = df_to_substrait(df, functions=[clean, spread])
    (path,) = write_extension_file(tmp_path / "functions.yaml", plan, [clean, spread])
    assert registry.register(path.read_text()) == "extension:com.example:written"
    (found,) = registry.implementations("aggregate", "extension:com.example:written", "spread")
    assert found.signature == "dec"
    assert "value: decimal?<10, 2>" in path.read_text()
    assert df_to_substrait(df, functions=[path]).extensions == plan.extensions


def test_files_of_several_urns_are_in_a_folder(edges: DataFrame, tmp_path: Path) -> None:
    first, second = (made(ways.PICKLED, same, "int", name) for name in ("first_of_two", "second_of_two"))
    plan = df_to_substrait(edges.select(first("key"), second("key")), functions=[first, second])
    with pytest.raises(FunctionError, match="The plan calls functions of 2 URNs"):
        write_extension_file(tmp_path / "functions.yaml", plan, [first, second])
    paths = write_extension_file(tmp_path / "folder", plan, [first, second])
    assert sorted(path.name for path in paths) == ["first_of_two_functions.yaml", "second_of_two_functions.yaml"]
    with pytest.raises(FunctionError, match="calls none of the functions"):
        write_extension_file(tmp_path / "other", plan, [made(ways.PICKLED, same, "int", "third")])


def test_functions_of_sql_are_called(edges: DataFrame) -> None:
    registered = edges.sparkSession.udf.register("registered_twice", made(ways.PICKLED, lambda n: n * 2, "int", "n"))
    edges.createOrReplaceTempView("edges_of_functions")
    df = edges.sparkSession.sql(
        "SELECT registered_twice(key) AS a FROM edges_of_functions WHERE registered_twice(key) > 2"
    )
    assert_same(df, [registered])


def test_names_that_collide_are_refused(spark: SparkSession) -> None:
    one, two = (made(ways.PICKLED, lambda v, n=n: (v, n), "int", "same_name") for n in range(2))
    with pytest.raises(FunctionError, match="Two functions have the name same_name"):
        check_of([one, two])
    with pytest.raises(FunctionError, match="There is a standard function upper"):
        check_of([made(ways.PICKLED, same, "string", "upper")])
    with pytest.raises(FunctionError, match="'<lambda>' can't be called in a plan"):
        check_of([F.udf(lambda v: v, "int")])
    with pytest.raises(TypeError, match="functions= takes a list, not str"):
        check_of("functions.yaml")
    with pytest.raises(FunctionError, match="can't be read"):
        check_of(["nowhere.yaml"])
    with pytest.raises(FunctionError, match="is none of a kind that plans call"):
        check_of([made(ways.PICKLED + 108, same, "a int", "states")])


def check_of(functions: Any) -> None:
    from substrait_spark.user_functions.declared import UserFunctions

    UserFunctions(functions)


def test_functions_get_other_names(edges: DataFrame) -> None:
    plus = F.udf(lambda n: n + 1, IntegerType())
    given = [declare_function(plus, name="plus_one", urn="extension:com.example:plus")]
    plan = df_to_substrait(edges.select(plus("key")), functions=given, dialect="datafusion")
    assert "extension 'extension:com.example:plus': plus_one:i32" in explain(plan)
    assert datafusion.execute(plan, functions=given).to_pydict() == {"<lambda>(key)": [2, 2, 3, 3]}


JAVA = """\
package users;
public class Twice implements org.apache.spark.sql.api.java.UDF1, java.io.Serializable {
  public Object call(Object number) { return number == null ? null : (Object) (((Integer) number).intValue() * 2); }
}
"""


def compiled(spark: Any, source: str, name: str) -> Any:
    """The class of a name in a source text in Java."""
    compiler = spark._jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(spark._jvm.Thread.currentThread().getContextClassLoader())
    compiler.cook(source)
    return compiler.getClassLoader().loadClass(name)


JAVA_AGGREGATE = """\
package users;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.expressions.MutableAggregationBuffer;
import org.apache.spark.sql.types.*;
public class Longest extends org.apache.spark.sql.expressions.UserDefinedAggregateFunction {
  public StructType inputSchema() { return new StructType().add("text", DataTypes.StringType); }
  public StructType bufferSchema() { return new StructType().add("most", DataTypes.IntegerType); }
  public DataType dataType() { return DataTypes.IntegerType; }
  public boolean deterministic() { return true; }
  public void initialize(MutableAggregationBuffer buffer) { buffer.update(0, (Object) Integer.valueOf(0)); }
  public void update(MutableAggregationBuffer buffer, Row row) {
    int length = row.isNullAt(0) ? 0 : row.getString(0).length();
    buffer.update(0, (Object) Integer.valueOf(Math.max(buffer.getInt(0), length)));
  }
  public void merge(MutableAggregationBuffer buffer, Row other) {
    buffer.update(0, (Object) Integer.valueOf(Math.max(buffer.getInt(0), other.getInt(0))));
  }
  public Object evaluate(Row buffer) { return buffer.get(0); }
}
"""


def with_classes(spark: SparkSession, folder: Path, **sources: str) -> None:
    """Let a session load classes of Java by their names, in its executors too."""
    for name, source in sources.items():
        (folder / f"{name}.java").write_text(source)
    jars = f"{Path(str(pyspark.__file__)).parent / 'jars'}/*"
    files = [str(folder / f"{name}.java") for name in sources]
    subprocess.run(
        ["javac", "-nowarn", "-cp", jars, "-d", str(folder / "classes"), *files], check=True, capture_output=True
    )
    archive = shutil.make_archive(str(folder / "users"), "zip", folder / "classes")
    spark.sql(f"ADD JAR '{Path(archive).rename(folder / 'users.jar').as_uri()}'")


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no compiler of Java")
def test_functions_in_java_that_are_registered_by_class_have_sparks_rows(edges: DataFrame, tmp_path: Path) -> None:
    from datafusion import udaf, udf

    spark = edges.sparkSession.newSession()
    with_classes(spark, tmp_path, Words=REGISTERED, Widest=REGISTERED_AGGREGATE)
    spark.udf.registerJavaFunction("java_words", "registered.Words", IntegerType())
    spark.udf.registerJavaUDAF("java_widest", "registered.Widest")
    edges.createOrReplaceGlobalTempView("edges_of_java")
    file = tmp_path / "java.yaml"
    file.write_text(
        "urn: extension:com.example.java:registered\n"
        "scalar_functions: [{name: java_words, impls: [{args: [{value: string?}], nullability: DECLARED_OUTPUT, return: i32?}]}]\n"
        "aggregate_functions: [{name: java_widest, impls: [{args: [{value: i32?}], nullability: DECLARED_OUTPUT, return: i32?}]}]\n"
    )
    ctx = datafusion.context()
    ctx.register_udf(udf(pc.utf8_length, [pa.string()], pa.int32(), "immutable", "java_words"))
    ctx.register_udaf(udaf(Widest, [pa.int32()], pa.int32(), [pa.int32()], "immutable", "java_widest"))
    for query in (
        "SELECT key, java_words(text) AS n FROM t WHERE java_words(text) IS NULL OR java_words(text) < 2",
        "SELECT key, java_widest(integer) AS w, java_widest(java_words(text)) AS v FROM t GROUP BY key",
        "SELECT DISTINCT java_words(text) + key AS n FROM t ORDER BY n",
        "SELECT key, java_widest(byte) OVER (PARTITION BY key) AS w FROM t",
    ):
        df = spark.sql(
            f"WITH t AS (SELECT * FROM global_temp.edges_of_java WHERE text IS NULL OR text <> 'é😀') {query}"
        )
        for stage in ("optimized", "analyzed"):
            plan = df_to_substrait(df, functions=[file], dialect="datafusion", stage=stage)
            found = differences(spark_rows(df), datafusion.execute(plan, ctx, functions=[file]))
            assert not found, [query, stage, *found]


REGISTERED = """\
package registered;
public class Words implements org.apache.spark.sql.api.java.UDF1<String, Integer> {
  public Integer call(String text) { return text == null ? null : text.length(); }
}
"""

REGISTERED_AGGREGATE = JAVA_AGGREGATE.replace("package users", "package registered").replace("Longest", "Widest")
REGISTERED_AGGREGATE = REGISTERED_AGGREGATE.replace(
    'add("text", DataTypes.StringType)', 'add("n", DataTypes.IntegerType)'
)
REGISTERED_AGGREGATE = REGISTERED_AGGREGATE.replace("row.getString(0).length()", "row.getInt(0)")


class Widest(Accumulator):
    """The greatest number above 0, as the aggregate in Java has it."""

    def __init__(self) -> None:
        self.most = 0

    def update(self, *values: pa.Array) -> None:
        self.most = max([self.most, *values[0].drop_null().to_pylist()])

    def merge(self, states: list[pa.Array]) -> None:
        self.update(*states)

    def state(self) -> list[pa.Scalar]:
        return [self.evaluate()]

    def evaluate(self) -> pa.Scalar:
        return pa.scalar(self.most, pa.int32())


def declared_as_told(df: DataFrame, urn: str, file: Path) -> Path:
    """The extension file that a refusal of a query has ready to copy, under a URN of its own."""
    problem = next(iter(check(df)))
    start = problem.hint.index("{urn")
    end = problem.hint.index(". Or")
    file.write_text(problem.hint[start:end].replace("extension:com.example:functions", urn))
    return file


def test_a_file_declares_aggregates_in_java(edges: DataFrame, tmp_path: Path) -> None:
    from datafusion import udaf

    spark: Any = edges.sparkSession
    longest = compiled(spark, JAVA_AGGREGATE, "users.Longest").newInstance()
    spark._jsparkSession.udf().register("java_longest", longest)
    df = edges.groupBy("key").agg(F.expr("java_longest(text) AS most"))
    file = declared_as_told(df, "extension:com.example.java:aggregates", tmp_path / "functions.yaml")
    plan = df_to_substrait(df, functions=[file], dialect="datafusion")
    assert "java_longest:str" in explain(plan)

    class Longest(Accumulator):
        def __init__(self) -> None:
            self.most = 0

        def update(self, *values: pa.Array) -> None:
            self.most = max([self.most, *[len(value or "") for value in values[0].to_pylist()]])

        def merge(self, states: list[pa.Array]) -> None:
            self.most = max([self.most, *states[0].to_pylist()])

        def state(self) -> list[pa.Scalar]:
            return [pa.scalar(self.most, pa.int32())]

        def evaluate(self) -> pa.Scalar:
            return pa.scalar(self.most, pa.int32())

    ctx = datafusion.context()
    ctx.register_udaf(udaf(Longest, [pa.string()], pa.int32(), [pa.int32()], "immutable", "java_longest"))
    found = datafusion.execute(plan, ctx, functions=[file]).to_pylist()
    # Spark's executors don't find the class, and this function counts in Python's way.
    texts = TABLE.select(["key", "text"]).to_pylist()
    longest_of = {key: max(len(row["text"] or "") for row in texts if row["key"] == key) for key in (1, 2)}
    assert {row["key"]: row["most"] for row in found} == longest_of


def test_a_file_declares_functions_of_classes_that_nothing_is_known_of(edges: DataFrame, tmp_path: Path) -> None:
    """As an extension of Catalyst has them: here one of Spark's, which is in no table either."""
    file = tmp_path / "functions.yaml"
    file.write_text(
        "urn: extension:com.example:catalyst\n"
        "scalar_functions: [{name: sparkpartitionid, impls: [{args: [], return: i32}]}]\n"
    )
    df = edges.select(F.spark_partition_id().alias("p"))
    assert not check(df)
    assert "extension 'extension:com.example:catalyst': sparkpartitionid:" in explain(
        df_to_substrait(df, functions=[file])
    )


def test_a_file_declares_functions_in_java(edges: DataFrame, tmp_path: Path) -> None:
    spark: Any = edges.sparkSession
    twice = compiled(spark, JAVA, "users.Twice").newInstance()
    integer = getattr(spark._jvm.org.apache.spark.sql.types, "IntegerType$").__getattr__("MODULE$")
    spark._jsparkSession.udf().register("java_twice", twice, integer)
    df = edges.selectExpr("java_twice(key) AS x").where("x > 2")
    problem = next(iter(check(df)))
    assert problem.reason == (
        "the Scala or Java function java_twice runs in Spark only; it takes (i32?) and returns i32?, and makes the column x"
    )
    start = problem.hint.index("{urn")
    file = tmp_path / "functions.yaml"
    file.write_text(problem.hint[start : problem.hint.index(". Or")].replace("com.example", "com.example.java"))
    plan = df_to_substrait(df, functions=[file], dialect="datafusion")
    assert "extension 'extension:com.example.java:functions': java_twice:i32" in explain(plan)
    with pytest.raises(InvalidPlanError, match="register one of that name in the context"):
        datafusion.execute(plan, functions=[file])


JAVA_DRAWN = """\
package users;
public class Drawn implements org.apache.spark.sql.api.java.UDF1, java.io.Serializable {
  public Object call(Object number) { return number; }
  public org.apache.spark.sql.expressions.UserDefinedFunction function() {
    org.apache.spark.sql.api.java.UDF1 itself = this;
    return org.apache.spark.sql.functions.udf(itself, org.apache.spark.sql.types.DataTypes.IntegerType).asNondeterministic();
  }
}
"""


def test_a_file_says_that_a_function_is_not_deterministic(edges: DataFrame, tmp_path: Path) -> None:
    spark: Any = edges.sparkSession
    spark._jsparkSession.udf().register(
        "java_drawn", compiled(spark, JAVA_DRAWN, "users.Drawn").newInstance().function()
    )
    df = edges.selectExpr("java_drawn(key) AS x")
    assert "deterministic: false, " in next(iter(check(df))).hint
    certain = tmp_path / "functions.yaml"
    certain.write_text(
        "urn: extension:com.example.java:certain\n"
        "scalar_functions: [{name: java_drawn, impls: [{args: [{value: i32?}], nullability: DECLARED_OUTPUT, return: i32?}]}]\n"
    )
    assert "declares that java_drawn is deterministic, and Spark's function of that name isn't" in str(
        check(df, functions=[certain])
    )
    file = declared_as_told(df, "extension:com.example.java:drawn", tmp_path / "drawn.yaml")
    assert check(df, functions=[file])
    assert "one call of java_drawn" in str(check(df.union(df), functions=[file]))


def test_the_example_has_sparks_rows(spark: SparkSession) -> None:
    cloudpickle.register_pickle_by_value(own_functions)  # type: ignore[no-untyped-call]
    assert_same(own_functions.revenue_by_country(spark), own_functions.FUNCTIONS)


def test_snapshots_have_calls(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice")
    assert "twice($0:key)" in Form(functions=(twice,)).text(edges.select(twice("key")))


# ---- what isn't declared, and what nobody gave


def test_what_is_not_declared_names_what_declares_it(edges: DataFrame) -> None:
    clean = made(ways.PICKLED, same, "string", "clean_country")
    (problem,) = check(edges.select(clean("text").alias("c")))
    assert problem.reason == (
        "the Python function clean_country runs in Spark only; it takes (string?) and returns string?, and makes the column c"
    )
    assert problem.hint.startswith("Let plans call it by its name: functions=[clean_country].")
    assert "functions=[clean_country]" in check(edges.select(clean("text")))._repr_html_()
    upper = made(ways.PICKLED, same, "string", "upper")
    (problem,) = check(edges.select(upper("text")))
    assert "functions=[declare_function(upper, name='my_upper')]" in problem.hint
    assert check(edges.select(upper("text")), functions=[declare_function(upper, name="my_upper")])
    assert check(edges.select(clean("text").alias("c")), functions=[clean])


def test_another_function_of_the_name_is_refused(edges: DataFrame) -> None:
    one = made(ways.PICKLED, lambda v: v + 1, "int", "ambiguous")
    two = made(ways.PICKLED, lambda v: v + 2, "int", "ambiguous")
    report = check(edges.select(one("key")), functions=[two])
    assert "the query calls another function ambiguous than the one that functions= has" in str(report)


def test_a_plan_runs_nothing_that_nobody_gave(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice")
    plan = df_to_substrait(edges.select(twice("key")), functions=[twice], dialect="datafusion")
    assert b"cloudpickle" not in plan.SerializeToString()
    with pytest.raises(
        InvalidPlanError, match=r"calls the function twice of extension:twice:functions, which is not there"
    ):
        datafusion.execute(plan)
    evil = declare_function(twice, name="evil", urn="extension:twice:functions")
    with pytest.raises(InvalidPlanError, match="which is not there"):
        datafusion.execute(plan, functions=[evil])
    canonical = df_to_substrait(edges.select(twice("key")), functions=[twice])
    with pytest.raises(
        UnsupportedPlanError, match="the function twice:i32 of extension:twice:functions is not run in Spark"
    ):
        spark_engine.execute(canonical, edges.sparkSession)


def test_a_plan_of_another_release_is_refused(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice")
    plan = df_to_substrait(edges.select(twice("key")), functions=[twice], dialect="datafusion")
    (call,) = plan.relations[0].root.input.project.expressions
    (option,) = call.scalar_function.options
    option.preference[0] = "3.4"
    with pytest.raises(InvalidPlanError, match=r"calls the function twice as Spark 3\.4 does"):
        datafusion.execute(plan, functions=[twice])


def test_other_conversions_than_the_defaults_are_refused(edges: DataFrame) -> None:
    setting = "spark.sql.execution.pandas.convertToArrowArraySafely"
    twice = made(ways.SCALAR_PANDAS, lambda n: n * 2, "int", "twice")
    df = edges.select(twice("key"))
    spark = edges.sparkSession
    default = str(spark.conf.get(setting))
    spark.conf.set(setting, "false" if default == "true" else "true")
    try:
        assert f"the session's setting {setting} is" in str(check(df, functions=[twice]))
    finally:
        spark.conf.set(setting, default)


def test_a_context_may_have_a_function_itself(edges: DataFrame) -> None:
    from datafusion import udf

    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice_in_context")
    plan = df_to_substrait(edges.select(twice("key")), functions=[twice], dialect="datafusion")
    ctx = datafusion.context()
    ctx.register_udf(
        udf(
            lambda n: pc.multiply(n, pa.scalar(3, pa.int32())),
            [pa.int32()],
            pa.int32(),
            "immutable",
            "twice_in_context",
        )
    )
    assert datafusion.execute(plan, ctx).column(0).to_pylist() == [3, 3, 6, 6]


# ---- everywhere else


def test_functions_are_given_by_any_iterable(edges: DataFrame, tmp_path: Path) -> None:
    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice")
    df = edges.select(twice("key").alias("x"))
    canonical = df_to_substrait(df, functions=iter([twice]))
    plan = lower(canonical, "datafusion", functions=(each for each in [twice]))
    assert plan == df_to_substrait(df, dialect="datafusion", functions={twice.__name__: twice}.values())
    assert check(df, functions=iter([twice]))
    assert expressions_to_substrait(df, {"x": twice(F.col("x"))}, functions=iter([twice]))
    assert write_extension_file(tmp_path / "functions.yaml", canonical, iter([twice]))
    with capture(edges.sparkSession, functions=iter([twice])) as queries:
        df.collect()
        df.count()
    assert all(query.plan is not None for query in queries)
    for engine in ("datafusion", "spark"):
        assert compare(df, functions=iter([twice]), engine=engine)
    rows = {"x": [2, 2, 4, 4]}
    assert datafusion.collect(df, functions=iter([twice])).to_pydict() == rows
    assert datafusion.stream(df, functions=iter([twice])).read_all().to_pydict() == rows
    assert datafusion.stream(plan, functions=iter([twice])).read_all().to_pydict() == rows
    assert datafusion.execute(plan, functions=iter([twice])).to_pydict() == rows
    again = spark_engine.execute(canonical, edges.sparkSession, functions=iter([twice]))
    assert spark_rows(again).to_pydict() == rows


def test_expressions_by_themselves(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice")
    found = expressions_to_substrait(edges, {"x": twice(F.col("key")) + 1}, functions=[twice])
    assert "add(twice($" in explain(found)


def test_comparisons(edges: DataFrame) -> None:
    twice = made(ways.PICKLED, lambda n: n * 2, "int", "twice")
    assert compare(edges.select(twice("key")), functions=[twice])
    assert compare(edges.select(twice("key")), functions=[twice], engine="spark")


def test_conversions_of_time_zones_are_stated(edges: DataFrame) -> None:
    hours = made(ways.SCALAR_PANDAS, lambda v: v.dt.hour.astype("Int32"), "int", "hours")
    df = edges.where("instant > '2000-01-01'").select(hours("instant"))
    assert_same(df, [hours])
    assert 'time_zone="America/Los_Angeles"' in explain(df_to_substrait(df, functions=[hours]))
    other = edges.sparkSession.newSession()
    other.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    with pytest.raises(UnsupportedPlanError, match="hours sees instants in the time zone America/Los_Angeles"):
        spark_engine.execute(df_to_substrait(df, functions=[hours]), other, functions=[hours])


def test_maps_of_pickled_rows_are_refused(edges: DataFrame) -> None:
    taken = made(ways.PICKLED, lambda m: None, "int", "taken")
    returned = made(ways.PICKLED, lambda n: {"n": n, "m": n}, "map<string, int>", "returned")
    inside = made(ways.PICKLED, lambda n: [{"n": n}], "array<map<string, int>>", "inside")
    for function, column, what in (
        (taken, "map", "arguments"),
        (returned, "key", "results"),
        (inside, "key", "results"),
    ):
        plan = df_to_substrait(edges.select(function(column)), functions=[function], dialect="datafusion")
        with pytest.raises(
            InvalidPlanError, match=rf"{what} that are maps can't be run here.*Use udf\(…, useArrow=True\)"
        ):
            datafusion.execute(plan, functions=[function])


def test_maps_that_come_by_arrow(edges: DataFrame) -> None:
    returned = made(
        ways.ARROW_BATCHED, lambda n: None if n is None else {"n": n, "m": None}, "map<string, int>", "returned"
    )
    assert_same(edges.select(returned("integer").alias("m")).select("m", F.element_at("m", F.lit("n"))), [returned])


@since("4.0", "SQL functions")
def test_functions_of_sql_call_functions_of_python(edges: DataFrame) -> None:
    """Spark puts the body of a function in SQL in the place of its call, with the calls that are in it."""
    spark = edges.sparkSession.newSession()
    twice = spark.udf.register("twice_in_sql", made(ways.PICKLED, lambda n: n * 2, "int", "twice_in_sql"))
    edges.createOrReplaceGlobalTempView("edges_of_sql_functions")
    view = "global_temp.edges_of_sql_functions"
    spark.sql("CREATE TEMPORARY FUNCTION four_times(n INT) RETURNS INT RETURN twice_in_sql(twice_in_sql(n))")
    spark.sql("CREATE TEMPORARY FUNCTION area(w DOUBLE, h DOUBLE DEFAULT 2) RETURNS DOUBLE RETURN w * h")
    spark.sql(f"CREATE TEMPORARY FUNCTION longest() RETURNS INT RETURN SELECT max(length(text)) FROM {view}")
    spark.sql(
        f"CREATE TEMPORARY FUNCTION keyed(k INT) RETURNS TABLE (t STRING) RETURN SELECT text FROM {view} WHERE key = k"
    )
    for query in (
        f"SELECT four_times(key) AS f, area(double), area(h => double, w => 1) FROM {view} WHERE four_times(key) > 4",
        f"SELECT key, longest() AS most FROM {view}",
        "SELECT * FROM keyed(2)",
        f"SELECT sum(area(key, double)) AS total FROM {view} GROUP BY key",
    ):
        for stage in ("optimized", "analyzed"):
            df = spark.sql(query)
            plan = df_to_substrait(df, functions=[twice], dialect="datafusion", stage=stage)
            found = differences(spark_rows(df), datafusion.execute(plan, functions=[twice]))
            assert not found, [query, stage, *found]
