"""The release of Spark that the tests run on, and those that lack what a test is about."""

from __future__ import annotations

from typing import Any

import pyspark
import pytest

from substrait_spark.catalyst.versions import release

RELEASE = release(pyspark.__version__)


def has(version: str) -> bool:
    """Whether this Spark has what came with a release."""
    return release(version) <= RELEASE


def later(version: str, *values: object, id: str | None = None) -> Any:
    """Parameters of a test for what came with a release."""
    return pytest.param(*values, marks=since(version, "what is asked for"), id=id)


def since(version: str, what: str) -> pytest.MarkDecorator:
    """A mark for tests of what a release brought."""
    return pytest.mark.skipif(not has(version), reason=f"{what} came with Spark {version}")
