"""What the shop earns."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def daily_revenue(spark: SparkSession) -> DataFrame:
    """Revenue of each day in each country, less what was refunded; orders without a refund count in full."""
    orders = spark.table("orders").where(F.col("status") != "cancelled")
    refunds = spark.table("refunds").groupBy("order_id").agg(F.sum("amount").alias("refunded"))
    earned = F.col("amount") - F.coalesce(F.col("refunded"), F.lit(0))
    return (
        orders.join(refunds, "order_id", "left")
        .join(spark.table("customers"), "customer_id")
        .groupBy(F.to_date("ordered_at").alias("day"), "country")
        .agg(F.sum(earned).alias("revenue"), F.count("*").alias("orders"))
    )
