"""A Spark session for many small queries."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import quick_spark
from pyspark.sql import SparkSession

TIME_ZONES = ("UTC", "America/Los_Angeles", "Asia/Kolkata", "Australia/Lord_Howe")

READING = {
    # Parquet's filter by dictionaries tells -0.0 from 0.0, so that Spark loses rows by what a file happens to hold.
    "spark.sql.parquet.filterPushdown": "false",
    # By default, Spark 3.5 reads no dates of before 1582 that others wrote.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}

QUIET = {
    "spark.log.level": "OFF",
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def session(directory: Path) -> Iterator[SparkSession]:
    """A local session of its own, which ends with the block."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quick_spark.use()
    builder = SparkSession.builder.master("local[1]").appName("substrait_spark fuzzer")
    for key, value in {
        **quick_spark.SETTINGS,
        **READING,
        **QUIET,
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    # Hadoop's settings are sent along with each read; what isn't set has the same values.
    spark._jsc.hadoopConfiguration().clear()
    try:
        yield spark
    finally:
        spark.stop()
