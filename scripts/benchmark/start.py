"""What the library costs at the start: its import, and the first plan of a session."""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from substrait_spark import df_to_substrait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IMPORT = "import pyspark.sql, time; t = time.perf_counter(); import substrait_spark; print(time.perf_counter() - t)"


def import_seconds(rounds: int) -> float:
    """What `import substrait_spark` adds to PySpark's own import."""
    runs = [subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True) for _ in range(rounds)]
    return median(float(run.stdout) for run in runs)


def first_plan_seconds(spark: SparkSession) -> float:
    """What the first plan of a session takes more than the second. Nothing may have been exported before."""
    times = []
    for number in range(2):
        df = spark.range(10).selectExpr(f"id + {number} AS n")
        df._jdf.queryExecution().optimizedPlan()
        start = perf_counter()
        df_to_substrait(df)
        times.append(perf_counter() - start)
    return times[0] - times[1]
