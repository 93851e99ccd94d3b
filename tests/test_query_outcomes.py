"""What is recorded of TPC-H's and TPC-DS's queries on each engine is so; the page says it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import SparkSession
from query_outcomes import ENGINES, PAGE, lacking, recorded, written

PROVED_ELSEWHERE = {"datafusion", "spark"}
"""Engines that have all queries: test_tpch and test_tpcds compare their rows."""

TRIED = [engine for engine in ENGINES if engine not in PROVED_ELSEWHERE]

AT_LEAST = {"acero": (12, 30), "datafusion-plain": (22, 90), "datafusion": (22, 99), "spark": (22, 99)}
"""How many queries of TPC-H and TPC-DS are equal, whatever is recorded anew."""


def assert_as_recorded(spark: SparkSession, folder: Path, engine: str, refused: Mapping[str, list[str]]) -> None:
    found = {str(number): lacking(spark.sql(query), engine) for number, query in tpc_data.queries(folder).items()}
    assert {number: reasons for number, reasons in found.items() if reasons} == refused, "run make queries"


@pytest.mark.parametrize("engine", TRIED)
def test_tpch(spark: SparkSession, tpch: Path, engine: str) -> None:
    assert_as_recorded(spark, tpch, engine, recorded()[engine]["tpch"])


@pytest.mark.slow
@pytest.mark.parametrize("engine", TRIED)
def test_tpcds(spark: SparkSession, tpcds: Path, engine: str) -> None:
    assert_as_recorded(spark, tpcds, engine, recorded()[engine]["tpcds"])


def test_enough_is_equal() -> None:
    found = recorded()
    assert found.keys() == set(ENGINES) == AT_LEAST.keys()
    for engine, (of_tpch, of_tpcds) in AT_LEAST.items():
        assert 22 - len(found[engine]["tpch"]) >= of_tpch
        assert 99 - len(found[engine]["tpcds"]) >= of_tpcds


def test_the_page_says_what_is_recorded() -> None:
    assert PAGE.read_text("utf-8") == written(recorded()), "run make queries"
