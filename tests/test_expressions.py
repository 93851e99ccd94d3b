"""Expressions by themselves: what they are made of, and that Spark and PyArrow compute them as Spark does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.substrait
import pytest
from click.testing import CliRunner
from functions import cases, grid
from google.protobuf.json_format import MessageToJson
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType
from rows import differences, other_session, spark_table
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type
from test_functions import raising_rows

from substrait_spark import (
    SubstraitSparkError,
    UnsupportedPlanError,
    UnsupportedSessionError,
    df_to_substrait,
    diff,
    explain,
    expressions_to_substrait,
    lower,
    to_html,
    to_mermaid,
)
from substrait_spark.algebra.message_walk import depth
from substrait_spark.command_line.commands import group
from substrait_spark.dialects import load
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.pyarrow import rewrites
from substrait_spark.extended.plans import TABLE, plan_of
from substrait_spark.extensions.yaml_text import parsed
from substrait_spark.plan.message import DEPTH_LIMIT
from substrait_spark.testing import assert_well_formed

Expressions = Mapping[str, Column | str]

MODES = ("ansi", "legacy")

ROW_BY_ROW = [case for case in cases.load() if case.by_rows and case.canonical]

BATCH = 40
"""How many calls run as one query of Spark's."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """A column of edge values of each type."""
    path = tmp_path_factory.mktemp("grid") / "grid.parquet"
    grid.write(path)
    return pq.read_table(path)


