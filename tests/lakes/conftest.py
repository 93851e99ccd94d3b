"""A session for each module of tests of lakes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakes.rest_catalog import served


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a catalog of Iceberg's is served."""
    with served(tmp_path_factory.mktemp("rest")) as address:
        yield address


@pytest.fixture(scope="module")
def spark(shared_session: SparkSession, address: str) -> Iterator[SparkSession]:
    """A session of its own: a shared one forgets the functions of Delta's when its catalog is reset."""
    session = shared_session.newSession()
    session.conf.set("spark.sql.catalog.rest", "org.apache.iceberg.spark.SparkCatalog")
    session.conf.set("spark.sql.catalog.rest.type", "rest")
    session.conf.set("spark.sql.catalog.rest.uri", address)
    session.createDataFrame([], "a int")  # which makes it the active one
    yield session
    session.catalog.clearCache()
