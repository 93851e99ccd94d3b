"""Spark's daemon for Python workers, which are forked from it, so that each begins with what it would do itself in a second.

It has imported pandas and Arrow, and PySpark from where it is installed. From the archive that Spark names first, PySpark is compiled
each time, and each task reads the archive's directory again (`importlib.invalidate_caches`).
"""

from __future__ import annotations

import sys

for archive in [path for path in sys.path if path.endswith(".zip")]:
    sys.path.remove(archive)
    sys.path_importer_cache.pop(archive, None)

import pandas as pd  # type: ignore[import-untyped]  # noqa: E402, F401 - for the workers
import pyarrow as pa  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

if __name__ == "__main__":
    manager()
