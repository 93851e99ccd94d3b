"""A job with three functions of its own, from Spark through a Substrait plan to DataFusion, with both results side by side."""

from __future__ import annotations

import os
import sys

import pandas as pd  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import DoubleType, StringType

from substrait_spark import df_to_substrait, explain
from substrait_spark.engines import datafusion

ORDERS = [
    (1, " de", 10.0, 2),
    (2, "DE ", 5.5, 1),
    (3, "Germany", 8.0, 3),
    (4, "fr", 2.0, 10),
    (5, None, 7.0, 1),
    (6, "FR", 3.5, None),
]


@udf(returnType=StringType())
def clean_country(value: str | None) -> str | None:
    """A country's code, however it was typed."""
    return None if value is None else {"GERMANY": "DE"}.get(value.strip().upper(), value.strip().upper())


@pandas_udf(DoubleType())  # type: ignore[call-overload,untyped-decorator]
def revenue(price: pd.Series, quantity: pd.Series) -> pd.Series:
    """What an order earns; one without a quantity counts once."""
    return price * quantity.fillna(1)


@pandas_udf(DoubleType())  # type: ignore[call-overload,untyped-decorator]
def spread(values: pd.Series) -> float:
    """How far apart the largest and the smallest value are."""
    return float(values.max() - values.min())


FUNCTIONS = [clean_country, revenue, spread]


def revenue_by_country(spark: SparkSession) -> DataFrame:
    """What each country's orders earn, and how far apart they are."""
    orders = spark.createDataFrame(ORDERS, "id int, country string, price double, quantity int")
    earned = orders.select(clean_country("country").alias("country"), revenue("price", "quantity").alias("revenue"))
    return earned.where(F.col("country").isNotNull()).groupBy("country").agg(spread("revenue").alias("spread"))


def main() -> int:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.log.level", "OFF").getOrCreate()
    df = revenue_by_country(spark).orderBy("country")
    plan = df_to_substrait(df, functions=FUNCTIONS, dialect="datafusion")
    print(explain(plan))
    ours = datafusion.execute(plan, functions=FUNCTIONS).to_pylist()
    theirs = [row.asDict() for row in df.collect()]
    print(f"{'Spark':40}DataFusion")
    for left, right in zip(theirs, ours, strict=True):
        print(f"{left!s:40}{right!s}")
    return 0 if ours == theirs else 1


if __name__ == "__main__":
    sys.exit(main())
