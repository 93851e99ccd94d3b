"""What is recorded of TPC-H's queries on each engine is so, and the page says it; test_tpcds.py has those of TPC-DS."""

from __future__ import annotations

from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import SparkSession
from query_outcomes import ENGINES, PAGE, TRIED, lacking, recorded, written

AT_LEAST = {"acero": (12, 30), "datafusion-plain": (22, 90), "datafusion": (22, 99), "spark": (22, 99)}
"""How many queries of TPC-H and TPC-DS are equal, whatever is recorded anew."""


@pytest.mark.parametrize("engine", TRIED)
def test_tpch(spark: SparkSession, tpch: Path, engine: str) -> None:
    found = {str(number): lacking(spark.sql(query), engine) for number, query in tpc_data.queries(tpch).items()}
    assert {number: reasons for number, reasons in found.items() if reasons} == recorded()[engine]["tpch"], (
        "run make queries"
    )


def test_enough_is_equal() -> None:
    found = recorded()
    assert found.keys() == set(ENGINES) == AT_LEAST.keys()
    for engine, (of_tpch, of_tpcds) in AT_LEAST.items():
        assert 22 - len(found[engine]["tpch"]) >= of_tpch
        assert 99 - len(found[engine]["tpcds"]) >= of_tpcds


def test_the_page_says_what_is_recorded() -> None:
    assert PAGE.read_text("utf-8") == written(recorded()), "run make queries"
