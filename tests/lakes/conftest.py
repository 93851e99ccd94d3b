"""A session for each module of tests of lakes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(shared_session: SparkSession) -> Iterator[SparkSession]:
    """A session of its own: a shared one forgets the functions of Delta's when its catalog is reset."""
    session = shared_session.newSession()
    session.createDataFrame([], "a int")  # which makes it the active one
    yield session
    session.catalog.clearCache()
