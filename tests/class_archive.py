"""An archive of the classes that Spark loads, from which a JVM starts in less time: `python class_archive.py OPTIONS` makes it.

https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html. A JVM that can't use an archive goes without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark

PATH = Path(__file__).parents[1] / "build" / f"spark-{pyspark.__version__}.jsa"


class Making:
    """A process that makes the archive for JVMs with some options: a JVM writes it at its end."""

    def __init__(self, options: str) -> None:
        command = [sys.executable, __file__, options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        """Return when it has ended."""
        self._process.wait()


def _make(options: str) -> None:
    PATH.parent.mkdir(exist_ok=True)
    unfinished = PATH.with_suffix(f".{os.getpid()}")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{options} -XX:ArchiveClassesAtExit={unfinished}"
    _load_classes()
    unfinished.replace(PATH)


def _load_classes() -> None:
    """A session that does what most sessions in the tests do, and its JVM's end."""
    from pyspark.sql import SparkSession

    from substrait_spark import df_to_substrait

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "OFF").getOrCreate()
    numbers = spark.createDataFrame([(1, "a"), (2, "b"), (3, "a")], "n int, s string")
    numbers.createOrReplaceTempView("numbers")
    df = spark.sql("SELECT s, sum(n) AS total FROM numbers JOIN numbers AS other USING (s, n) GROUP BY s ORDER BY s")
    df_to_substrait(df)
    df.collect()
    gateway = spark.sparkContext._gateway
    spark.stop()
    gateway.proc.stdin.close()  # type: ignore[union-attr]
    gateway.proc.wait()  # type: ignore[union-attr]


if __name__ == "__main__":
    _make(sys.argv[1])
