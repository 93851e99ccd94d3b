"""Web analytics: sessions, funnels, retention, attribution, experiments and server logs."""

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F


def _events(spark: SparkSession) -> DataFrame:
    rows = [
        ("u1", "2024-03-10 01:55:00", "view", "/home", "google"),
        ("u1", "2024-03-10 02:05:00", "view", "/p/1?ref=a&utm_source=mail", None),
        ("u1", "2024-03-10 02:05:00", "cart", "/p/1", None),
        ("u1", "2024-03-10 02:50:01", "view", "/home", "mail"),
        ("u1", "2024-03-10 03:00:00", "purchase", "/checkout", ""),
        ("u2", "2024-02-29 23:59:59", "view", "/home", "google"),
        ("u2", "2024-03-01 00:00:00", "view", "/p/2", None),
        ("u2", "2024-03-01 00:00:00", "view", "/p/2", None),
        ("u2", "2024-03-05 12:00:00", "purchase", "/checkout", "direct"),
        ("u3", None, "view", "/home", "bing"),
        ("u3", "2024-03-02 10:00:00", "cart", None, "bing"),
        (None, "2024-03-02 10:00:00", "view", "/home", "bing"),
        ("ü4", "1969-12-31 23:59:59", "view", "/", "google"),
        ("", "2024-03-31 10:00:00", "VIEW ", "/home", "google"),
    ]
    return spark.createDataFrame(
        rows, "user_id string, at string, action string, url string, source string"
    ).withColumn("at", F.to_timestamp("at"))


def sessionise(spark: SparkSession) -> DataFrame:
    """Sessions end after half an hour without an event."""
    w = Window.partitionBy("user_id").orderBy("at", "action", "url")
    events = _events(spark).filter(F.col("user_id").isNotNull() & F.col("at").isNotNull()).dropDuplicates()
    gap = F.unix_timestamp("at") - F.unix_timestamp(F.lag("at").over(w))
    flagged = events.withColumn("is_new", F.when(gap.isNull() | (gap > 1800), 1).otherwise(0))
    numbered = flagged.withColumn("session_no", F.sum("is_new").over(w))
    return (
        numbered.groupBy("user_id", "session_no")
        .agg(
            F.min("at").alias("started"),
            F.max("at").alias("ended"),
            F.count("*").alias("events"),
            F.sum(F.when(F.col("action") == "purchase", 1).otherwise(0)).alias("purchases"),
        )
        .withColumn("seconds", F.col("ended").cast("long") - F.col("started").cast("long"))
        .withColumn("session_id", F.concat_ws("-", "user_id", F.lpad(F.col("session_no").cast("string"), 4, "0")))
        .drop("session_no")
    )


def session_window_report(spark: SparkSession) -> DataFrame:
    return (
        _events(spark)
        .where("at is not null")
        .groupBy(F.session_window("at", "30 minutes").alias("s"), "user_id")
        .count()
        .select("user_id", F.col("s.start").alias("start"), F.col("s.end").alias("end"), "count")
    )


def funnel(spark: SparkSession) -> DataFrame:
    """How far each source's visitors go: view, then cart, then purchase."""
    e = _events(spark).withColumn("action", F.lower(F.trim("action")))
    first = e.groupBy("user_id").agg(
        F.min(F.when(F.col("action") == "view", F.col("at"))).alias("viewed"),
        F.min(F.when(F.col("action") == "cart", F.col("at"))).alias("carted"),
        F.min(F.when(F.col("action") == "purchase", F.col("at"))).alias("bought"),
    )
    steps = first.select(
        "user_id",
        F.col("viewed").isNotNull().alias("s1"),
        (F.col("carted") >= F.col("viewed")).alias("s2"),
        ((F.col("bought") >= F.col("carted")) & (F.col("carted") >= F.col("viewed"))).alias("s3"),
    )
    return steps.agg(
        F.count("*").alias("visitors"),
        F.sum(F.col("s1").cast("int")).alias("views"),
        F.sum(F.coalesce(F.col("s2"), F.lit(False)).cast("int")).alias("carts"),
        F.count_if("s3").alias("purchases"),
    ).withColumn("conversion", F.round(F.col("purchases") / F.col("visitors") * 100, 2))


