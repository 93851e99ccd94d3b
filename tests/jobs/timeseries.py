"""Sensors and prices: gaps, forward fill, resampling, moving averages, as-of and range joins."""

from datetime import datetime

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

NAN = float("nan")


def _readings(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            ("s1", datetime(2024, 3, 31, 0, 10), 20.5),
            ("s1", datetime(2024, 3, 31, 0, 20), None),
            ("s1", datetime(2024, 3, 31, 0, 20, 30), 21.0),
            ("s1", datetime(2024, 3, 31, 1, 40), NAN),
            ("s1", datetime(2024, 3, 31, 3, 0), -40.0),
            ("s2", datetime(2024, 3, 31, 0, 0), 0.0),
            ("s2", datetime(2024, 3, 31, 0, 0), -0.0),
            ("s2", datetime(2024, 3, 31, 2, 59, 59, 999999), 1e300),
            ("s3", None, 5.0),
            ("s4", datetime(1965, 1, 1, 12, 34, 56), 1.25),
        ],
        "sensor string, at timestamp, value double",
    )


def fill_calendar(spark: SparkSession) -> DataFrame:
    """One row per sensor and hour, with the last known value carried forward."""
    r = _readings(spark).where("year(at) = 2024").withColumn("hour", F.date_trunc("hour", "at"))
    hourly = r.groupBy("sensor", "hour").agg(F.max("value").alias("value"))
    spine = (
        r.groupBy("sensor")
        .agg(F.min("hour").alias("lo"), F.max("hour").alias("hi"))
        .select("sensor", F.explode(F.expr("sequence(lo, hi, interval 1 hour)")).alias("hour"))
    )
    w = Window.partitionBy("sensor").orderBy("hour").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        spine.join(hourly, ["sensor", "hour"], "left")
        .withColumn("filled", F.last("value", True).over(w))
        .withColumn("was_gap", F.col("value").isNull())
        .orderBy("sensor", "hour")
    )


def daily_spine(spark: SparkSession) -> DataFrame:
    sales = spark.createDataFrame(
        [("n", "2024-02-27", 5), ("n", "2024-03-02", 7), ("s", "2024-02-28", -1), ("s", "2024-02-28", 1)],
        ["region", "day", "units"],
    ).withColumn("day", F.to_date("day"))
    days = sales.select(F.explode(F.sequence(F.min("day"), F.max("day"))).alias("day"))
    regions = sales.select("region").distinct()
    return (
        regions.crossJoin(days)
        .join(sales.groupBy("region", "day").agg(F.sum("units").alias("units")), ["region", "day"], "left_outer")
        .fillna({"units": 0})
        .sort("region", "day")
    )


def moving_average(spark: SparkSession) -> DataFrame:
    w = Window.partitionBy("sensor").orderBy("at")
    return (
        _readings(spark)
        .na.drop()
        .filter(~F.isnan("value") & (F.abs("value") < 1e6))
        .groupBy("sensor", "at")
        .agg(F.avg("value").alias("value"))
        .withColumn("ma3", F.avg("value").over(w.rowsBetween(-2, 0)))
        .withColumn("centred", F.avg("value").over(w.rowsBetween(-1, 1)))
        .withColumn("delta", F.col("value") - F.lag("value", 1).over(w))
        .withColumn("next", F.lead("value", 1, 0.0).over(w))
        .withColumn("ewm_start", F.first("value").over(w))
    )


def trailing_hour_sum(spark: SparkSession) -> DataFrame:
    """A range window in seconds, not rows."""
    w = Window.partitionBy("sensor").orderBy(F.col("at").cast("long")).rangeBetween(-3600, 0)
    return (
        _readings(spark)
        .filter("value is not null and not isnan(value) and abs(value) < 1000")
        .select("sensor", "at", "value", F.sum("value").over(w).alias("hour_sum"), F.count("*").over(w).alias("n"))
    )


def trailing_interval_sql(spark: SparkSession) -> DataFrame:
    _readings(spark).createOrReplaceTempView("readings")
    return spark.sql("""
        select sensor, at,
               max(value) over (partition by sensor order by at
                                range between interval 1 hour preceding and current row) as hour_max,
               count(value) over (partition by sensor order by at
                                range between interval '30' minute preceding and interval '30' minute following) as near
        from readings where at is not null
    """)


