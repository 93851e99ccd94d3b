"""The record of what is supported, and the page that is made from it, say what the library does."""

from __future__ import annotations

import json

import measure_functions
import pyspark
import pytest
import write_support_page
from functions import examples
from pyspark.sql import SparkSession

from substrait_spark import support

EVERY = 30
"""Of the functions, each how many-th is measured anew: all of them take some minutes (`make support`)."""


def test_page_is_up_to_date() -> None:
    assert write_support_page.PAGE.read_text("utf-8") == write_support_page.page(), "run make page"


def test_page_has_every_function() -> None:
    functions = support.measured().values()
    assert {function.group for function in functions} <= set(write_support_page.TITLES)
    page = write_support_page.page()
    assert all(f"\n| `{function.name}` |" in page.replace("\\|", "|") for function in functions)


def test_grid_is_in_the_record() -> None:
    record = json.loads(measure_functions.RECORD.read_text("utf-8"))
    assert write_support_page.with_grid(record) == record, "run make page"


@pytest.mark.skipif(
    not support.spark_version().startswith(".".join(pyspark.__version__.split(".")[:2])),
    reason="another release of Spark has other functions",
)
def test_record_holds(spark: SparkSession) -> None:
    """A sample of the functions, measured anew, has the verdicts of the record."""
    chosen = examples.functions(spark)[::EVERY]
    try:
        outcomes = list(measure_functions.outcomes(spark, chosen))
    finally:
        spark.conf.unset("spark.sql.optimizer.excludedRules")
    measured = {function.name: measure_functions.entry(function, found) for function, found in outcomes}
    record = support.measured()
    stale = [
        name
        for name, entry in measured.items()
        if (entry["canonical"], tuple(entry.get("form", ())), entry.get("in_spark", ""))
        != (record[name].canonical, record[name].form, record[name].in_spark)
    ]
    assert not stale, f"run make support FUNCTIONS='{' '.join(stale)}'"
