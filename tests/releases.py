"""The release of Spark that the tests run on, and those that lack what a test is about."""

from __future__ import annotations

from typing import Any

import pyspark
import pytest

from substrait_spark.versions import release

RELEASE = release(pyspark.__version__)


def later(version: str, *values: object) -> Any:
    """Parameters of a test for what came with a release."""
    return pytest.param(*values, marks=since(version, "what is asked for"))


def since(version: str, what: str) -> pytest.MarkDecorator:
    """A mark for tests of what a release brought."""
    return pytest.mark.skipif(release(version) > RELEASE, reason=f"{what} came with Spark {version}")