def resample_10min(spark: SparkSession) -> DataFrame:
    return (
        _readings(spark)
        .groupBy("sensor", F.window("at", "10 minutes"))
        .agg(F.min("value").alias("low"), F.max("value").alias("high"), F.count("value").alias("n"))
        .select("sensor", F.col("window.start").alias("bucket"), "low", "high", "n")
    )


def sliding_windows(spark: SparkSession) -> DataFrame:
    return (
        _readings(spark)
        .groupBy(F.window("at", "1 hour", "30 minutes").alias("w"))
        .agg(F.countDistinct("sensor").alias("sensors"), F.count("*").alias("n"))
        .select(F.date_format("w.start", "yyyy-MM-dd HH:mm").alias("from"), "sensors", "n")
    )


def resample_by_epoch(spark: SparkSession) -> DataFrame:
    bucket = F.timestamp_seconds(F.floor(F.unix_timestamp("at") / 900) * 900)
    return (
        _readings(spark)
        .withColumn("bucket", bucket)
        .groupBy("sensor", "bucket")
        .agg(F.count("*").alias("n"), F.first("sensor").alias("same"))
    )


def gaps(spark: SparkSession) -> DataFrame:
    w = Window.partitionBy("sensor").orderBy("at")
    return (
        _readings(spark)
        .dropna(subset=["at"])
        .select("sensor", "at", F.lag("at").over(w).alias("before"))
        .where(F.col("before").isNotNull())
        .withColumn("gap_s", F.col("at").cast("double") - F.col("before").cast("double"))
        .withColumn("gap", F.col("at") - F.col("before"))
        .where(F.col("at") > F.col("before") + F.expr("interval 15 minutes"))
        .withColumn("gap_min", F.expr("timestampdiff(MINUTE, before, at)"))
        .drop("gap")
    )


def islands(spark: SparkSession) -> DataFrame:
    """Runs of consecutive days with a login."""
    d = (
        spark.createDataFrame(
            [
                (1, "2023-12-30"),
                (1, "2023-12-31"),
                (1, "2024-01-01"),
                (1, "2024-01-03"),
                (2, "2024-02-29"),
                (2, "2024-02-29"),
                (2, "2024-03-01"),
                (3, None),
            ],
            "user int, day string",
        )
        .select("user", F.col("day").cast("date").alias("day"))
        .distinct()
    )
    w = Window.partitionBy("user").orderBy("day")
    return (
        d.withColumn("island", F.expr("date_sub(day, row_number() over (partition by user order by day))"))
        .withColumn("rank", F.dense_rank().over(w))
        .groupBy("user", "island")
        .agg(F.min("day").alias("from"), F.max("day").alias("to"), F.count("day").alias("days"))
        .drop("island")
    )


def _trades(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            (1, "AAPL", datetime(2024, 1, 2, 9, 30, 0, 500000), 100),
            (2, "AAPL", datetime(2024, 1, 2, 9, 29), 50),
            (3, "MSFT", datetime(2024, 1, 2, 16, 0), 10),
            (4, "ZZZZ", datetime(2024, 1, 2, 12, 0), 1),
            (5, "MSFT", None, 1),
        ],
        "id int, ticker string, at timestamp, size int",
    )


def _quotes(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            ("AAPL", datetime(2024, 1, 2, 9, 30), 185.1, 185.3),
            ("AAPL", datetime(2024, 1, 2, 9, 30, 0, 499999), 185.2, None),
            ("MSFT", datetime(2024, 1, 2, 15, 59, 59), 370.0, 370.5),
            ("MSFT", datetime(2024, 1, 2, 16, 0), 371.0, 371.5),
        ],
        "ticker string, at timestamp, bid double, ask double",
    )


