"""What is left of conversions, in Python and in the JVM: nothing, however many there are."""

from __future__ import annotations

import gc
import sys
from typing import Any

from pyspark.sql import SparkSession

from substrait_spark import df_to_substrait

CONVERSIONS = 10_000
STEP = 2_000


def measure(spark: SparkSession) -> dict[int, dict[str, float]]:
    """What is in use after so many conversions, each of another query."""
    spark.range(100).selectExpr("id AS k", "id % 5 AS g", "id / 3 AS v").createOrReplaceTempView("converted")
    found = {}
    for number in range(CONVERSIONS + 1):
        df_to_substrait(spark.sql(_query(number)))
        if number % STEP == 0:
            found[number] = in_use(spark)
    return found


def _query(number: int) -> str:
    return (
        f"SELECT g, sum(v + {number}) AS total FROM converted WHERE k > {number % 7} "
        f"GROUP BY g ORDER BY total LIMIT {number % 50 + 1}"
    )


def in_use(spark: SparkSession) -> dict[str, float]:
    """Python's objects and blocks of memory, the JVM's heap in MB and its classes, after both have collected."""
    jvm: Any = spark._jvm
    for _ in range(3):
        gc.collect()
        jvm.java.lang.System.gc()
    heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    classes = jvm.java.lang.management.ManagementFactory.getClassLoadingMXBean().getLoadedClassCount()
    return {
        "Python objects": len(gc.get_objects()),
        "Python memory blocks": sys.getallocatedblocks(),
        "JVM heap, MB": heap / 2**20,
        "JVM classes": classes,
    }
