"""Reports: rankings, shares, pivots, cubes."""

from decimal import Decimal

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F


def _sales(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            ("EU", "DE", "tea", 2023, Decimal("10.00"), 3),
            ("EU", "DE", "tea", 2024, Decimal("12.50"), 4),
            ("EU", "DE", "rye", 2024, Decimal("-2.50"), -1),
            ("EU", "FR", "tea", 2024, Decimal("12.50"), 4),
            ("EU", None, "rye", 2023, None, 1),
            ("US", "NY", "tea", 2023, Decimal("0.00"), 0),
            ("US", "NY", "Maté", 2024, Decimal("99.99"), 9),
            ("US", "CA", "tea", 2024, Decimal("5.00"), None),
            (None, None, None, 2024, Decimal("1.00"), 1),
        ],
        "region string, country string, product string, year int, revenue decimal(10,2), units int",
    )


def top_n_per_group(spark: SparkSession) -> DataFrame:
    w = Window.partitionBy("region").orderBy(F.desc_nulls_last("revenue"), "product", "year")
    return _sales(spark).withColumn("rn", F.row_number().over(w)).where(F.col("rn") <= 2).drop("units")


def top_n_with_ties(spark: SparkSession) -> DataFrame:
    _sales(spark).createOrReplaceTempView("sales_ties")
    return spark.sql("""
        select * from (
            select region, country, product, revenue,
                   rank() over (partition by region order by revenue desc) as rnk,
                   dense_rank() over (partition by region order by revenue desc) as dense
            from sales_ties) where rnk <= 2
    """)


def percent_of_total(spark: SparkSession) -> DataFrame:
    by = _sales(spark).groupBy("region", "product").agg(F.sum("revenue").alias("revenue"))
    region = Window.partitionBy("region")
    everything = Window.partitionBy()
    return by.select(
        "*",
        F.round(F.col("revenue") / F.sum("revenue").over(everything) * 100, 2).alias("pct_total"),
        F.round(
            F.when(F.sum("revenue").over(region) != 0, F.col("revenue") / F.sum("revenue").over(region) * 100), 1
        ).alias("pct_region"),
    )


def pareto(spark: SparkSession) -> DataFrame:
    p = (
        _sales(spark)
        .where("product is not null")
        .groupBy("product")
        .agg(F.sum("revenue").cast("double").alias("revenue"))
    )
    w = Window.orderBy(F.desc("revenue"), "product")
    return (
        p.withColumn("cum", F.sum("revenue").over(w.rowsBetween(Window.unboundedPreceding, Window.currentRow)))
        .withColumn("share", F.col("cum") / F.sum("revenue").over(Window.partitionBy()))
        .withColumn("abc", F.when(F.col("share") <= 0.8, "A").when(F.col("share") <= 0.95, "B").otherwise("C"))
    )


def pivot_years(spark: SparkSession) -> DataFrame:
    return (
        _sales(spark)
        .groupBy("region")
        .pivot("year")
        .agg(F.sum("revenue").alias("rev"), F.avg("units").alias("units"))
        .orderBy(F.asc_nulls_first("region"))
    )


def pivot_products_count(spark: SparkSession) -> DataFrame:
    wide = _sales(spark).groupBy("year").pivot("product", ["tea", "rye"]).count().fillna(0)
    return wide.withColumn("both", F.col("tea") + F.col("rye"))


def unpivot_wide(spark: SparkSession) -> DataFrame:
    wide = spark.createDataFrame([(1, 10, None, 30), (2, None, 20, 0)], ["id", "q1", "q2", "q3"])
    return wide.unpivot("id", ["q1", "q2", "q3"], "quarter", "value").where("value is not null")


def stack_wide(spark: SparkSession) -> DataFrame:
    wide = spark.createDataFrame([("a", 1.5, None), ("b", float("nan"), -0.0)], "k string, jan double, feb double")
    return wide.selectExpr("k", "stack(2, 'jan', jan, 'feb', feb) as (month, value)")


