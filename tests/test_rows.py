"""The comparison of rows tells apart what differs, and nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from rows import assert_same_outcome, assert_same_rows, differences

from substrait_spark.catalyst.query_order import Ordering, ordering

UTC = timezone.utc


def column(values: list[Any], type: pa.DataType) -> pa.Table:
    return pa.table({"x": pa.array(values, type)})


SAME = {
    "nulls": (column([None, 1], pa.int32()), column([1, None], pa.int32())),
    "NaN": (column([float("nan")], pa.float64()), column([-float("nan")], pa.float64())),
    "string layouts": (column(["a"], pa.string()), column(["a"], pa.string_view())),
    "binary layouts": (column([b"a"], pa.binary()), column([b"a"], pa.large_binary())),
    "list layouts": (column([[1], None, []], pa.list_(pa.int8())), column([[], [1], None], pa.large_list(pa.int8()))),
    "map order": (
        column([[("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int32())),
        column([[("b", None), ("a", 1)]], pa.map_(pa.string(), pa.int32())),
    ),
    "time zones": (
        column([datetime(2024, 11, 3, 9, tzinfo=UTC)], pa.timestamp("us", "America/Los_Angeles")),
        column([datetime(2024, 11, 3, 9, tzinfo=UTC)], pa.timestamp("ns", "UTC")),
    ),
    "nested NaN": (
        column([{"f": [float("nan")]}, None], pa.struct([("f", pa.list_(pa.float32()))])),
        column([None, {"f": [float("nan")]}], pa.struct([("f", pa.list_(pa.float32()))])),
    ),
}

DIFFERENT = {
    "name": (pa.table({"x": [1]}), pa.table({"X": [1]})),
    "count": (column([1, 1], pa.int32()), column([1], pa.int32())),
    "value": (column([1], pa.int32()), column([2], pa.int32())),
    "integer type": (column([1], pa.int32()), column([1], pa.int64())),
    "null": (column([None], pa.int32()), column([0], pa.int32())),
    "zero's sign": (column([0.0], pa.float64()), column([-0.0], pa.float64())),
    "last digit": (column([0.1 + 0.2], pa.float64()), column([0.3], pa.float64())),
    "decimal type": (
        column([Decimal("1.0")], pa.decimal128(5, 1)),
        column([Decimal("1.0")], pa.decimal128(5, 2)),
    ),
    "time zone": (column([0], pa.timestamp("us")), column([0], pa.timestamp("us", "UTC"))),
    "microsecond": (column([0], pa.timestamp("us")), column([1], pa.timestamp("us"))),
    "duration": (column([timedelta(0)], pa.duration("us")), column([timedelta(1)], pa.duration("us"))),
    "field name": (
        column([{"a": 1}], pa.struct([("a", pa.int32())])),
        column([{"b": 1}], pa.struct([("b", pa.int32())])),
    ),
    "null in a struct": (
        column([None], pa.struct([("a", pa.int32())])),
        column([{"a": None}], pa.struct([("a", pa.int32())])),
    ),
    "list order": (column([[1, 2]], pa.list_(pa.int32())), column([[2, 1]], pa.list_(pa.int32()))),
    "map key twice": (
        column([[("a", 1), ("a", 1)]], pa.map_(pa.string(), pa.int32())),
        column([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
    ),
    "text and bytes": (column(["a"], pa.string()), column([b"a"], pa.binary())),
}


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_same(left: pa.Table, right: pa.Table) -> None:
    assert differences(left, right) == []
    assert differences(right, left, tolerance=1e-12) == []


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_different(left: pa.Table, right: pa.Table) -> None:
    assert differences(left, right)


def test_sliced_columns() -> None:
    type = pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.int32()))]))
    whole = column([[{"m": [("a", 1)]}], None, [], [{"m": [("b", 2)]}, {"m": None}]], type)
    assert differences(whole.slice(2), pa.concat_tables([whole.slice(3), whole.slice(2, 1)])) == []


def test_tolerance() -> None:
    left = pa.table({"k": ["a", "b"], "x": [0.1 + 0.2, 1.0]})
    right = pa.table({"k": ["b", "a"], "x": [1.0, 0.3]})
    assert differences(left, right)
    assert differences(left, right, tolerance=1e-12) == []
    assert differences(left, pa.table({"k": ["b", "a"], "x": [1.0, 0.31]}), tolerance=1e-12)


def test_order() -> None:
    left = pa.table({"k": [1, 1, 2], "x": ["a", "b", "c"]})
    by_key, limited = Ordering((0,)), Ordering((0,), limited=True)
    assert differences(left, left.take([1, 0, 2]), order=by_key) == []
    assert "in another order than that of k" in differences(left, left.take([2, 0, 1]), order=by_key)[1]
    assert "in another order than that of k" in differences(left, left.take([2, 0, 1]), order=limited)[1]
    other_last = pa.table({"k": [1, 1, 2], "x": ["a", "b", "d"]})
    assert differences(left, other_last, order=by_key)
    assert differences(left, other_last, order=limited) == [], "a limit may take any of the rows that tie"


def test_ordering(spark: Any) -> None:
    df = spark.range(5).selectExpr("id % 2 AS k", "id")
    assert ordering(df) == Ordering((), complete=False)
    assert ordering(df.orderBy("id").limit(3)) == Ordering((1,), limited=True)
    assert ordering(df.orderBy("id").select("k")) == Ordering((), complete=False)
    assert ordering(df.orderBy("k").groupBy("k").count()) == Ordering((), complete=False), "groups come in any order"
    with_query = spark.sql("WITH t AS (SELECT id FROM range(3)) SELECT id, id + 1 AS n FROM t ORDER BY n DESC, id")
    assert ordering(with_query) == Ordering((1, 0))


@pytest.mark.smoke
def test_no_rows_are_vacuous(spark: Any) -> None:
    df = spark.range(5)
    assert assert_same_rows(df).rows.num_rows == 5
    with pytest.raises(AssertionError, match="vacuous"):
        assert_same_rows(df.where("id > 9"))
    assert_same_rows(df.where("id > 9"), empty=True)
    with pytest.raises(AssertionError, match="there are rows"):
        assert_same_rows(df, empty=True)


@pytest.mark.smoke
def test_outcomes(spark: Any) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        assert assert_same_outcome(spark.range(3)) is not None
        assert assert_same_outcome(spark.range(1, 3).selectExpr("cast(id * 4294967296 AS int) AS n")) is None
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
