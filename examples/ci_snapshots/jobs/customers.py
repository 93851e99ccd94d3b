"""Who the shop's customers are."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F


def best_customers(spark: SparkSession, count: int) -> DataFrame:
    """The customers of each country who have spent most."""
    spent = spark.table("orders").groupBy("customer_id").agg(F.sum("amount").alias("spent"))
    ranked = (
        spark.table("customers")
        .join(spent, "customer_id")
        .withColumn("rank", F.rank().over(Window.partitionBy("country").orderBy(F.desc("spent"))))
    )
    return ranked.where(F.col("rank") <= count).select("country", "rank", "name", "spent")


def lost_customers(spark: SparkSession) -> DataFrame:
    """Customers who haven't ordered in 2025, as SQL."""
    return spark.sql(
        """
        SELECT customer_id, name
        FROM customers
        WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE ordered_at >= DATE '2025-01-01')
        """
    )
