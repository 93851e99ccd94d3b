"""Money: invoices, taxes, currencies, instalments, balances."""

from datetime import date
from decimal import Decimal

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T


def _lines(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            (1, 1, "tea", Decimal(3), Decimal("4.995"), "EUR", Decimal("0.19")),
            (1, 2, "rye", Decimal(-1), Decimal("2.50"), "EUR", Decimal("0.07")),
            (2, 1, "Ünï", Decimal("0.333"), Decimal("10.005"), "USD", None),
            (2, 2, None, None, Decimal("1.10"), "USD", Decimal("0.0825")),
            (3, 1, "yacht", Decimal(1000), Decimal("99999.999"), "JPY", Decimal("0.10")),
            (4, 1, "", Decimal(0), Decimal(0), "XXX", Decimal(0)),
        ],
        "invoice int, line int, item string, qty decimal(10,3), price decimal(12,3), currency string, rate decimal(5,4)",
    )


def _fx(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            ("EUR", date(2024, 1, 1), Decimal(1)),
            ("USD", date(2024, 1, 1), Decimal("0.91234567")),
            ("USD", date(2024, 2, 1), Decimal("0.92")),
            ("JPY", date(2024, 1, 1), Decimal("0.00641")),
        ],
        "currency string, since date, to_eur decimal(18,8)",
    )


def invoice_totals(spark: SparkSession) -> DataFrame:
    net = F.col("qty") * F.col("price")
    tax = F.round(net * F.coalesce("rate", F.lit(Decimal("0.0000"))), 2)
    return (
        _lines(spark)
        .withColumn("net", F.round(net, 2))
        .withColumn("tax", tax)
        .groupBy("invoice", "currency")
        .agg(
            F.sum("net").alias("net"),
            F.sum("tax").alias("tax"),
            F.sum(F.col("net") + F.col("tax")).alias("gross"),
            F.avg("price").alias("avg_price"),
        )
    )


def tax_rounding_modes(spark: SparkSession) -> DataFrame:
    raw = F.col("price") * F.col("rate")
    return _lines(spark).select(
        "invoice",
        "line",
        raw.alias("raw"),
        F.round(raw, 2).alias("half_up"),
        F.bround(raw, 2).alias("half_even"),
        F.floor(raw * 100).alias("floor_cents"),
        F.ceil(raw * 100).alias("ceil_cents"),
        raw.cast("decimal(10,2)").alias("cast"),
        F.round(F.col("price"), -1).alias("tens"),
    )


def convert_currency(spark: SparkSession) -> DataFrame:
    fx = _fx(spark)
    newest = fx.withColumn("rn", F.row_number().over(Window.partitionBy("currency").orderBy(F.desc("since")))).where(
        "rn = 1"
    )
    return (
        _lines(spark)
        .join(F.broadcast(newest.select("currency", "to_eur")), "currency", "left")
        .withColumn("eur", (F.col("qty") * F.col("price") * F.col("to_eur")).cast(T.DecimalType(18, 2)))
        .withColumn("known", F.col("to_eur").isNotNull())
        .select("invoice", "line", "currency", "eur", "known")
    )


def allocate_shipping(spark: SparkSession) -> DataFrame:
    """Share a shipping charge over lines by value; the last line takes the rounding difference."""
    charge = F.lit(Decimal("10.00"))
    w = Window.partitionBy("invoice")
    ordered = w.orderBy("line")
    value = F.abs(F.coalesce(F.col("qty"), F.lit(0)) * F.col("price"))
    shared = (
        _lines(spark)
        .withColumn("value", value)
        .withColumn("total", F.sum("value").over(w))
        .filter("total > 0")
        .withColumn("share", F.round(charge * F.col("value") / F.col("total"), 2))
        .withColumn("last", F.row_number().over(w.orderBy(F.desc("line"))) == 1)
        .withColumn("running", F.sum("share").over(ordered.rowsBetween(Window.unboundedPreceding, -1)))
    )
    return shared.select(
        "invoice",
        "line",
        F.when(F.col("last"), charge - F.coalesce("running", F.lit(Decimal("0.00"))))
        .otherwise(F.col("share"))
        .alias("shipping"),
    )


def running_balance(spark: SparkSession) -> DataFrame:
    spark.createDataFrame(
        [
            ("a", "2024-01-01", "100.00", "open"),
            ("a", "2024-01-01", "-30.10", "fee"),
            ("a", "2024-01-31", "-80", "buy"),
            ("a", "2024-02-29", None, "void"),
            ("b", "2024-01-05", "0.01", "open"),
            ("b", "2024-01-06", "1e3", "odd"),
            ("b", "2024-01-07", "n/a", "bad"),
        ],
        "account string, day string, amount string, kind string",
    ).createOrReplaceTempView("movements")
    return spark.sql("""
        with clean as (
            select account, to_date(day) as day, kind, try_cast(amount as decimal(12,2)) as amount
            from movements
        )
        select account, day, kind, amount,
               sum(coalesce(amount, 0)) over w as balance,
               min(amount) over (partition by account) as worst,
               if(sum(coalesce(amount, 0)) over w < 0, 'overdrawn', 'ok') as state
        from clean
        window w as (partition by account order by day, kind)
        order by account, day, kind
    """)


