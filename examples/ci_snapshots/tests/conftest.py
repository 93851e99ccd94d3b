"""A small session with the shop's tables: empty ones will do, since plans hang on schemas and not on rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

TABLES = Path(__file__).parent / "tables.sql"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        # What a query means hangs on these two, and their defaults on the release of Spark and on the machine.
        .config("spark.sql.ansi.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    for statement in TABLES.read_text("utf-8").split(";"):
        if statement.strip():
            session.sql(statement)
    yield session
    session.stop()
