"""Sums and products at the ends of their types: forms that prove by sizes that nothing overflows have Spark's rows, and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from rows import assert_same_outcome, assert_same_rows, lowered_rows

from substrait_spark import EngineError
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import Cast, Expression, FieldReference, IfThen, Literal
from substrait_spark.engines.datafusion.value_bounds import magnitude

LONG = 2**63
GREATEST, HALF = 10**38 - 1, 5 * 10**37 - 1
LARGE = 10**34 - 1

LONGS: dict[str, list[int | None]] = {
    "ends": [LONG - 1, -LONG],
    "greatest": [LONG - 1, 0, None],
    "least": [-LONG, 0],
    "least with gains": [-LONG, LONG - 1, 0, None],
    "halves": [LONG // 2, LONG // 2 - 1, -LONG // 2, -LONG // 2],
    "of nothing": [None],
    "too great": [LONG - 1, 1],
    "too small": [-LONG, -1],
    "twice around": [LONG - 1, LONG - 1, 1],
}
"""Groups by their names: the first ones have a sum in every order of their rows, the last three in none."""

DECIMALS: dict[str, list[int | None]] = {
    "ends": [GREATEST, -GREATEST],
    "greatest": [GREATEST, 0, None],
    "least": [-GREATEST],
    "halves": [HALF, HALF, -HALF],
    "of nothing": [None],
    "too great": [GREATEST, 1],
    "too small": [-GREATEST, -1],
    "twice around": [GREATEST] * 4,
}
SIZES = [0, 1, 2, 3, 10**12 - 1, 10**12, 10**19 - 1, 10**19, 5 * 10**37 - 1, 5 * 10**37, 10**38 - 1]
"""Of decimals beside the limits below which products and sums are in their own type."""

NUMBERS = [-LONG, 1 - LONG, -(2**32), -3, -1, 0, 1, 3, 2**31, 2**32, LONG - 1, None]


@pytest.fixture(scope="module")
def ends(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    def write(name: str, rows: list[tuple[Any, ...]], schema: str) -> None:
        path = str(tmp_path_factory.mktemp("overflow") / name)
        spark.createDataFrame(rows, schema).coalesce(1).write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)

    write("longs", _rows(LONGS), "k string, x bigint")
    write(
        "decimals",
        [(name, value if value is None else Decimal(value)) for name, value in _rows(DECIMALS)],
        "k string, x decimal(38, 0)",
    )
    write("numbers", [(a, b) for a in NUMBERS for b in NUMBERS], "a bigint, b bigint")
    sizes = [sign * size for size in SIZES for sign in (1, -1)]
    pairs = [(Decimal(a), Decimal(b), Decimal(f"{a}e-6"), Decimal(b % 10**16)) for a in sizes for b in sizes]
    write("sizes", pairs, "a decimal(38, 0), b decimal(38, 0), c decimal(38, 6), d decimal(16, 0)")
    many = [("most", 1)] * 10_000 + [("too many", 1)] * 10_001 + [("in order", 1)] * 10_001 + [("in order", -1)]
    write("large", [(k, Decimal(sign * LARGE)) for k, sign in many], "k string, x decimal(34, 0)")
    return spark


def _rows(groups: Mapping[str, Sequence[int | None]]) -> list[tuple[Any, ...]]:
    return [(name, value) for name, values in groups.items() for value in values]


def _mode(spark: SparkSession, ansi: bool) -> SparkSession:
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    return spark


FITTING = "k NOT LIKE 'too %' AND k <> 'twice around'"

QUERIES = (
    "SELECT k, sum(x) AS s FROM {} WHERE {} GROUP BY k",
    "SELECT k, sum(x) AS s FROM {} WHERE {} GROUP BY k, x GROUPING SETS ((k), (k, x))",
    "SELECT k, sum(DISTINCT x) AS s FROM {} WHERE {} GROUP BY k",
    "SELECT k, sum(x) FILTER (WHERE x > 0) AS s FROM {} WHERE {} GROUP BY k",
    "SELECT k, sum(x) OVER (PARTITION BY k) AS s FROM {} WHERE {}",
)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("table", ["longs", "decimals"])
def test_sums_that_fit(ends: SparkSession, table: str, query: str) -> None:
    assert_same_rows(_mode(ends, True).sql(query.format(table, FITTING)))


@pytest.mark.parametrize("table", ["longs", "decimals"])
@pytest.mark.parametrize("name", LONGS)
def test_totals(ends: SparkSession, table: str, name: str) -> None:
    if name in DECIMALS or table == "longs":
        assert_same_outcome(_mode(ends, True).sql(f"SELECT sum(x) AS s FROM {table} WHERE k = '{name}'"))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("table", ["longs", "decimals"])
@pytest.mark.parametrize("name", ["too great", "too small", "twice around"])
def test_sums_that_overflow(ends: SparkSession, table: str, query: str, name: str) -> None:
    assert_same_outcome(_mode(ends, True).sql(query.format(table, f"k = '{name}'")))


@pytest.mark.parametrize("ansi", [True, False])
def test_null_for_an_overflow(ends: SparkSession, ansi: bool) -> None:
    _mode(ends, ansi)
    assert_same_rows(ends.sql("SELECT k, try_sum(x) AS s, try_avg(x) AS a FROM decimals GROUP BY k"))
    assert_same_rows(ends.sql("SELECT k, try_sum(x) AS s FROM longs GROUP BY k"))
    assert_same_rows(ends.sql("SELECT k, try_sum(x) AS s, try_avg(x) AS a FROM large WHERE k <> 'in order' GROUP BY k"))


def test_many_large_decimals(ends: SparkSession) -> None:
    _mode(ends, True)
    assert_same_rows(ends.sql("SELECT sum(x) AS s, avg(x) AS a FROM large WHERE k = 'most'"))
    assert_same_outcome(ends.sql("SELECT sum(x) AS s FROM large WHERE k = 'too many'"))


@pytest.mark.parametrize("function", ["sum", "try_sum"])
def test_what_hangs_on_the_order_raises(ends: SparkSession, function: str) -> None:
    with pytest.raises(EngineError):
        lowered_rows(_mode(ends, True).sql(f"SELECT {function}(x) AS s FROM large WHERE k = 'in order'"))


OPERATIONS = {"+": "try_add(a, b)", "-": "try_subtract(a, b)", "*": "try_multiply(a, b)"}
LITERALS = ("1", "-1", "3", "9223372036854775807", "-9223372036854775807")


@pytest.mark.parametrize("sign", OPERATIONS)
def test_longs(ends: SparkSession, sign: str) -> None:
    _mode(ends, True)
    fits = OPERATIONS[sign]
    assert_same_rows(ends.sql(f"SELECT a, b, {fits} AS n FROM numbers"))
    assert_same_rows(ends.sql(f"SELECT a, b, a {sign} b AS n FROM numbers WHERE {fits} IS NOT NULL"))
    failing = ends.sql(
        f"SELECT DISTINCT a, b FROM numbers WHERE {fits} IS NULL AND a + 0 * b IS NOT NULL LIMIT 3"
    ).collect()
    for a, b in failing:
        assert_same_outcome(
            ends.sql(
                f"SELECT a {sign} b AS n FROM numbers WHERE a = {a}L AND b = {b}L".replace(
                    f"{-LONG}L", "-9223372036854775807L - 1"
                )
            )
        )


@pytest.mark.parametrize("literal", LITERALS)
def test_longs_and_literals(ends: SparkSession, literal: str) -> None:
    calls = [
        f"try_{name}({pair})"
        for name in ("add", "subtract", "multiply")
        for pair in (f"a, {literal}L", f"{literal}L, a")
    ]
    assert_same_rows(
        _mode(ends, True).sql(f"SELECT a, {', '.join(f'{call} AS n{n}' for n, call in enumerate(calls))} FROM numbers")
    )


def test_negatives_and_sizes(ends: SparkSession) -> None:
    _mode(ends, True)
    assert_same_rows(ends.sql(f"SELECT -a AS n, abs(a) AS s FROM numbers WHERE a > {1 - LONG}L"))
    for call in ("-a", "abs(a)"):
        assert_same_outcome(ends.sql(f"SELECT {call} AS n FROM numbers WHERE a < {1 - LONG}L"))


COMPUTED = (
    "d * (1 - d) * (1 + d)",
    "d * d * d",
    "c * (1 + d)",
    "(c + c) * d",
    "a * b + a",
    "cast(a AS DECIMAL(38, 2)) * d",
)
"""Of operands that are computed: what they are computed of tells whether they are small."""


@pytest.mark.parametrize(
    "operation", ["a + b", "a - b", "a * b", "c + c", "c * d", "a + c", "a * 3", "2 * a", "c + d", *COMPUTED]
)
def test_decimals(ends: SparkSession, operation: str) -> None:
    assert_same_rows(_mode(ends, False).sql(f"SELECT a, b, c, d, {operation} AS n FROM sizes"))
    fitting = ends.sql(f"SELECT a, b, {operation} AS n FROM sizes").where("n IS NOT NULL").count()
    assert 0 < fitting < len(SIZES) ** 2 * 4, "all or none of the results fit"


def test_magnitudes() -> None:
    column = FieldReference(0, types.of("decimal", 5, 2, nullable=True))
    wide = types.of("decimal", 38, 4, nullable=True)
    literal = Literal(-1250, types.of("decimal", 5, 3, nullable=False))

    def given(value: Expression) -> int:
        return magnitude(value)

    assert given(column) == 99_999
    assert given(Cast(column, wide, True)) == 9_999_900
    assert given(Cast(column, wide, True, checks=True)) == 10**38 - 1
    assert given(literal) == 1250
    assert given(Cast(literal, types.of("decimal", 5, 1, nullable=False), True)) == 13
    assert given(FieldReference(0, types.of("i32"))) == 2**31
    assert given(IfThen(((Literal(True, types.BOOLEAN), Cast(column, wide, True)),), Literal(None, wide))) == 9_999_900


@pytest.mark.parametrize("ansi", [True, False])
def test_digits_in_other_bases(ends: SparkSession, ansi: bool) -> None:
    query = "SELECT conv(concat(repeat('F', id), 'A'), 16, 10) FROM range(12, 18)"
    assert (assert_same_outcome(_mode(ends, ansi).sql(query)) is None) is ansi