def tiered_usage(spark: SparkSession) -> DataFrame:
    """Usage prices by bracket: each unit at the price of the tier it falls in."""
    usage = spark.createDataFrame(
        [("x", 50), ("y", 150), ("z", 1200), ("q", 0), ("n", None)], "customer string, units int"
    )
    tiers = spark.createDataFrame(
        [(0, 100, Decimal("0.10")), (100, 1000, Decimal("0.08")), (1000, None, Decimal("0.055"))],
        "lo int, hi int, unit_price decimal(6,4)",
    )
    billed = F.least(F.col("units"), F.coalesce("hi", F.lit(2147483647))) - F.col("lo")
    return (
        usage.join(tiers, F.col("units") > F.col("lo"), "left")
        .withColumn("cost", billed * F.col("unit_price"))
        .groupBy("customer")
        .agg(F.sum("cost").alias("cost"), F.count("lo").alias("tiers"))
        .fillna(0, subset=["cost"])
    )


def amortisation(spark: SparkSession) -> DataFrame:
    """A loan's instalments, one row a month."""
    loans = spark.createDataFrame(
        [(1, date(2024, 1, 31), 6, 1200.0, 0.05), (2, date(2023, 11, 30), 3, 0.0, 0.0)],
        "loan int, start date, months int, principal double, yearly double",
    )
    return (
        loans.withColumn("n", F.explode(F.sequence(F.lit(1), F.col("months"))))
        .withColumn("due", F.add_months("start", F.col("n")))
        .withColumn("r", F.col("yearly") / 12)
        .withColumn(
            "payment",
            F.when(F.col("r") == 0, F.col("principal") / F.col("months")).otherwise(
                F.col("principal") * F.col("r") / (1 - F.pow(1 + F.col("r"), -F.col("months")))
            ),
        )
        .select("loan", "n", "due", F.round("payment", 2).alias("payment"), F.last_day("due").alias("month_end"))
    )


def ageing_buckets(spark: SparkSession) -> DataFrame:
    today = F.lit("2024-06-30").cast("date")
    inv = spark.createDataFrame(
        [
            ("acme", "2024-06-29", "10.50"),
            ("acme", "2024-05-15", "99.99"),
            ("acme", "2023-01-01", "1000000.00"),
            ("bolt", "2024-07-15", "5.00"),
            ("bolt", None, "7.77"),
            (None, "2024-04-01", "1.00"),
        ],
        ["customer", "due", "amount"],
    ).select("customer", F.to_date("due").alias("due"), F.col("amount").cast("decimal(15,2)").alias("amount"))
    days = F.datediff(today, F.col("due"))
    bucket = (
        F.when(days.isNull(), "unknown")
        .when(days <= 0, "current")
        .when(days.between(1, 30), "1-30")
        .when(days <= 60, "31-60")
        .otherwise("60+")
    )
    return (
        inv.withColumn("bucket", bucket)
        .groupBy("customer")
        .pivot("bucket", ["current", "1-30", "31-60", "60+", "unknown"])
        .agg(F.sum("amount"))
        .na.fill(0)
    )


def money_text(spark: SparkSession) -> DataFrame:
    """Amounts as people type them, into decimals and back."""
    raw = spark.createDataFrame(
        [("1,234.50",), ("$ 99",), ("(12.00)",), ("-7",), ("€1.000,25",), ("",), (None,), ("abc",)], ["t"]
    )
    digits = F.regexp_replace("t", r"[^0-9.\-]", "")
    amount = F.expr("try_cast(nullif(regexp_replace(t, '[^0-9.\\\\-]', ''), '') as decimal(12,2))")
    signed = F.when(F.col("t").startswith("("), -amount).otherwise(amount)
    return raw.select(
        "t",
        digits.alias("digits"),
        signed.alias("amount"),
        F.format_number(signed, 2).alias("pretty"),
        F.format_string("%010.2f", signed.cast("double")).alias("fixed"),
        F.lpad((signed * 100).cast("long").cast("string"), 12, "0").alias("cents"),
    )


def parse_to_number(spark: SparkSession) -> DataFrame:
    raw = spark.createDataFrame([("$1,234.50",), ("$12.00",), (None,)], ["t"])
    return raw.select("t", F.try_to_number("t", F.lit("$9,999.99")).alias("n"))


def proration(spark: SparkSession) -> DataFrame:
    subs = spark.createDataFrame(
        [
            (1, date(2024, 2, 10), date(2024, 2, 20), Decimal("29.00")),
            (2, date(2024, 1, 15), None, Decimal("9.99")),
            (3, date(2024, 3, 1), date(2024, 3, 31), Decimal("100.00")),
        ],
        "id int, started date, ended date, monthly decimal(10,2)",
    )
    first, last = F.lit(date(2024, 2, 1)), F.last_day(F.lit(date(2024, 2, 1)))
    active = F.datediff(F.least(F.coalesce("ended", last), last), F.greatest("started", first)) + 1
    return subs.select(
        "id",
        F.greatest(active, F.lit(0)).alias("days"),
        F.round(F.col("monthly") * F.greatest(active, F.lit(0)) / F.dayofmonth(last), 2).alias("fee"),
    )
