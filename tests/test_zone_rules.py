"""Time zones that rows name: their rules are those of the session's Java, whatever the machine itself has."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rows import assert_engine_raises, assert_same_rows

from substrait_spark import check
from substrait_spark.engines.arrow.functions.time_texts import cast_instant
from substrait_spark.engines.arrow.functions.zones import zone_named
from substrait_spark.engines.arrow.zone_rules import ZoneRules, regions
from substrait_spark.functions.time_zone import DAY

FAR = 290_000 * 365 * DAY


def times(rules: ZoneRules, draw: random.Random) -> list[int]:
    """Instants and local times around some changes of an offset, and others, from the first one that there is to the last."""
    changes = [draw.randrange(len(rules.instants)) for _ in range(5 if rules.instants else 0)]
    around = [rules.instants[n] + move for n in changes for move in (-1, 0, *rules.offsets[n : n + 2])]
    skipped = [rules.instants[n] + sum(rules.offsets[n : n + 2]) // 2 for n in changes]
    return [*around, *skipped, *(draw.randint(-size, size) for size in (FAR, FAR, FAR // 1000, FAR // 1000))]


def test_local_times_of_zones_in_rows(spark: SparkSession, tmp_path: Path) -> None:
    draw = random.Random(4711)
    rows = [(time, name) for name, rules in regions().items() for time in times(rules, draw)]
    columns = {"t": pa.array([time for time, _ in rows], pa.timestamp("us", "UTC")), "z": [name for _, name in rows]}
    pq.write_table(pa.table({"i": range(len(rows)), **columns}), tmp_path / "t.parquet")
    df = spark.read.parquet(str(tmp_path / "t.parquet"))
    counts = [f"unix_micros({way}_utc_timestamp(t, z)) AS {way}" for way in ("from", "to")]
    assert_same_rows(df.selectExpr("i", *counts))


def test_names_of_zones_are_javas(spark: SparkSession) -> None:
    java = spark._jvm.java.time.ZoneId  # type: ignore[union-attr]
    unknown = set()
    for name in java.getAvailableZoneIds():
        try:
            assert zone_named(name) == name
        except NotImplementedError:
            unknown.add(name)
    assert {name for name in unknown if not name.startswith("SystemV/")} == {
        "Asia/Gaza",
        "Asia/Hebron",
        "Asia/Tehran",
        "Iran",
    }


@pytest.mark.parametrize("text", "PM UTC+ +19:00 +18:01 +05:60 +530 UT+123 z utc Z+1 EST5 +5:3:3".split())
def test_what_is_no_zone(spark: SparkSession, text: str) -> None:
    """As in a cast, where Spark asks Java."""
    (row,) = spark.sql(f"SELECT try_cast('2020-01-01 00:00:00 {text}' AS TIMESTAMP)").collect()
    assert row[0] is None
    assert zone_named(text) is None


@pytest.mark.parametrize("text", "+19:00 +530 UTC+25 Etc/GMT+13 Etc/UT -18:01 +05:60 +00:00:99 PM".split())
def test_what_is_no_zone_of_a_row(spark: SparkSession, tmp_path: Path, text: str) -> None:
    pq.write_table(pa.table({"t": pa.array([0], pa.timestamp("us", "UTC")), "z": [text]}), tmp_path / "t.parquet")
    df = spark.read.parquet(str(tmp_path / "t.parquet"))
    assert_engine_raises(df.selectExpr("from_utc_timestamp(t, z)"))
    assert check(df.selectExpr(f"from_utc_timestamp(t, '{text}')"), dialect="datafusion").problems


ZONES = "PST Z +5 -05 +0530 +05:3 +5:3 +18:00 UTC+5:30 GMT-1 UT+010203 Etc/GMT+12 Etc/Zulu Japan".split()


@pytest.mark.parametrize("text", ZONES)
def test_what_is_a_zone(spark: SparkSession, text: str) -> None:
    (row,) = spark.sql(f"SELECT unix_micros(CAST('1999-07-01 12:34:56 {text}' AS TIMESTAMP))").collect()
    assert zone_named(text) == text
    assert row[0] == cast_instant(f"1999-07-01 12:34:56 {text}", "UTC")
