"""The page on lake tables runs, and prints what is printed there."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from pyspark.sql import SparkSession
from test_docs import ROOT, blocks


def test_the_page_on_lake_tables(spark: SparkSession) -> None:
    namespace: dict[str, Any] = {"spark": spark}
    printed: str | None = None
    compared = 0
    for block in blocks(ROOT / "docs" / "how-to" / "read-lake-tables.md"):
        if block.language == "{.python .lakes}":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(block.text, namespace)  # noqa: S102 - our own page
            printed = output.getvalue()
        elif not block.language and printed is not None:
            assert printed == block.text
            compared += 1
    assert compared == 2