@pytest.fixture(scope="module")
def edges(table: pa.Table, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """The same table in Spark."""
    path = tmp_path_factory.mktemp("rows") / "grid.parquet"
    pq.write_table(table, path)
    spark.read.parquet(str(path)).createOrReplaceTempView("grid")
    return spark.table("grid")


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    spark.conf.set("spark.sql.ansi.enabled", str(request.param == "ansi").lower())
    yield request.param
    spark.conf.unset("spark.sql.ansi.enabled")


def converted(given: Any, expressions: Expressions, dialect: str | None = None) -> ExtendedExpression:
    """The message, which is well-formed, and the same when it is read and written again."""
    message = expressions_to_substrait(given, expressions, dialect=dialect)
    assert_well_formed(message)
    if dialect is None:
        assert lower(message, load(None)) == message
    return message


def as_plan(message: ExtendedExpression) -> Plan:
    """One plan that computes all expressions, or all measures, of a table."""
    plan = plan_of(message)
    first, *others = [entry.root for entry in plan.relations]
    computed = first.input.project
    for each in others:
        first.names.extend(each.names)
        if each.input.HasField("aggregate"):
            first.input.aggregate.measures.extend(each.input.aggregate.measures)
        else:
            computed.common.emit.output_mapping.append(computed.common.emit.output_mapping[-1] + 1)
            computed.expressions.extend(each.input.project.expressions)
    del plan.relations[1:]
    return plan


def in_spark(message: ExtendedExpression, rows: DataFrame) -> pa.Table:
    """What Spark computes of a canonical message, in a session whose settings say otherwise what expressions mean."""
    other = other_session(rows.sparkSession)
    kept = spark_engine.execute(as_plan(message), other, tables={TABLE: rows})
    return spark_table(kept)


def in_pyarrow(expression: pc.Expression, rows: pa.Table) -> pa.Table:
    """What PyArrow computes, row by row."""
    return ds.dataset(rows).to_table(columns={"id": ds.field("id"), "r": expression})


def by_name(message: ExtendedExpression) -> dict[str, pc.Expression]:
    """PyArrow's expressions of a message."""
    return dict(pyarrow.substrait.deserialize_expressions(message.SerializeToString()).expressions)


def obstacles(given: Any, expressions: Expressions, dialect: str | None = None) -> list[str]:
    """Why expressions are refused."""
    with pytest.raises(UnsupportedPlanError) as refused:
        expressions_to_substrait(given, expressions, dialect=dialect)
    return [f"{problem.path}: {problem.reason}" for problem in refused.value.problems]


# ---- canonical

SCALARS = {
    "sum": "i32 + i64",
    "comparison": "f64 > 1 AND NOT f32 <=> f322 OR bool",
    "choice": "CASE WHEN i32 > 0 THEN 100 / i32 WHEN i32 IS NULL THEN -1 END",
    "try": "try_cast(s AS int)",
    "text": "upper(substring(s, 2, 3)) || '!' ",
    "list": "i32 IN (1, 2, NULL)",
    "parts": "struct(i32 AS a, struct(s AS c) AS b)",
    "inside": "st.y",
    "lambda": "exists(ai, x -> x > 2)",
    "time": "year(ts) * 100 + month(dt)",
    "decimal": "d5_2 * d18_4",
    "replaced": "nvl(i32, 0) + nullif(i32, 1)",
    "pattern": "s LIKE 'a%'",
    "column": "i64",
    "constant": "date'2024-02-29'",
}


def test_scalars(edges: DataFrame, spark: SparkSession) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        message = converted(edges, SCALARS)
        assert [each.output_names[0] for each in message.referred_expr] == list(SCALARS)
        expected = spark_table(edges.selectExpr(*[f"{text} AS `{name}`" for name, text in SCALARS.items()]))
        assert differences(expected, in_spark(message, edges)) == []
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_measures(edges: DataFrame) -> None:
    measures = {
        "n": "count(*)",
        "distinct": "count(DISTINCT i8)",
        "total": "sum(CAST(i8 AS bigint) * 2)",
        "least": "min(s)",
        "mean": "avg(d5_2)",
        "greatest": "max(CASE WHEN bool THEN i64 END)",
    }
    message = converted(edges, measures)
    assert {each.WhichOneof("expr_type") for each in message.referred_expr} == {"measure"}
    expected = spark_table(edges.selectExpr(*[f"{text} AS `{name}`" for name, text in measures.items()]))
    assert differences(expected, in_spark(message, edges)) == []


def test_columns_and_names(spark: SparkSession) -> None:
    trips = spark.createDataFrame([(1.5, ("a", 2))], "price double, place struct<name: string, zone: int>").alias("t")
    expressions = {"keep": F.col("t.price") * 2 > 10, "place": trips["place"], "count": F.count("place.zone")}
    assert explain(converted(trips, expressions)) == (
        "substrait extended expression text 1\n"
        "version 0.106.0 producer 'substrait-spark 0.1.0'\n"
        "base_schema [price: fp64?, place: struct?<name: string?, zone: i32?>]\n"
        "extension 'extension:io.substrait:functions_aggregate_generic': count:any\n"
        "extension 'extension:io.substrait:functions_arithmetic': multiply:fp64_fp64\n"
        "extension 'extension:io.substrait:functions_comparison': gt:any_any\n"
        "\n"
        "referred_expr [keep]\n"
        "  Expression gt(multiply($0:price, 2.0::fp64), 10.0::fp64) -> keep: boolean?\n"
        "\n"
        "referred_expr [place, name, zone]\n"
        "  Expression $1:place -> place: struct?<name: string?, zone: i32?>\n"
        "\n"
        "referred_expr [count]\n"
        "  Measure count($1:place.1:zone) -> count: i64\n"
    )


@pytest.mark.usefixtures("spark")
def test_schemas() -> None:
    in_words = converted("price double, n int not null", {"r": "n + 1"})
    assert in_words == converted(
        StructType().add("price", "double").add(StructField("n", IntegerType(), False)), {"r": F.col("n") + 1}
    )
    assert list(in_words.base_schema.names) == ["price", "n"]


def test_any_dataframe_has_a_schema(spark: SparkSession) -> None:
    frames = [
        spark.sql("WITH t AS (SELECT 1 AS a) SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a"),
        spark.readStream.format("rate").load().selectExpr("CAST(value AS int) AS a"),
        spark.sql("SELECT explode(array(1)) AS a").where("false"),
        spark.range(3).selectExpr("CAST(id AS int) AS a").cache(),
    ]
    for frame in frames:
        assert "add($0:a, 1::i32)" in explain(converted(frame, {"r": frame["a"] + 1}))
    frames[-1].unpersist()


@pytest.mark.usefixtures("spark")
def test_random_numbers_are_drawn_once() -> None:
    assert "rand(1::i64)" in explain(converted("a int", {"r": "rand(1) + a", "s": "rand(2)"}))
    (found,) = obstacles("a int", {"r": "rand(1) + a", "s": "rand(1)"})
    assert "rand with the seed 1 would be evaluated at 2 places" in found


def test_no_job_runs(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1,)], "a int")
    tracker = spark.sparkContext.statusTracker()
    context: Any = spark.sparkContext
    context.setJobGroup("expressions", "none of its jobs")
    try:
        converted(rows, {"r": "a + 1", "s": F.sum("a")})
        converted("a int", {"r": "a"})
        assert list(tracker.getJobIdsForGroup("expressions")) == []
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