def retention_cohorts(spark: SparkSession) -> DataFrame:
    _events(spark).createOrReplaceTempView("cohort_events")
    return spark.sql("""
        with firsts as (
            select user_id, date_trunc('WEEK', min(at)) as cohort
            from cohort_events where user_id is not null and at is not null
            group by user_id
        ), activity as (
            select distinct user_id, date_trunc('WEEK', at) as week
            from cohort_events where at is not null
        )
        select date_format(f.cohort, 'yyyy-MM-dd') as cohort,
               cast(datediff(a.week, f.cohort) / 7 as int) as week_no,
               count(distinct a.user_id) as users,
               round(count(distinct a.user_id) * 100.0 /
                     max(count(distinct a.user_id)) over (partition by f.cohort), 1) as pct
        from firsts f join activity a using (user_id)
        group by f.cohort, cast(datediff(a.week, f.cohort) / 7 as int)
        order by cohort, week_no
    """)


def last_touch_attribution(spark: SparkSession) -> DataFrame:
    e = _events(spark).withColumn("source", F.expr("nullif(trim(source), '')"))
    w = Window.partitionBy("user_id").orderBy("at", "action").rowsBetween(Window.unboundedPreceding, 0)
    return (
        e.where(F.col("at").isNotNull())
        .withColumn("touch", F.last("source", ignorenulls=True).over(w))
        .filter("action = 'purchase'")
        .groupBy(F.coalesce("touch", F.lit("(none)")).alias("channel"))
        .agg(F.countDistinct("user_id").alias("buyers"), F.count(F.lit(1)).alias("orders"))
    )


def url_parts(spark: SparkSession) -> DataFrame:
    e = _events(spark).select("url").distinct()
    query = F.regexp_extract("url", r"\?(.*)$", 1)
    return e.select(
        "url",
        F.split("url", r"\?").getItem(0).alias("path"),
        F.when(query != "", F.str_to_map(query, F.lit("&"), F.lit("="))["utm_source"]).alias("utm_source"),
        F.parse_url(F.concat(F.lit("https://shop.example"), "url"), F.lit("QUERY"), F.lit("ref")).alias("ref"),
        F.size(F.split("url", "/")).alias("depth"),
    )


_LOG = [
    '10.0.0.1 - alice [10/Oct/2023:13:55:36 +0000] "GET /index.html HTTP/1.1" 200 2326',
    '10.0.0.2 - - [10/Oct/2023:13:55:37 +0000] "POST /api/v1/orders?id=7 HTTP/1.1" 500 -',
    '2001:db8::1 - bob [31/Dec/2023:23:59:59 +0100] "GET /caf\u00e9 HTTP/2.0" 404 0',
    "garbage line",
    "",
    None,
]


def access_log(spark: SparkSession) -> DataFrame:
    """The common log format, one column a field."""
    pattern = r'^(\S+) (\S+) (\S+) \[([^\]]+)\] "(\w+) (\S+) ([^"]+)" (\d{3}) (\d+|-)$'
    raw = spark.createDataFrame([(line,) for line in _LOG], "value string")
    names = ["host", "ident", "user", "stamp", "method", "path", "protocol", "status", "bytes"]
    parsed = raw.select(*[F.regexp_extract("value", pattern, i + 1).alias(n) for i, n in enumerate(names)])
    return (
        parsed.filter(F.col("host") != "")
        .withColumn("stamp", F.to_timestamp("stamp", "dd/MMM/yyyy:HH:mm:ss Z"))
        .withColumn("status", F.col("status").cast("int"))
        .withColumn("bytes", F.expr("try_cast(bytes as bigint)"))
        .withColumn("user", F.when(F.col("user") == "-", None).otherwise(F.col("user")))
        .drop("ident")
    )


