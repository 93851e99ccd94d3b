"""What runs each night: all that others read is written here."""

from __future__ import annotations

from pyspark.sql import SparkSession

from .customers import lost_customers
from .revenue import daily_revenue


def run(spark: SparkSession) -> int:
    """Write the tables of the reports. Returns how many customers are to get a letter."""
    daily_revenue(spark).write.mode("overwrite").partitionBy("country").saveAsTable("daily_revenue")
    lost = lost_customers(spark).cache()
    lost.write.mode("overwrite").saveAsTable("letters")
    return lost.count()
