"""Dates: fiscal periods, business days, ages, time zones."""

import datetime as dt

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def _days(spark: SparkSession) -> DataFrame:
    values = ["2024-02-29", "2023-12-31", "2024-01-01", "1900-03-01", "0001-01-01", "9999-12-31", "1969-12-31", None]
    return spark.createDataFrame([(i, v) for i, v in enumerate(values)], "id int, d string").withColumn(
        "d", F.to_date("d")
    )


def calendar_table(spark: SparkSession) -> DataFrame:
    """The date dimension every warehouse has."""
    return _days(spark).select(
        "d",
        F.date_format("d", "yyyyMMdd").cast("int").alias("date_key"),
        F.year("d").alias("year"),
        F.quarter("d").alias("quarter"),
        F.month("d").alias("month"),
        F.weekofyear("d").alias("iso_week"),
        F.dayofweek("d").alias("dow"),
        F.weekday("d").alias("weekday"),
        F.dayofyear("d").alias("doy"),
        F.date_format("d", "EEEE").alias("day_name"),
        F.date_format("d", "MMM yyyy").alias("label"),
        F.dayofweek("d").isin(1, 7).alias("is_weekend"),
        F.last_day("d").alias("month_end"),
        F.trunc("d", "MM").alias("month_start"),
        F.trunc("d", "quarter").alias("quarter_start"),
    )


def fiscal_periods(spark: SparkSession) -> DataFrame:
    """The fiscal year begins in July."""
    shifted = F.add_months("d", 6)
    return (
        _days(spark)
        .where(F.col("d") < "9000-01-01")
        .select(
            "d",
            F.year(shifted).alias("fy"),
            F.concat(
                F.lit("FY"), F.substring(F.year(shifted).cast("string"), -2, 2), F.lit("Q"), F.quarter(shifted)
            ).alias("fq"),
            ((F.month("d") + 5) % 12 + 1).alias("period"),
            F.make_date(F.year(shifted) - 1, F.lit(7), F.lit(1)).alias("fy_start"),
        )
    )


def business_days(spark: SparkSession) -> DataFrame:
    """Working days between two dates, without weekends and holidays."""
    t = spark.createDataFrame(
        [
            (1, dt.date(2023, 12, 22), dt.date(2024, 1, 3)),
            (2, dt.date(2024, 1, 6), dt.date(2024, 1, 7)),
            (3, None, dt.date(2024, 1, 1)),
        ],
        "id int, opened date, closed date",
    )
    holidays = spark.createDataFrame(
        [(dt.date(2023, 12, 25),), (dt.date(2023, 12, 26),), (dt.date(2024, 1, 1),)], "h date"
    )
    days = t.select("id", F.explode_outer(F.sequence("opened", "closed")).alias("day"))
    work = days.join(holidays, days.day == holidays.h, "left_anti").filter(F.dayofweek("day").between(2, 6))
    return t.join(work.groupBy("id").agg(F.count("*").alias("n")), "id", "left").select(
        "id", F.coalesce("n", F.lit(0)).alias("work_days"), F.datediff("closed", "opened").alias("days")
    )


def next_business_day(spark: SparkSession) -> DataFrame:
    dow = F.dayofweek("d")
    return (
        _days(spark)
        .where("d between '1900-01-01' and '2100-01-01'")
        .select(
            "d",
            F.date_add("d", F.when(dow == 6, 3).when(dow == 7, 2).otherwise(1)).alias("next_work_day"),
            F.next_day("d", "Mon").alias("next_monday"),
            F.expr("d - interval 1 month").alias("month_ago"),
            F.expr("d + interval 10 days").alias("in_ten"),
            F.expr("date_add(d, 90)").alias("in_90"),
        )
    )


def ages(spark: SparkSession) -> DataFrame:
    ref = F.lit("2024-02-28").cast("date")
    return _days(spark).select(
        "d",
        F.floor(F.months_between(ref, "d") / 12).cast("int").alias("age"),
        F.expr("timestampdiff(YEAR, d, date'2024-02-28')").alias("years"),
        F.round(F.months_between(ref, F.col("d")), 2).alias("months"),
        F.when(F.col("d") > ref, F.lit("unborn")).otherwise("born").alias("state"),
        (F.date_format("d", "MMdd") > F.date_format(ref, "MMdd")).alias("birthday_ahead"),
    )