REFUSED: dict[str, tuple[str | Column, str]] = {
    "a query": ("a = (SELECT 1)", "ScalarSubquery computes something else"),
    "a membership": ("a IN (SELECT 1)", "ListQuery computes something else"),
    "rows around": ("row_number() OVER (ORDER BY a)", "Window computes something else"),
    "several rows": ("explode(array(a))", "Generate computes something else"),
    "several columns": ("*", "it gives 2 columns"),
    "a result's use": ("sum(a) + 1", "it computes something of the result of an aggregate"),
    "a filtered measure": ("sum(a) FILTER (WHERE a > 1)", "a measure by itself has no place for a FILTER"),
    "the day": ("current_date()", "current_date is settled once for a query"),
    "no column": ("nothing", "Spark itself can't plan it: [UNRESOLVED_COLUMN"),
    "no SQL": ("((", "Spark itself can't plan it: [PARSE_SYNTAX_ERROR]"),
    "surroundings": ("input_file_name()", "InputFileName has no Substrait form"),
    "metadata": ("_metadata.file_path", "it refers to columns that are not in the schema: _metadata"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).selectExpr("id AS a", "id AS b").write.parquet(str(tmp_path / "t"))
    expression, reason = REFUSED[name]
    found = obstacles(spark.read.parquet(str(tmp_path / "t")), {"fine": "a + 1", name: expression})
    assert len(found) == 1
    assert found[0].startswith(f"expression {name!r}")
    assert reason in found[0]


def test_every_obstacle_is_told(spark: SparkSession) -> None:
    over = Window.orderBy("a")
    expressions: dict[str, Any] = {"w": F.row_number().over(over), "u": F.udf(str)("a"), "fine": "a"}
    found = obstacles(spark.range(1).toDF("a"), expressions)
    assert [reason.split("'")[1] for reason in found] == ["w", "u"]


def test_too_deep(spark: SparkSession) -> None:
    found = obstacles("a double", {"deep": " + ".join(["a"] * 60)})
    assert found == [
        "expression 'deep': it nests 186 messages deep, and Substrait readers stop at 100",
    ]


def test_too_deep_but_stored_apart(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (0.5D), (NULL), (-0.0D), (double('NaN')) AS t(a)")
    deep = " + ".join(["a"] * 200)
    expressions = {"deep": deep, "flat": "a > 0", "deeper": f"{deep} - 1"}
    message = expressions_to_substrait(rows, expressions, detach=True)
    assert len(message.detached_expressions) > 4
    assert depth(message) <= DEPTH_LIMIT
    assert_well_formed(message)
    assert lower(message, load(None)) == message
    assert "detached" in explain(message)
    expected = spark_table(rows.selectExpr(*[f"{text} AS {name}" for name, text in expressions.items()]))
    assert differences(expected, in_spark(message, rows)) == []
    with pytest.raises(UnsupportedPlanError, match="messages deep"):
        lower(message, "pyarrow")
    with pytest.raises(ValueError, match="only without a dialect"):
        expressions_to_substrait(rows, expressions, detach=True, dialect="pyarrow")


def test_a_deep_measure_is_stored_apart(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1.5D), (NULL), (2.0D) AS t(a)")
    message = expressions_to_substrait(rows, {"total": f"sum({' + '.join(['a'] * 100)})"}, detach=True)
    assert message.detached_expressions
    assert_well_formed(message)
    expected = spark_table(rows.selectExpr(f"sum({' + '.join(['a'] * 100)}) AS total"))
    assert differences(expected, in_spark(message, rows)) == []


@pytest.mark.parametrize(
    ("given", "expressions", "error"),
    [
        ("a int", {}, ValueError),
        ("a int", {"r": 1}, TypeError),
        ("a int", {1: "a"}, TypeError),
        ("a int", "a", TypeError),
        ("a nothing", {"r": "a"}, SubstraitSparkError),
        (1, {"r": "a"}, SubstraitSparkError),
    ],
)
@pytest.mark.usefixtures("spark")
def test_what_is_no_expression(given: Any, expressions: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        expressions_to_substrait(given, expressions)


def test_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(UnsupportedSessionError, match="needs an active Spark session"):
        expressions_to_substrait("a int", {"r": "a"})


# ---- reading and showing


def test_lowering_a_message(edges: DataFrame) -> None:
    expressions = {"r": "i32 + 1 > 2 AND f64 = f642", "s": "coalesce(s, 'none')"}
    assert lower(converted(edges, expressions), "pyarrow") == converted(edges, expressions, "pyarrow")
    with pytest.raises(UnsupportedPlanError, match="expression 'm': the dialect pyarrow has no AGGREGATE relations"):
        lower(converted(edges, {"m": "sum(i64)"}), "pyarrow")
    with pytest.raises(UnsupportedPlanError, match="it has no expression"):
        lower(ExtendedExpression(), "pyarrow")


def test_messages_of_pyarrow() -> None:
    schema = pa.schema([("a", pa.int32()), ("b", pa.int32())])
    content = pyarrow.substrait.serialize_expressions([pc.field("a") < pc.field("b")], ["less"], schema)
    message = ExtendedExpression.FromString(bytes(content))
    found = lower(message, load(None))
    assert "Expression lt($0:a, $1:b) -> less: boolean?" in explain(found)


def test_shown(edges: DataFrame) -> None:
    one, other = converted(edges, {"r": "i32 > 1"}), converted(edges, {"r": "i32 > 2"})
    assert "i32" in to_html(one)
    assert to_mermaid(one).startswith("flowchart BT")
    assert diff(one, one) == ""
    assert "gt($6:i32, 2::i32)" in diff(one, other)
    one.detached_expressions.add().literal.i32 = 7
    one.referred_expr[0].output_names.append("more")
    assert "detached 0 = 7::i32" in explain(one)
    assert "referred_expr [r, more]" in explain(one)


@pytest.mark.parametrize("form", ["binary", "json"])
def test_explained_in_a_shell(form: str, tmp_path: Path, spark: SparkSession) -> None:
    message = converted(spark.range(1), {"r": "id > 1", "n": "count(*)"})
    file = tmp_path / "expressions"
    file.write_bytes(message.SerializeToString() if form == "binary" else MessageToJson(message).encode())
    found = CliRunner().invoke(group, ["explain", str(file)])
    assert found.output == explain(message)
    plan = tmp_path / "plan"
    plan.write_bytes(df_to_substrait(spark.range(1)).SerializeToString())
    assert CliRunner().invoke(group, ["explain", str(plan)]).output.startswith("substrait plan text 1\n")
    assert CliRunner().invoke(group, ["diff", str(file), str(file)]).exit_code == 0


# ---- in PyArrow


@pytest.mark.parametrize("family", sorted({case.family for case in ROW_BY_ROW}))
def test_functions(family: str, mode: str, edges: DataFrame, table: pa.Table) -> None:
    """Whatever of the grid's cases PyArrow's dialect takes has Spark's rows, or raises where Spark does."""
    of_family = {case.call: case for case in ROW_BY_ROW if (case.family, case.mode) == (family, mode)}
    names = {f"r{n}": call for n, call in enumerate(of_family)}
    lacking = refused(edges, names)
    taken = {name: call for name, call in names.items() if name not in lacking}
    if not taken:
        return
    message = expressions_to_substrait(edges, taken, dialect="pyarrow")
    assert_well_formed(message)
    expressions = by_name(message)
    raising = [name for name, call in taken.items() if of_family[call].raises]
    certain = [name for name in taken if name not in raising]
    for start in range(0, len(certain), BATCH):
        batch = certain[start : start + BATCH]
        expected = spark_table(edges.selectExpr("id", *[f"{taken[name]} AS {name}" for name in batch]))
        for name in batch:
            wanted = expected.select(["id", name]).rename_columns(["id", "r"])
            found = differences(
                wanted, in_pyarrow(expressions[name], table), tolerance=of_family[taken[name]].tolerance
            )
            assert found == [], f"{taken[name]}: {found[:3]}"
    for name in raising:
        compare_row_by_row(edges, taken[name], expressions[name], table)


def refused(edges: DataFrame, expressions: Expressions) -> set[str]:
    """The names of those expressions that the dialect does not take."""
    try:
        expressions_to_substrait(edges, expressions, dialect="pyarrow")
    except UnsupportedPlanError as error:
        return {problem.path.split("'")[1] for problem in error.problems}
    except ValueError:
        assert not expressions
    return set()


def compare_row_by_row(edges: DataFrame, call: str, expression: pc.Expression, table: pa.Table) -> None:
    """Rows for which Spark raises raise in PyArrow, each by itself; the others are equal."""
    rows = raising_rows(edges.selectExpr("id", f"{call} AS r"))
    others = table.filter(pc.invert(pc.is_in(table["id"], pa.array(rows, pa.int32()))))
    if others.num_rows:
        fine = edges.where(~F.col("id").isin(rows)).selectExpr("id", f"{call} AS r")
        assert differences(spark_table(fine), in_pyarrow(expression, others)) == [], call
    for row in rows[:: max(1, len(rows) // 4)][:4]:
        with pytest.raises(pa.ArrowException):
            in_pyarrow(expression, table.filter(pc.equal(table["id"], row)))


TAKEN = [
    "i32 > 1 AND s LIKE 'a%'",
    "f64 = f642 OR f64 > 1",
    "f64 <> f642",
    "f32 <= f322",
    "f64 <=> f642",
    "f64 IN (1.5D, double('NaN'))",
    "i32 IN (1, 2, 7)",
    "i32 NOT IN (1, NULL)",
    "s IN ('a', 'b')",
    "bool < bool2",
    "CASE WHEN bool THEN i32 END",
    "CASE WHEN bool THEN 'yes' WHEN bool2 THEN 'no' ELSE s END",
    "if(i32 <> 0, i64 div i32, 0)",
    "i32 <> 0 AND i64 % i32 > 1",
    "i32 = 0 OR 10 / i32 > 1",
    "coalesce(i8, CAST(i16 AS tinyint))",
    "CASE WHEN f64 BETWEEN -100 AND 100 THEN CAST(f64 AS int) END",
    "CASE WHEN i32 < 100 THEN CASE WHEN i32 > 0 THEN i32 + 1 ELSE 5 END END",
    "nvl(s, '') || '-' || t",
    "contains(s, 'b') AND NOT startswith(s, '')",
    "s LIKE '%b%'",
    "s LIKE 'abc'",
    "dt >= date'1970-01-01'",
    "ts < timestamp'2024-02-29 12:00:00'",
    "date_add(dt, i32) > dt2 AND datediff(dt, dt2) < 3",
    "CAST(CAST(dt AS timestamp_ntz) AS date)",
    "ntz = timestamp_ntz'1970-01-01 00:00:00'",
    "d5_2 + d18_4 > 1.5",
    "-f64 + abs(f32)",
    "greatest(f64, f642, 0D)",
    "least(s, t)",
    "st.x = 1 AND st.y IS NULL",
    "nullif(i32, 1)",
    "bin = X'00'",
    "i32 & i322 | 7 ^ ~i32",
    "CAST(i64 AS double) / 3",
    "sqrt(f64)",
    "exp(f64) + sin(f64) * cosh(f64) - atanh(f64)",
    "ln(f64) > log10(f64) OR log1p(f64) IS NULL",
    "floor(f64) + ceil(-f64)",
    "degrees(f64)",
    "unix_seconds(ts)",
    "CAST(ts AS double)",
    "CAST(f64 AS tinyint)",
    "CAST(i64 AS int)",
    "pmod(i64, 3)",
    "isnan(f64)",
]
"""What filters and columns are made of."""


@pytest.mark.parametrize("call", TAKEN)
def test_taken(call: str, mode: str, edges: DataFrame, table: pa.Table) -> None:
    expression = by_name(converted(edges, {"r": call}, "pyarrow"))["r"]
    try:
        expected = spark_table(edges.selectExpr("id", f"{call} AS r"))
    except Exception:  # noqa: BLE001 - whatever Spark raises
        compare_row_by_row(edges, call, expression, table)
        return
    assert len(set(map(str, expected["r"].to_pylist()))) > 1, "vacuous: all values are alike"
    assert differences(expected, in_pyarrow(expression, table)) == []


def test_filters(edges: DataFrame, table: pa.Table) -> None:
    for condition in ("f64 >= f642", "NOT (i32 > 1 AND s > 'b')", "bool", "s LIKE '%b%' OR i32 IS NULL"):
        expression = pc.Expression.from_substrait(converted(edges, {"keep": condition}, "pyarrow").SerializeToString())
        kept = ds.dataset(table).to_table(filter=expression, columns=["id"])["id"].to_pylist()
        assert sorted(kept) == sorted(row.id for row in edges.where(condition).collect())


LACKING = {
    "upper(s)": "has no function upper:str",
    "month(dt)": "has no function extract",
    "hour(ntz)": "has no extract:req_pts of HOUR",
    "pow(f64, 2)": "has no function spark_power",
    "s LIKE 'a_c'": "has wildcards at the ends of a pattern only",
    "s LIKE t": "has no function spark_like:str_str_str",
    "contains(s, t)": "takes only literals as options of contains",
    "CAST(s AS int)": "has no exact cast of string? to i32?",
    "CAST(f64 AS string)": "has no exact cast of fp64? to string?",
    "CAST(d38_10 AS decimal(5, 2))": "does not round decimal?<38, 10>",
    "ai": "has no expressions of list?<i32?>",
    "st": "has no expressions of struct?<i32?, string?>",
    "m['a']": "has no elements of lists and no values of maps",
    "struct(i32)": "has no STRUCT NESTED expressions",
    "ai = ai2": "has no such comparison of list?<i32?>",
    "sum(i32)": "has no AGGREGATE relations",
}


@pytest.mark.parametrize("call", LACKING)
def test_lacking(call: str, edges: DataFrame) -> None:
    assert any(LACKING[call] in found for found in obstacles(edges, {"r": call}, "pyarrow"))


DEFECTS: dict[str, Callable[[], Any]] = {
    "decimal_digits": lambda: pc.add(pa.scalar(1, pa.decimal128(38, 0)), pa.scalar(1, pa.decimal128(38, 0))),
    "evaluates_all": lambda: pc.if_else(pa.array([False]), pc.divide(pa.array([1]), pa.array([0])), 1),
    "null_patterns": lambda: by_name(with_null_pattern()),
    "unordered_nan": lambda: pc.equal(float("nan"), float("nan")),
}
"""By the dialect's name of it, what Acero does otherwise than Spark."""


def with_null_pattern() -> ExtendedExpression:
    message = expressions_to_substrait("s string", {"r": "contains(s, 'a')"}, dialect="pyarrow")
    pattern = message.referred_expr[0].expression.scalar_function.arguments[1].value.literal
    pattern.null.string.nullability = Type.NULLABILITY_NULLABLE
    return message


@pytest.mark.parametrize("name", sorted(load("pyarrow").defects))
@pytest.mark.usefixtures("spark")
def test_defects_are_there(name: str) -> None:
    try:
        shown = str(DEFECTS[name]())
    except pa.ArrowException as error:
        shown = str(error)
    assert load("pyarrow").defects[name].gives in shown


def functions_table() -> str:
    """What the dialect file lists, for the documentation."""
    document = parsed(Path(rewrites.__file__).with_name("dialect.yaml").read_text("utf-8"))
    lists: dict[str, dict[str, None]] = {}
    for entry in document["supported_scalar_functions"]:
        lists.setdefault(entry["name"], {}).update(dict.fromkeys(entry["supported_impls"]))
    casts = next(each for each in document["supported_expressions"] if isinstance(each, dict))["metadata"]["exact"]
    return "\n".join(
        [
            "| function | of |",
            "|---|---|",
            *(f"| `{name}` | {', '.join(kinds)} |" for name, kinds in sorted(lists.items())),
            *(f"| cast of {source} | {', '.join(kinds)} |" for source, kinds in casts["THROW_EXCEPTION"].items()),
        ]
    )


def test_the_dialect_file_is_valid() -> None:
    assert load(Path(rewrites.__file__).with_name("dialect.yaml")).defects == load("pyarrow").defects


def test_documented_functions() -> None:
    page = (Path(__file__).parent.parent / "docs" / "how-to" / "filter-arrow-data.md").read_text("utf-8")
    _, _, rest = page.partition("<!-- functions -->\n\n")
    assert rest.partition("\n\n<!-- end -->")[0] == functions_table()
