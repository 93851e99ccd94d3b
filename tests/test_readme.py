"""README's example prints what README says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.smoke
def test_example(spark: SparkSession) -> None:
    example, output = re.findall(r"```(?:python)?\n((?:from|\{).*?)```", README.read_text("utf-8"), re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})  # noqa: S102 - the example is ours
    assert printed.getvalue() == output
