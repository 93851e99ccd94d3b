"""DataFrames that a Java class of ours builds of a document, in the JVM of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .compiler import JavaClass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def built(builder: JavaClass, spark: SparkSession, document: str, datasets: Sequence[DataFrame]) -> DataFrame | str:
    """The DataFrame of a document, which refers to other DataFrames by their positions; or what the class says against it."""
    from pyspark.sql import DataFrame

    gateway: Any = spark._sc._gateway
    given = gateway.jvm.java.util.ArrayList()
    for df in datasets:
        given.add(df._jdf)
    found = builder.of(gateway).build(spark._jsparkSession, document, given)
    return found if isinstance(found, str) else DataFrame(found, spark)
