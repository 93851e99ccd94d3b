"""GEOMETRY and GEOGRAPHY, which Spark has from 4.1 on, as user-defined types of ours. No engine but Spark has them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from releases import since
from rows import assert_canonical_outcome, assert_canonical_rows, plan_of

from substrait_spark import check, explain

pytestmark = since("4.2", "shapes of a reference system")

POINT = "X'0101000000000000000000F03F0000000000000040'"
LINE = "X'00000000020000000200000000000000008000000000000000C066800000000000C056800000000000'"
"""From (0, -0) to (-180, -90), highest bytes first."""
EMPTY = "X'010700000000000000'"


@pytest.fixture(scope="module")
def shapes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the view `w` of encodings, and the table `shapes` of shapes."""
    folder = str(tmp_path_factory.mktemp("shapes"))
    rows = f"({POINT}, 1), ({LINE}, 2), ({EMPTY}, 3), (NULL, 4), ({POINT}, 1)"
    spark.sql(f"SELECT * FROM VALUES {rows} AS (w, i)").write.parquet(folder + "/w")
    spark.read.parquet(folder + "/w").createOrReplaceTempView("w")
    spark.conf.set("spark.sql.geospatial.enabled", "true")
    try:
        spark.sql("CREATE TABLE shapes (m GEOMETRY(4326), g GEOGRAPHY(4326), k GEOMETRY(3857)) USING parquet")
    except PySparkException as error:  # a release of Spark without them
        pytest.skip(str(error).partition("\n")[0])
    spark.sql("INSERT INTO shapes SELECT st_geomfromwkb(w, 4326), st_geogfromwkb(w), st_geomfromwkb(w, 3857) FROM w")
    yield spark
    spark.sql("DROP TABLE shapes")
    spark.conf.unset("spark.sql.geospatial.enabled")


@pytest.mark.usefixtures("shapes")
@pytest.mark.parametrize(
    "expressions",
    [
        "st_geomfromwkb(w), st_geomfromwkb(w, 3857), st_geomfromwkb(w, IF(i = 1, 0, 4326)), st_geogfromwkb(w)",
        "st_geomfromwkb(w, CAST(NULL AS INT)), st_geomfromwkb(w, NULLIF(i, i)), st_geogfromwkb(NULL)",
        "st_asbinary(st_geomfromwkb(w)), st_asbinary(st_geogfromwkb(w), 'XDR'), st_asbinary(st_geomfromwkb(w), IF(i = 1, 'xdr', NULL))",
        "st_srid(st_geomfromwkb(w, i - i)), st_srid(st_geomfromwkb(w, 3857)), st_srid(st_geogfromwkb(w)), st_srid(NULL)",
        "st_setsrid(st_geomfromwkb(w), 3857), st_setsrid(st_geomfromwkb(w), 4326 + i - i), st_setsrid(st_geogfromwkb(w), 4326)",
        "st_srid(st_setsrid(st_geogfromwkb(w), 4267 + i - i)), st_setsrid(st_geomfromwkb(w), NULL)",
        "CAST(st_geogfromwkb(w) AS GEOMETRY(4326)), CAST(st_geomfromwkb(w, 4326) AS GEOGRAPHY(4326))",
        "CAST(st_geomfromwkb(w) AS GEOMETRY(ANY)), CAST(st_geogfromwkb(w) AS GEOGRAPHY(ANY)), TRY_CAST(st_geomfromwkb(w) AS GEOMETRY(ANY))",
        f"st_geomfromwkb({POINT}), st_geomfromwkb({LINE}, 3857), st_geogfromwkb({EMPTY}), CAST(NULL AS GEOMETRY(ANY))",
        f"array(st_geomfromwkb({POINT}), st_geomfromwkb({LINE}, 3857)), map('a', st_geogfromwkb({LINE})), struct(st_geogfromwkb({POINT}))",
        f"st_setsrid(st_geogfromwkb({POINT}), 4326), CAST(st_geogfromwkb({POINT}) AS GEOGRAPHY(ANY))",
        f"coalesce(st_geomfromwkb(w, 3857), st_geomfromwkb({POINT})), st_geomfromwkb(w) IS NULL, IF(i = 1, st_geogfromwkb(w), NULL)",
        "lag(st_geomfromwkb(w)) OVER (ORDER BY i), typeof(st_geomfromwkb(w)), typeof(st_geomfromwkb(w, i))",
        "explode(array(st_geomfromwkb(w, 3857)))",
        "st_geomfromwkb(w, i)",
        "st_geomfromwkb(substring(w, 2))",
        "st_geogfromwkb(substring(w, 2))",
        "st_asbinary(st_geomfromwkb(w), string(i))",
        "st_setsrid(st_geomfromwkb(w), i)",
    ],
)
def test_expressions(in_mode: SparkSession, expressions: str) -> None:
    assert_canonical_outcome(in_mode.sql(f"SELECT {expressions} FROM w"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM shapes",
        "SELECT count(m), first(g, true), max_by(k, st_srid(k)) FROM shapes WHERE st_asbinary(m) > X'0106'",
        "SELECT collect_list(m) FROM shapes WHERE st_asbinary(m) > X'0106'",
        "SELECT k FROM shapes UNION ALL SELECT st_geomfromwkb(w) FROM w",
        "SELECT a.m, b.g FROM shapes AS a LEFT JOIN shapes AS b ON st_asbinary(a.m) = st_asbinary(b.k)",
        "SELECT m FROM shapes ORDER BY st_asbinary(m) LIMIT 2",
        "SELECT typeof(m), typeof(g) FROM shapes",
        f"SELECT * FROM VALUES (st_geomfromwkb({POINT}, 3857), st_geogfromwkb({LINE}), 1), (NULL, NULL, NULL)",
    ],
)
def test_queries(shapes: SparkSession, query: str) -> None:
    assert_canonical_rows(shapes.sql(query))
    assert_canonical_rows(shapes.sql(query), "analyzed")


def test_the_reference_system_is_a_parameter_of_the_type(shapes: SparkSession) -> None:
    plan = plan_of(shapes.sql("SELECT m, g, CAST(k AS GEOMETRY(ANY)) AS a FROM shapes"))
    declared = [entry.extension_type.name for entry in plan.extensions if entry.HasField("extension_type")]
    assert sorted(declared) == ["geography", "geometry"]
    text = explain(plan)
    assert "m: u!geometry?<'OGC:CRS84'>, g: u!geography?<'OGC:CRS84', 'SPHERICAL'>" in text
    assert 'a: u!geometry?<"SRID:ANY">' in text


def test_other_engines_refuse_them_by_name(shapes: SparkSession) -> None:
    report = check(shapes.table("shapes"), dialect="datafusion")
    assert [problem.sql for problem in report] == ["m", "g", "k"]
    assert "no type u!geometry" in str(report)
    query = "SELECT st_srid(st_geomfromwkb(w)) FROM w"
    assert "st_srid" in str(check(shapes.sql(query), dialect="datafusion"))
