"""DataFrames that a Java class of ours builds of a document, in the JVM of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .compiler import JavaClass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def built(
    builder: JavaClass, spark: SparkSession, document: str, datasets: Sequence[DataFrame], functions: Sequence[Any]
) -> DataFrame | str:
    """The DataFrame of a document, or what the class says against it.

    The document refers to other DataFrames, and to functions of PySpark's, by their positions.
    """
    from pyspark.sql import DataFrame

    gateway: Any = spark._sc._gateway
    frames, callables = gateway.jvm.java.util.ArrayList(), gateway.jvm.java.util.ArrayList()
    for df in datasets:
        frames.add(df._jdf)
    for function in functions:
        callables.add(function._judf)
    answer = builder.of(gateway).build(spark._jsparkSession, document, frames, callables)
    return answer if isinstance(answer, str) else DataFrame(answer, spark)