def error_rate_by_minute(spark: SparkSession) -> DataFrame:
    logs = access_log(spark)
    return (
        logs.groupBy(F.window("stamp", "1 minute").alias("w"))
        .agg(
            F.count("*").alias("hits"),
            F.avg((F.col("status") >= 500).cast("int")).alias("error_rate"),
            F.sum(F.coalesce("bytes", F.lit(0))).alias("bytes"),
        )
        .select("w.start", "w.end", "hits", "error_rate", "bytes")
    )


def app_log_levels(spark: SparkSession) -> DataFrame:
    lines = [
        "2024-01-01T00:00:00.123Z ERROR [main] com.acme.Db - timeout after 30s (attempt=3)",
        "2024-01-01T00:00:01.000Z WARN  [pool-1] com.acme.Http - slow: 1250ms",
        "2024-01-01T00:00:02.5Z info [main] start",
        "    at com.acme.Db.connect(Db.java:42)",
    ]
    df = spark.createDataFrame([(i, s) for i, s in enumerate(lines)], ["line_no", "line"])
    return (
        df.filter(F.col("line").rlike(r"^\d{4}-"))
        .withColumn("level", F.upper(F.regexp_extract("line", r"(?i)\b(error|warn|info|debug)\b", 1)))
        .withColumn("numbers", F.regexp_extract_all("line", F.lit(r"(\d+)(?:s|ms)\b"), F.lit(1)))
        .withColumn("digits", F.regexp_count("line", F.lit(r"\d")))
        .withColumn("redacted", F.regexp_replace("line", r"\d+", "#"))
        .withColumn("at", F.to_timestamp(F.substring_index("line", " ", 1)))
        .drop("line")
    )


def experiment_summary(spark: SparkSession) -> DataFrame:
    """Conversion per arm with lift and z-score against control."""
    data: list[tuple[str, int, int | None, float]] = [("A", i, 1 if i % 7 == 0 else 0, float(i % 5)) for i in range(40)]
    data += [("B", 100 + i, 1 if i % 5 == 0 else 0, float(i % 6)) for i in range(45)]
    data += [("B", 999, None, float("nan"))]
    arms = spark.createDataFrame(data, "arm string, visitor long, converted int, revenue double")
    stats = (
        arms.na.drop(subset=["converted"])
        .groupBy("arm")
        .agg(
            F.count("*").alias("n"),
            F.sum("converted").alias("x"),
            F.avg("revenue").alias("mean_revenue"),
            F.var_samp("revenue").alias("var_revenue"),
        )
    )
    a = stats.filter("arm = 'A'").alias("a")
    b = stats.filter("arm = 'B'").alias("b")
    p = (F.col("a.x") + F.col("b.x")) / (F.col("a.n") + F.col("b.n"))
    se = F.sqrt(p * (1 - p) * (1 / F.col("a.n") + 1 / F.col("b.n")))
    return a.crossJoin(b).select(
        (F.col("a.x") / F.col("a.n")).alias("control"),
        (F.col("b.x") / F.col("b.n")).alias("variant"),
        F.round((F.col("b.x") / F.col("b.n") - F.col("a.x") / F.col("a.n")) / se, 4).alias("z"),
        F.round(
            (F.col("b.mean_revenue") - F.col("a.mean_revenue"))
            / F.sqrt(F.col("a.var_revenue") / F.col("a.n") + F.col("b.var_revenue") / F.col("b.n")),
            4,
        ).alias("t"),
    )


def bucket_visitors(spark: SparkSession) -> DataFrame:
    """Which arm a visitor is in, by a hash of the id and the experiment's salt."""
    ids = spark.createDataFrame([("u1",), ("ü2",), ("",), (None,), ("u-999",)], "visitor string")
    salted = F.concat(F.lit("exp-42:"), F.coalesce("visitor", F.lit("anonymous")))
    return ids.select(
        "visitor",
        F.pmod(F.hash(salted), F.lit(100)).alias("slot"),
        F.pmod(F.xxhash64(salted), F.lit(2)).alias("arm"),
        F.substring(F.sha2(salted, 256), 1, 8).alias("token"),
        (F.conv(F.substring(F.md5(salted), 1, 6), 16, 10).cast("long") % 10).alias("decile"),
        F.crc32(salted).alias("crc"),
    )