def as_of_join(spark: SparkSession) -> DataFrame:
    """The last quote at or before each trade."""
    t, q = _trades(spark).alias("t"), _quotes(spark).alias("q")
    w = Window.partitionBy("t.id").orderBy(F.col("q.at").desc())
    return (
        t.join(q, (F.col("t.ticker") == F.col("q.ticker")) & (F.col("q.at") <= F.col("t.at")), "left")
        .withColumn("rn", F.row_number().over(w))
        .filter(F.col("rn") == 1)
        .select("t.id", "t.ticker", F.col("q.at").alias("quoted"), "bid", "ask")
    )


def as_of_union(spark: SparkSession) -> DataFrame:
    """As-of without a join: interleave both streams, carry the last quote forward."""
    t = _trades(spark).select("id", "ticker", "at", F.lit(None).cast("double").alias("bid"), F.lit(1).alias("kind"))
    q = _quotes(spark).select(F.lit(None).cast("int").alias("id"), "ticker", "at", "bid", F.lit(0).alias("kind"))
    w = Window.partitionBy("ticker").orderBy("at", "kind").rowsBetween(Window.unboundedPreceding, 0)
    return (
        t.unionByName(q)
        .withColumn("bid", F.last("bid", ignorenulls=True).over(w))
        .filter("id is not null")
        .drop("kind")
    )


def range_join(spark: SparkSession) -> DataFrame:
    shifts = spark.createDataFrame(
        [("early", 6, 14), ("late", 14, 22), ("night", 22, 30), ("broken", None, 5)], "shift string, lo int, hi int"
    )
    r = _readings(spark).withColumn("h", F.hour("at"))
    cond = ((F.col("h") >= F.col("lo")) & (F.col("h") < F.col("hi"))) | (
        (F.col("h") + 24 >= F.col("lo")) & (F.col("h") + 24 < F.col("hi"))
    )
    return r.join(shifts, cond, "left").groupBy("shift").agg(F.count("*").alias("n"), F.max("at").alias("newest"))


def overlapping_bookings(spark: SparkSession) -> DataFrame:
    b = spark.createDataFrame(
        [
            (1, "room", "2024-01-01", "2024-01-05"),
            (2, "room", "2024-01-04", "2024-01-06"),
            (3, "room", "2024-01-06", "2024-01-06"),
            (4, "hall", "2024-01-01", None),
        ],
        "id int, place string, lo string, hi string",
    ).selectExpr("id", "place", "date(lo) as lo", "coalesce(date(hi), date'2999-12-31') as hi")
    x, y = b.alias("x"), b.alias("y")
    return x.join(y, F.expr("x.place = y.place and x.id < y.id and x.lo <= y.hi and y.lo <= x.hi")).selectExpr(
        "x.id as first", "y.id as second", "datediff(least(x.hi, y.hi), greatest(x.lo, y.lo)) + 1 as days"
    )


def concurrent_users(spark: SparkSession) -> DataFrame:
    s = spark.createDataFrame(
        [("a", 10, 20), ("b", 15, 25), ("c", 20, 22), ("d", 30, None)], "who string, start int, stop int"
    )
    edges = s.select(F.col("start").alias("t"), F.lit(1).alias("d")).union(
        s.where("stop is not null").select("stop", F.lit(-1))
    )
    w = Window.orderBy("t", "d").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return edges.withColumn("online", F.sum("d").over(w)).groupBy("t").agg(F.max("online").alias("peak"))


def interpolate(spark: SparkSession) -> DataFrame:
    s = spark.createDataFrame([(0, 10.0), (1, None), (2, None), (3, 16.0), (4, None)], "t int, v double")
    back = Window.orderBy("t").rowsBetween(Window.unboundedPreceding, 0)
    ahead = Window.orderBy("t").rowsBetween(0, Window.unboundedFollowing)
    known_t = F.when(F.col("v").isNotNull(), F.col("t"))
    x = s.select(
        "t",
        "v",
        F.last(known_t, True).over(back).alias("t0"),
        F.last("v", True).over(back).alias("v0"),
        F.first(known_t, True).over(ahead).alias("t1"),
        F.first("v", True).over(ahead).alias("v1"),
    )
    slope = (F.col("v1") - F.col("v0")) / F.nullif(F.col("t1") - F.col("t0"), F.lit(0))
    return x.select("t", F.coalesce(F.col("v"), F.col("v0") + slope * (F.col("t") - F.col("t0"))).alias("v"))
