"""Types: every Spark type in schemas and roots, with its nullability at every level, or refused by its name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from releases import later, since
from rows import assert_engine_raises, assert_same_rows, canonical_rows, differences, plan_of, spark_table
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from substrait_spark import check, df_to_substrait
from substrait_spark.algebra.message_walk import messages

ATOMIC = {
    "boolean": "bool",
    "tinyint": "i8",
    "smallint": "i16",
    "int": "i32",
    "bigint": "i64",
    "float": "fp32",
    "double": "fp64",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "precision_timestamp_tz<6>",
    "timestamp_ntz": "precision_timestamp<6>",
    "decimal(1,0)": "decimal<1,0>",
    "decimal(38,18)": "decimal<38,18>",
    "decimal(38,38)": "decimal<38,38>",
    **{f"interval {unit}": "interval_year" for unit in ("year", "month", "year to month")},
    **{
        f"interval {unit}": "interval_day<6>"
        for unit in (
            "day", "hour", "minute", "second", "day to hour", "day to minute", "day to second", "hour to minute",
            "hour to second", "minute to second",
        )
    },
}  # fmt: skip

NESTED = {
    "array<int>": "list<i32?>",
    "array<array<string>>": "list<list<string?>?>",
    "map<string,int>": "map<string,i32?>",
    "map<date,array<struct<a:int not null,b:map<int,string>>>>": "map<date,list<struct<i32,map<i32,string?>?>?>?>",
    "struct<a:int,b:struct<c:string not null,d:array<double>> not null>": "struct<i32?,struct<string,list<fp64?>?>>",
    "struct<>": "struct<>",
}


def described(type: Type) -> str:
    """A type message in the words of the specification, `?` for nullable."""
    kind = type.WhichOneof("kind") or ""
    value = getattr(type, kind)
    mark = "?" if value.nullability == Type.NULLABILITY_NULLABLE else ""
    if kind == "decimal":
        return f"decimal<{value.precision},{value.scale}>{mark}"
    if kind.startswith("precision_") or kind == "interval_day":
        return f"{kind}<{value.precision}>{mark}"
    inner = {
        "list": lambda: [value.type],
        "map": lambda: [value.key, value.value],
        "struct": lambda: list(value.types),
    }
    if kind in inner:
        return f"{kind}<{','.join(described(part) for part in inner[kind]())}>{mark}"
    return f"{kind}{mark}"


def reads(plan: Plan) -> list[ReadRel]:
    return [message for message in messages(plan) if isinstance(message, ReadRel)]


def columns(plan: Plan) -> list[str]:
    (read,) = reads(plan)
    assert read.base_schema.struct.nullability == Type.NULLABILITY_REQUIRED
    return [described(type) for type in read.base_schema.struct.types]


def empty(spark: SparkSession, schema: str) -> DataFrame:
    return spark.createDataFrame([], schema)


@pytest.mark.smoke
def test_atomic_types(spark: SparkSession) -> None:
    schema = ", ".join(f"c{n} {type}" for n, type in enumerate(ATOMIC))
    assert columns(plan_of(empty(spark, schema))) == [f"{type}?" for type in ATOMIC.values()]


@pytest.mark.smoke
def test_required_columns(spark: SparkSession) -> None:
    types = {type: kind for type, kind in {**ATOMIC, **NESTED}.items() if type != "struct<>"}  # which Spark 3.5 can't
    schema = ", ".join(f"c{n} {type} not null" for n, type in enumerate(types))
    assert columns(plan_of(empty(spark, schema))) == [*types.values()]


@pytest.mark.parametrize("type", NESTED)
def test_nested_types(spark: SparkSession, type: str) -> None:
    assert columns(plan_of(empty(spark, f"x {type}"))) == [f"{NESTED[type]}?"]


@pytest.mark.parametrize("shape", ["struct<a:{}>", "array<{}>", "map<string,{}>"])
def test_deep_types_end_where_readers_do(spark: SparkSession, shape: str) -> None:
    type = "int"
    for _ in range(46):
        type = shape.format(type)
    Plan().ParseFromString(df_to_substrait(empty(spark, f"x {type}")).SerializeToString())
    (problem,) = check(empty(spark, f"x {shape.format(type)}"))
    assert "messages deep" in problem.reason


@pytest.mark.smoke
def test_names_are_depth_first(spark: SparkSession) -> None:
    schema = (
        "a int, s struct<b:int,t:struct<c:int,d:string>>, l array<struct<e:int,f:array<struct<g:int>>>>, "
        "m map<struct<h:int>,struct<i:int,j:int>>, z int"
    )
    names = ["a", "s", "b", "t", "c", "d", "l", "e", "f", "g", "m", "h", "i", "j", "z"]
    plan = plan_of(empty(spark, schema))
    assert list(reads(plan)[0].base_schema.names) == names
    assert list(plan.relations[0].root.names) == names
    picked = plan_of(empty(spark, schema).selectExpr("l as q", "s.t", "m"))
    assert list(picked.relations[0].root.names) == ["q", "e", "f", "g", "t", "c", "d", "m", "h", "i", "j"]


def test_names_of_any_characters(spark: SparkSession) -> None:
    names = ["", " ", "a.b", "`", '"', "ä😀", "A", "a", "select", "x\ny"]
    df = spark.range(1).selectExpr(*[f"id + {n} AS `{name.replace('`', '``')}`" for n, name in enumerate(names)])
    assert list(plan_of(df).relations[0].root.names) == names
    assert_same_rows(df)


def test_local_rows_may_repeat_a_name(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, 2, 3)], ["a", "a", "a_2"])
    plan = assert_same_rows(df).plan
    assert list(reads(plan)[0].base_schema.names) == ["a", "a_3", "a_2"]
    assert list(plan.relations[0].root.names) == ["a", "a", "a_2"]


@pytest.fixture
def padded(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE TABLE padded (a CHAR(5), b VARCHAR(3)) USING parquet")
    spark.sql("INSERT INTO padded VALUES ('ab', 'xyz'), (NULL, '')")
    yield "padded"
    spark.sql("DROP TABLE padded")


def test_varchar_columns_are_strings(spark: SparkSession, padded: str) -> None:
    plan = plan_of(spark.table(padded).select("b"))
    assert columns(plan) == ["string?", "string?"]


def test_char_columns_are_padded(spark: SparkSession, padded: str) -> None:
    df = spark.table(padded).where("a = 'ab' OR a IS NULL")
    report = check(df, dialect="datafusion", reads="files")
    assert report or "readSidePadding" in str(report)


def test_a_null_takes_the_type_of_its_context(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT coalesce(NULL, id) a, CASE WHEN id > 0 THEN NULL ELSE 'x' END b, if(id > 0, NULL, 1.5) c, "
        "array(NULL, id) d FROM range(2) UNION ALL SELECT NULL, NULL, NULL, NULL"
    )
    assert check(df)
    assert_same_rows(spark.sql("SELECT NULL AS a, id FROM range(2) UNION ALL SELECT 'x', 7"))


UNTYPED = [
    "SELECT NULL AS n, array() AS a, array(NULL, NULL) AS l, map('a', NULL) AS m, struct(NULL, id) AS s FROM range(2)",
    "SELECT NULL AS n UNION ALL SELECT NULL",
    "SELECT NULL AS n UNION ALL SELECT 'x'",
    "SELECT * FROM VALUES (NULL, 1), (NULL, 2)",
    "SELECT x FROM VALUES (array()), (array(NULL)) t(x)",
    "SELECT n, count(*), count(n), max(n), first(n), collect_list(n), count(DISTINCT n) FROM v GROUP BY n",
    "SELECT n, sum(id) FROM v GROUP BY ROLLUP(n)",
    "SELECT n, id FROM v ORDER BY n, id DESC",
    "SELECT DISTINCT n FROM v",
    "SELECT n FROM v INTERSECT SELECT NULL",
    "SELECT n FROM v EXCEPT SELECT 1",
    "SELECT a.id, b.n FROM v a LEFT JOIN v b ON a.n <=> b.n AND a.id > b.id",
    "SELECT lag(n) OVER (PARTITION BY n ORDER BY id) AS l, id FROM v",
    "SELECT explode(array(n, n)) AS e, id FROM v",
    "SELECT n IS NULL, n = n, coalesce(n, n), nvl(n, id), n IN (NULL), greatest(n, n), xxhash64(n), typeof(n) FROM v",
    "SELECT CASE WHEN id > 0 THEN NULL END, if(id > 0, NULL, NULL), CAST(n AS STRING), CAST(n AS INTERVAL DAY) FROM v",
    "SELECT CAST(array(n) AS array<date>), CAST(struct(n) AS struct<a: timestamp>), transform(array(n), x -> x) FROM v",
    "SELECT assert_true(id >= 0), CAST(assert_true(id >= 0) AS DATE), coalesce(assert_true(id >= 0), 'a') FROM v",
    "SELECT if(id >= 0, NULL, raise_error('x')) AS e FROM v",
]


@pytest.mark.parametrize("query", UNTYPED)
def test_a_null_without_a_type_is_a_boolean(spark: SparkSession, query: str) -> None:
    spark.sql("SELECT NULL AS n, id FROM range(3)").createOrReplaceTempView("v")
    assert_same_rows(spark.sql(query), stages=("optimized", "analyzed"))


@pytest.mark.parametrize(
    "error", ["assert_true(id > 0)", "CAST(assert_true(id > 0) AS DATE)", "raise_error(string(id))"]
)
def test_a_null_without_a_type_may_be_an_error(spark: SparkSession, error: str) -> None:
    assert_engine_raises(spark.sql(f"SELECT {error} AS e FROM range(2)"))


def test_text_of_a_null_without_a_type(spark: SparkSession) -> None:
    df = spark.sql("SELECT to_json(struct(NULL AS n, id), map('ignoreNullFields', 'false')) AS j FROM range(2)")
    assert not differences(spark_table(df), canonical_rows(df))


def test_an_error_among_nulls_keeps_its_place(spark: SparkSession) -> None:
    (problem,) = check(spark.sql("SELECT CAST(element_at(array(NULL), CAST(id AS INT)) AS DATE) AS d FROM range(2)"))
    assert "may be an error" in problem.reason
    assert problem.hint


def test_local_rows_of_nulls_without_a_type(spark: SparkSession) -> None:
    df = spark.createDataFrame([(None, 1), (None, 2)], "a void, b int")
    assert_same_rows(df)
    assert columns(plan_of(df)) == ["bool?", "i32?"]


REFUSED = {
    "SELECT hash(CAST(id AS STRING) COLLATE UTF8_LCASE) AS c FROM range(2)": "takes STRING COLLATE UTF8_LCASE",
}


@pytest.mark.parametrize("query", [later("4.0", query) for query in REFUSED])
def test_refused_types(spark: SparkSession, query: str) -> None:
    report = check(spark.sql(query))
    assert not report
    problem = next(problem for problem in report if REFUSED[query] in problem.reason)
    assert problem.hint


@since("4.1", "GEOMETRY")
def test_every_refused_column_is_reported(spark: SparkSession) -> None:
    columns = "a geometry(4326), b int, c geography(4326), d array<struct<e:geometry(0)>>"
    report = check(empty(spark, columns), dialect="datafusion")
    assert [problem.sql for problem in report] == ["a", "c", "d"]


def test_user_defined_types_are_refused(spark: SparkSession) -> None:
    from pyspark.ml.linalg import Vectors

    report = check(spark.createDataFrame([(Vectors.dense([1.0]),)], ["v"]))
    (problem,) = report
    assert "user-defined type" in problem.reason
    assert problem.sql == "v"


def test_decimals_of_negative_scale_are_refused(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.legacy.allowNegativeScaleOfDecimal", "true")
    try:
        report = check(spark.sql("SELECT 1E5BD AS x"))
    finally:
        spark.conf.unset("spark.sql.legacy.allowNegativeScaleOfDecimal")
    assert "no decimal(1,-5)" in str(report)


def test_a_dialect_without_a_type_refuses_it_in_schemas_and_results(spark: SparkSession) -> None:
    df = empty(spark, "a interval day, b interval year, c array<interval year>")
    assert check(df)
    assert {problem.sql for problem in check(df, dialect="datafusion")} == {"c"}  # the others are counted
    assert check(df.select("b"), dialect="datafusion")