def cube_report(spark: SparkSession) -> DataFrame:
    return (
        _sales(spark)
        .cube("region", "year")
        .agg(F.grouping_id().alias("gid"), F.sum("revenue").alias("revenue"), F.count("*").alias("n"))
        .withColumn("region", F.when(F.col("gid") >= 2, "ALL").otherwise(F.coalesce("region", F.lit("unknown"))))
        .orderBy("gid", "region", "year")
    )


def rollup_report(spark: SparkSession) -> DataFrame:
    return (
        _sales(spark)
        .rollup("region", "country")
        .agg(F.sum("units").alias("units"), F.max("revenue").alias("best"), F.grouping("country").alias("is_subtotal"))
    )


def grouping_sets_sql(spark: SparkSession) -> DataFrame:
    _sales(spark).createOrReplaceTempView("sales_gs")
    return spark.sql("""
        select coalesce(region, '-') as region, product, year, sum(revenue) as revenue, grouping_id() as g
        from sales_gs
        group by grouping sets ((region, product), (year), ())
        having sum(revenue) <> 0
    """)


def year_over_year(spark: SparkSession) -> DataFrame:
    y = _sales(spark).groupBy("product", "year").agg(F.sum("revenue").alias("revenue"))
    now, ago = y.alias("now"), y.alias("ago")
    return now.join(
        ago,
        F.col("now.product").eqNullSafe(F.col("ago.product")) & (F.col("now.year") == F.col("ago.year") + 1),
        "left",
    ).select(
        "now.product",
        "now.year",
        "now.revenue",
        F.col("ago.revenue").alias("previous"),
        F.round((F.col("now.revenue") - F.col("ago.revenue")) / F.nullif("ago.revenue", F.lit(0)) * 100, 1).alias(
            "growth"
        ),
    )


def ranking_functions(spark: SparkSession) -> DataFrame:
    w = Window.partitionBy("region").orderBy("revenue", "country", "product")
    return _sales(spark).select(
        "region",
        "revenue",
        F.rank().over(w).alias("rank"),
        F.percent_rank().over(w).alias("pr"),
        F.cume_dist().over(w).alias("cd"),
        F.ntile(2).over(w).alias("half"),
        F.nth_value("revenue", 2).over(w).alias("second"),
        F.lag("revenue", 2).over(w).alias("two_ago"),
    )


def having_and_case(spark: SparkSession) -> DataFrame:
    s = _sales(spark)
    return (
        s.groupBy(
            F.expr("case when region = 'EU' then 'home' when region is null then '?' else 'abroad' end").alias("market")
        )
        .agg(
            F.sum(F.expr("if(year = 2024, revenue, 0)")).alias("rev_2024"),
            F.expr("sum(units) filter (where product = 'tea')").alias("tea_units"),
            F.expr("count(distinct product)").alias("products"),
            F.expr("count(distinct country, product)").alias("pairs"),
            F.collect_set("product").alias("names"),
        )
        .withColumn("names", F.concat_ws("/", F.array_sort("names")))
        .where(F.col("rev_2024") > 0)
    )


def subtotal_rows(spark: SparkSession) -> DataFrame:
    s = _sales(spark).na.fill("(none)", ["region"])
    detail = s.groupBy("region").agg(F.sum("revenue").alias("revenue")).withColumn("sort", F.lit(0))
    total = s.agg(F.lit("TOTAL").alias("region"), F.sum("revenue").alias("revenue"), F.lit(1).alias("sort"))
    return detail.unionByName(total).orderBy("sort", "region").drop("sort")


def string_agg_report(spark: SparkSession) -> DataFrame:
    _sales(spark).createOrReplaceTempView("sales_list")
    return spark.sql("""
        select region, listagg(distinct product, ', ') within group (order by product) as products,
               array_join(array_sort(collect_list(country)), '+') as countries,
               any_value(region) is null as unknown, bool_or(units < 0) as has_returns, every(units > 0) as all_sold
        from sales_list group by region order by region nulls last
    """)
