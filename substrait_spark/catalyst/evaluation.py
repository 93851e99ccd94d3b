"""Evaluates the columns of a projection over rows of Arrow in the JVM, and makes DataFrames of such rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from .compiler import JavaClass

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

_EVALUATION = JavaClass(__package__, "Evaluation")


def session() -> SparkSession | None:
    """A session of its own in the classic Spark of this process; None where there is no such Spark."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return None if context is None else _of(context)


@lru_cache(maxsize=1)
def _of(context: SparkContext) -> SparkSession:
    """A session for small jobs: aggregates are merged in it, as they are over rows in several files."""
    from pyspark.sql import SparkSession

    other = SparkSession(context).newSession()
    other.conf.set("spark.sql.shuffle.partitions", "1")
    other.conf.set("spark.sql.adaptive.enabled", "false")
    return other


def evaluator(df: DataFrame) -> Callable[[bytearray, bytearray], bytes]:
    """What gives the columns of a DataFrame, which is made of projections alone, for rows in the place of its table's.

    It takes the rows and the schema of the columns as streams of Arrow, and gives such a stream. Spark plans the query when there are
    rows first: what it raises for constants is for these.
    """
    spark = df.sparkSession
    settings = spark._jsparkSession.sessionState().conf()
    making = threading.Lock()

    @cache
    def made() -> Any:
        return _evaluation(spark).of(df._jdf.queryExecution(), settings)

    def evaluate(rows: bytearray, wanted: bytearray) -> bytes:
        with making:
            evaluation = made()
        columns: bytes = evaluation.evaluate(rows, wanted)
        return columns

    return evaluate


def frame(spark: SparkSession, schema: str, rows: bytearray | None) -> DataFrame:
    """A DataFrame of rows that are a stream of Arrow, or of none, in one partition. Spark's optimizer takes it for one that has some.

    `schema` is Spark's, as JSON.
    """
    from pyspark.sql import DataFrame

    gateway: Any = spark._sc._gateway
    type = gateway.jvm.org.apache.spark.sql.types.DataType.fromJson(schema)
    context = spark._jsc
    held = context.emptyRDD() if rows is None else context.parallelize(_evaluation(spark).rows(rows, type), 1)
    return DataFrame(spark._jsparkSession.internalCreateDataFrame(held.rdd(), type, False), spark)


def _evaluation(spark: SparkSession) -> Any:
    return _EVALUATION.of(spark._sc._gateway)
