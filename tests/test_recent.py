"""Plans that are kept, so that a conversion that was just made costs only the reading of its query."""

from __future__ import annotations

import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from substrait.plan_pb2 import Plan

from substrait_spark import check, conversion, df_to_substrait, dialects
from substrait_spark.context import Settings
from substrait_spark.dialects.file import load
from substrait_spark.plan_cache import MOST_BYTES, OF_EACH, RecentPlans, key


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The plans that are made, and not taken from those that are kept."""
    found: list[Plan] = []
    emit = conversion.emit_document

    def emitted(*arguments: object) -> Plan:
        plan = emit(*arguments)  # type: ignore[arg-type]
        found.append(plan)
        return plan

    monkeypatch.setattr(conversion, "emit_document", emitted)
    monkeypatch.setattr(conversion, "RECENT", RecentPlans())
    return found


def test_a_plan_is_made_once(spark: SparkSession, made: list[Plan]) -> None:
    query = "SELECT id + 1 AS n, count(*) FROM range(3) WHERE id > (SELECT min(id) FROM range(5)) GROUP BY id"
    first, second = (df_to_substrait(spark.sql(query)) for _ in range(2))
    assert check(spark.sql(query))
    assert len(made) == 1
    assert first.SerializeToString() == second.SerializeToString() == made[0].SerializeToString()


def test_what_a_caller_changes_is_the_caller_s(spark: SparkSession, made: list[Plan]) -> None:
    df = spark.range(3)
    plans = []
    for _ in range(3):
        plan = df_to_substrait(df)
        plans.append(plan.SerializeToString())
        plan.relations.pop()
        plan.version.producer = "somebody else"
    assert len(made) == 1
    assert len(set(plans)) == 1


def test_another_query_has_another_plan(spark: SparkSession, made: list[Plan], tmp_path: Path) -> None:
    path = str(tmp_path / "files")
    spark.range(3).write.parquet(path)
    queries = [spark.read.parquet(path)]
    spark.range(3).write.mode("append").parquet(path)
    queries += [spark.read.parquet(path), *(spark.read.parquet(path).filter(f"id > {n}") for n in range(2))]
    plans = [df_to_substrait(query).SerializeToString() for query in queries]
    df_to_substrait(queries[0], dialect="datafusion")
    assert len(set(plans)) == 4
    assert len(made) == 5


def test_what_is_refused_is_refused_again(spark: SparkSession, made: list[Plan]) -> None:
    df = spark.createDataFrame([(n,) for n in range(3)], "n int")
    assert df_to_substrait(df)
    reports = [check(df, inline_limit=2) for _ in range(2)]
    assert not any(reports)
    assert reports[0].problems == reports[1].problems


def test_plans_with_local_data_beside_them_are_made_anew(spark: SparkSession, made: list[Plan], tmp_path: Path) -> None:
    df = spark.createDataFrame([(n,) for n in range(5)], "n int")
    for _ in range(2):
        df_to_substrait(df, inline_limit=2, local_data=tmp_path)
        (file,) = tmp_path.glob("*.parquet")
        file.unlink()
    assert len(made) == 2


def test_dialects_of_others_may_hang_on_anything(spark: SparkSession, made: list[Plan], tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\n", encoding="utf-8")
    loaded = dialects.load(file)
    for dialect in (file, file, loaded, loaded):
        df_to_substrait(spark.range(3), dialect=dialect)
    assert len(made) == 4


def plan_of_size(size: int) -> Plan:
    plan = Plan()
    plan.version.producer = "x" * size
    return plan


def key_of(number: int) -> tuple[bytes, Settings]:
    found = key(str(number), Settings(load(None), "auto", 10))
    assert found is not None
    return found


def test_what_is_kept_is_bounded() -> None:
    plans = RecentPlans(most_bytes=10 * (1000 + OF_EACH))
    for number in range(100):
        plans.put(key_of(number), plan_of_size(990))
        plans.put(key_of(number), plan_of_size(990))
        assert plans.get(key_of(0)) is not None, "what is asked for is kept longest"
    kept = [number for number in range(100) if plans.get(key_of(number)) is not None]
    assert kept == [0, *range(91, 100)]
    plans.put(key_of(100), plan_of_size(20_000))
    assert plans.get(key_of(100)) is None
    assert plans.get(key_of(0)) is not None


def test_small_plans_count_with_what_keeps_them() -> None:
    plans, small = RecentPlans(), plan_of_size(10)
    tracemalloc.start()
    try:
        for number in range(20_000):
            plans.put(key_of(number), small)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert MOST_BYTES / 2 < taken < MOST_BYTES


def test_settings_tell_plans_apart() -> None:
    settings = Settings(load(None), "auto", 10)
    others = [
        replace(settings, dialect=load("datafusion")),
        replace(settings, reads="files"),
        replace(settings, inline_limit=11),
        replace(settings, stage="analyzed"),
    ]
    assert len({key("a", each) for each in (settings, *others)}) == 5
    assert key("a", settings) != key("b", settings)
    assert key("a", settings) == key("a", replace(settings, writes=False))


def test_threads_share_what_is_kept() -> None:
    plans = RecentPlans(most_bytes=17 * (115 + OF_EACH))
    wrong: list[int] = []

    def work() -> None:
        for number in [*range(20)] * 20:
            plans.put(key_of(number), plan_of_size(100 + number))
            found = plans.get(key_of(number))
            if found is not None and len(found.version.producer) != 100 + number:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sum(plans.get(key_of(number)) is not None for number in range(20)) in range(10, 20)
