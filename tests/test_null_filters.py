"""IS NOT NULL is left out of plans for DataFusion where it drops no row of the result, and only there."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from rows import assert_same_rows

from substrait_spark import explain


@pytest.fixture(scope="module")
def nulls(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Two tables with nulls in each column, and in both of them."""
    rows = [(1, 10, "a"), (1, None, "b"), (2, 0, None), (None, 20, "a"), (None, None, None), (3, 3, "c")]
    for name in ("a", "b"):
        path = str(tmp_path_factory.mktemp("nulls") / name)
        spark.createDataFrame(rows, f"{name}k int, {name}x int, {name}u string").coalesce(1).write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)
    spark.conf.set("spark.sql.ansi.enabled", "true")
    return spark


@pytest.mark.parametrize(
    ("query", "tests"),
    [
        pytest.param("SELECT ak FROM a WHERE ax > 2", 0, id="a comparison beside it"),
        pytest.param("SELECT ak FROM a WHERE ax IN (3, 10)", 0, id="a list beside it"),
        pytest.param("SELECT ak FROM a WHERE ax IS NOT NULL", 1, id="by itself"),
        pytest.param("SELECT ak FROM a WHERE ax IS NOT NULL AND (ax > 5 OR au = 'c')", 1, id="one side of an OR"),
        pytest.param("SELECT ak FROM a WHERE ax IS NOT NULL AND (ax > 5 OR ax < 2)", 0, id="both sides of an OR"),
        pytest.param("SELECT ak FROM a WHERE ax IS NOT NULL AND ax <=> 3", 1, id="an equality that takes nulls"),
        pytest.param(
            "SELECT ak FROM a WHERE ax IS NOT NULL AND coalesce(ax, 7) > 5", 1, id="a comparison that takes nulls"
        ),
        pytest.param("SELECT ax, bx FROM a JOIN b ON ak = bk", 0, id="keys of a join"),
        pytest.param(
            "SELECT ax, bx FROM a JOIN b ON ak = bk WHERE ax IS NOT NULL", 1, id="another column below a join"
        ),
        pytest.param("SELECT ax, bx FROM a LEFT JOIN b ON ak = bk", 0, id="a left join"),
        pytest.param("SELECT ax, bx FROM a LEFT JOIN b ON ak = bk WHERE ak IS NOT NULL", 1, id="above a left join"),
        pytest.param("SELECT ax FROM a WHERE EXISTS (SELECT 1 FROM b WHERE ak = bk)", 0, id="a semi join"),
        pytest.param("SELECT ax FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE ak = bk)", 0, id="an anti join"),
        pytest.param(
            "SELECT ax, n FROM a JOIN (SELECT bk, count(*) AS n FROM b WHERE bk IS NOT NULL GROUP BY bk) ON ak = bk",
            1,
            id="below an aggregate",
        ),
        pytest.param(
            "SELECT ax, r FROM a JOIN (SELECT bk, row_number() OVER (ORDER BY bk, bx) AS r FROM b WHERE bk IS NOT NULL) ON ak = bk",
            1,
            id="below a window",
        ),
        pytest.param(
            "SELECT bk FROM (SELECT bk FROM b WHERE bk IS NOT NULL ORDER BY bk LIMIT 1) JOIN a ON ak = bk",
            1,
            id="below a limit",
        ),
        pytest.param(
            "SELECT ak, y FROM (SELECT ak, 10 / (ax + ak) AS y FROM a WHERE ak IS NOT NULL) JOIN b ON ak = bk AND y > 0",
            2,  # the query's own of ak, and Spark's of ax: both keep rows from what may raise
            id="below what may raise",
        ),
    ],
)
def test_conditions(nulls: SparkSession, query: str, tests: int) -> None:
    same = assert_same_rows(nulls.sql(query), empty=None)
    assert explain(same.plan).count("is_not_null(") == tests