def time_zones(spark: SparkSession) -> DataFrame:
    t = spark.createDataFrame(
        [
            ("2024-03-31 00:30:00", "Europe/Berlin"),
            ("2024-11-03 05:30:00", "America/New_York"),
            ("1950-06-01 00:00:00", "Asia/Kolkata"),
            (None, "UTC"),
        ],
        "utc string, zone string",
    ).withColumn("utc", F.to_timestamp("utc"))
    return t.select(
        "zone",
        F.from_utc_timestamp("utc", F.col("zone")).alias("local"),
        F.from_utc_timestamp("utc", "America/New_York").alias("ny"),
        F.to_date(F.from_utc_timestamp("utc", "Asia/Tokyo")).alias("tokyo_day"),
        F.hour(F.to_utc_timestamp("utc", "Europe/Berlin")).alias("utc_hour"),
        F.unix_timestamp("utc").alias("epoch"),
        F.from_unixtime(F.unix_timestamp("utc"), "yyyy/MM/dd HH:mm").alias("text"),
    )


def parse_mixed_dates(spark: SparkSession) -> DataFrame:
    raw = spark.createDataFrame(
        [
            ("2024-02-29",),
            ("29/02/2024",),
            ("Feb 29, 2024",),
            ("20240229",),
            ("31/02/2024",),
            ("",),
            (None,),
            ("2023-02-29",),
        ],
        "s string",
    )
    return raw.select(
        "s",
        F.coalesce(
            F.to_date(F.try_to_timestamp("s", F.lit("yyyy-MM-dd"))),
            F.to_date(F.try_to_timestamp("s", F.lit("dd/MM/yyyy"))),
            F.to_date(F.try_to_timestamp("s", F.lit("MMM d, yyyy"))),
            F.to_date(F.try_to_timestamp("s", F.lit("yyyyMMdd"))),
        ).alias("d"),
    )


def month_ends(spark: SparkSession) -> DataFrame:
    spine = spark.sql("select explode(sequence(date'2023-11-30', date'2024-03-31', interval 1 month)) as m")
    return spine.select(
        F.last_day("m").alias("month_end"),
        F.dayofmonth(F.last_day("m")).alias("days"),
        F.add_months("m", -12).alias("year_ago"),
        F.date_sub(F.trunc("m", "MM"), 1).alias("previous_end"),
        (F.last_day("m") == F.col("m")).alias("is_end"),
    )


def truncations(spark: SparkSession) -> DataFrame:
    t = spark.createDataFrame(
        [("2024-12-31 23:59:59.999999",), ("1969-07-20 20:17:40",), ("1582-10-15 00:00:00",), (None,)], ["t"]
    ).select(F.col("t").cast("timestamp").alias("t"))
    units = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
    return t.select("t", *[F.date_trunc(u, "t").alias(u) for u in units], F.second("t").alias("sec"))


def sla_breaches(spark: SparkSession) -> DataFrame:
    tickets = spark.createDataFrame(
        [
            (1, "2024-01-05 16:00:00", "2024-01-08 10:00:00", "P1"),
            (2, "2024-01-05 16:00:00", "2024-01-05 16:30:00", "P1"),
            (3, "2024-01-05 16:00:00", None, "P2"),
            (4, "2024-01-07 16:00:00", "2024-01-05 16:00:00", "P3"),
        ],
        ["id", "opened", "closed", "priority"],
    )
    hours = (F.col("closed_at").cast("long") - F.col("opened_at").cast("long")) / 3600
    limit = F.expr("case priority when 'P1' then 4 when 'P2' then 24 else 72 end")
    return (
        tickets.withColumns({"opened_at": F.to_timestamp("opened"), "closed_at": F.to_timestamp("closed")})
        .withColumn("hours", F.round(hours, 1))
        .withColumn("breached", F.coalesce(hours > limit, F.lit(True)))
        .withColumn("open_days", F.datediff(F.lit("2024-01-10"), "opened_at"))
        .select("id", "priority", "hours", "breached", "open_days")
    )


def partition_columns(spark: SparkSession) -> DataFrame:
    t = spark.createDataFrame([("2024-01-02T03:04:05.006Z",), ("2024-06-30T23:30:00-05:00",), ("bad",)], ["raw"])
    ts = F.try_to_timestamp("raw")
    return t.select(
        "raw",
        F.date_format(ts, "yyyy").alias("y"),
        F.date_format(ts, "MM").alias("m"),
        F.date_format(ts, "'dt='yyyy-MM-dd'/h='HH").alias("path"),
        F.unix_millis(ts).alias("millis"),
        F.date_format(ts, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").alias("iso"),
    )
