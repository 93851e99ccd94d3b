"""Statistics and features: histograms, quantiles, outliers, RFM, churn, encodings."""

import datetime as dt

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

NAN, INF = float("nan"), float("inf")


def _measures(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            ("a", 1.0, 2),
            ("a", 2.0, 4),
            ("a", 3.0, None),
            ("a", 100.0, 8),
            ("a", None, 10),
            ("b", -1.5, 1),
            ("b", -1.5, 1),
            ("b", NAN, 3),
            ("c", INF, 0),
            ("c", 7.25, -5),
            (None, 0.0, 0),
        ],
        "grp string, x double, y int",
    )


def z_scores(spark: SparkSession) -> DataFrame:
    w = Window.partitionBy("grp")
    clean = _measures(spark).where("x is not null and not isnan(x) and x < double('inf')")
    sd = F.stddev("x").over(w)
    return clean.withColumn("z", F.when(sd > 0, (F.col("x") - F.avg("x").over(w)) / sd)).withColumn(
        "outlier", F.abs("z") > 1.4
    )


def describe_groups(spark: SparkSession) -> DataFrame:
    return (
        _measures(spark)
        .filter(~F.isnan("x"))
        .groupBy("grp")
        .agg(
            F.count("x").alias("n"),
            F.mean("x").alias("mean"),
            F.stddev_pop("y").alias("sd"),
            F.variance("y").alias("var"),
            F.skewness("y").alias("skew"),
            F.kurtosis("y").alias("kurt"),
            F.min("x").alias("min"),
            F.max("x").alias("max"),
        )
    )


def quantiles(spark: SparkSession) -> DataFrame:
    _measures(spark).createOrReplaceTempView("measures")
    return spark.sql("""
        select grp, percentile(y, 0.5) as median, percentile(y, array(0.25, 0.75)) as quartiles,
               percentile_cont(0.9) within group (order by y) as p90,
               percentile_disc(0.5) within group (order by y) as disc, median(y) as med
        from measures where grp = 'a' or grp = 'b' group by grp
    """)


def approx_quantiles(spark: SparkSession) -> DataFrame:
    return (
        _measures(spark)
        .groupBy("grp")
        .agg(F.percentile_approx("y", 0.5).alias("p50"), F.approx_count_distinct("y").alias("d"))
    )


def iqr_outliers(spark: SparkSession) -> DataFrame:
    m = _measures(spark).where("y is not null")
    q = m.groupBy("grp").agg(F.expr("percentile(y, 0.25)").alias("q1"), F.expr("percentile(y, 0.75)").alias("q3"))
    iqr = F.col("q3") - F.col("q1")
    return (
        m.alias("m")
        .join(q.alias("q"), F.expr("m.grp <=> q.grp"))
        .where((F.col("y") < F.col("q1") - 1.5 * iqr) | (F.col("y") > F.col("q3") + 1.5 * iqr) | (iqr == 0))
        .select("m.grp", "y", "q1", "q3")
    )


def histogram(spark: SparkSession) -> DataFrame:
    m = _measures(spark).where("x between -10 and 110")
    bins = m.withColumn("bin", F.least(F.floor((F.col("x") + 10) / 20), F.lit(5)))
    all_bins = spark.range(6).select(F.col("id").alias("bin"))
    return (
        all_bins.join(bins.groupBy("bin").count(), "bin", "left")
        .na.fill(0)
        .withColumn("bar", F.expr("repeat('#', int(count))"))
        .withColumn(
            "label", F.concat(F.lit("["), F.col("bin") * 20 - 10, F.lit(", "), F.col("bin") * 20 + 10, F.lit(")"))
        )
        .orderBy("bin")
    )


def bucketise(spark: SparkSession) -> DataFrame:
    x = F.col("x")
    return _measures(spark).select(
        "x",
        F.when(x.isNull() | F.isnan(x), "missing").when(x < 0, "neg").when(x < 10, "small").otherwise("big").alias("b"),
        F.expr("width_bucket(x, 0, 10, 5)").alias("wb"),
        F.nanvl("x", F.lit(0.0)).alias("no_nan"),
        F.signum("x").alias("sign"),
        F.log1p(F.greatest(x, F.lit(0.0))).alias("log"),
        F.coalesce(F.nanvl(x, F.lit(None)), F.lit(-1.0)).alias("filled"),
    )


def correlations(spark: SparkSession) -> DataFrame:
    m = _measures(spark).where("not isnan(x) and x < 1000")
    return m.agg(
        F.round(F.corr("x", "y"), 6).alias("corr"),
        F.covar_samp("x", "y").alias("cov"),
        F.covar_pop("x", "y").alias("cov_p"),
        F.expr("regr_slope(y, x)").alias("slope"),
        F.expr("regr_r2(y, x)").alias("r2"),
        F.expr("regr_count(y, x)").alias("n"),
    )


def min_max_scale(spark: SparkSession) -> DataFrame:
    m = _measures(spark).select("grp", "y").dropna()
    ends = m.agg(F.min("y").alias("lo"), F.max("y").alias("hi"), F.avg("y").alias("mu"), F.stddev("y").alias("sd"))
    return m.crossJoin(F.broadcast(ends)).select(
        "grp",
        ((F.col("y") - F.col("lo")) / (F.col("hi") - F.col("lo"))).alias("scaled"),
        F.round((F.col("y") - F.col("mu")) / F.col("sd"), 6).alias("standard"),
    )


def impute_median(spark: SparkSession) -> DataFrame:
    m = _measures(spark)
    med = m.groupBy("grp").agg(F.median("y").alias("med"))
    return m.join(med, "grp", "left").select(
        "grp", "x", F.coalesce("y", "med").alias("y"), F.col("y").isNull().cast("int").alias("was_null")
    )


def one_hot(spark: SparkSession) -> DataFrame:
    m = _measures(spark)
    cats = sorted(r[0] for r in m.select("grp").distinct().collect() if r[0] is not None)
    return m.select(
        "y",
        *[F.when(F.col("grp") == c, 1).otherwise(0).alias(f"is_{c}") for c in cats],
        F.isnull("grp").cast("int").alias("is_null"),
    )


def frequency_encode(spark: SparkSession) -> DataFrame:
    m = _measures(spark)
    freq = m.groupBy("grp").agg((F.count("*") / F.sum(F.count("*")).over(Window.partitionBy())).alias("freq"))
    index = freq.withColumn("idx", F.row_number().over(Window.orderBy(F.desc("freq"), F.asc_nulls_last("grp"))) - 1)
    return (
        m.alias("m")
        .join(index.alias("i"), F.col("m.grp").eqNullSafe(F.col("i.grp")), "inner")
        .select("m.grp", "y", "freq", "idx")
    )


def rfm(spark: SparkSession) -> DataFrame:
    """Recency, frequency, monetary value in terciles."""
    orders = spark.createDataFrame(
        [
            (
                c,
                dt.date(2024, 1, 1) + dt.timedelta(days=(c * 37 + k * 11) % 150),
                float((c * 7919 + k * 104729) % 1000) / 10,
            )
            for c in range(1, 10)
            for k in range(c % 4 + 1)
        ]
        + [(99, None, None)],
        "customer int, day date, amount double",
    )
    base = orders.groupBy("customer").agg(
        F.datediff(F.lit("2024-06-30"), F.max("day")).alias("recency"),
        F.count("amount").alias("frequency"),
        F.sum("amount").alias("monetary"),
    )
    return (
        base.withColumn("r", F.ntile(3).over(Window.orderBy(F.col("recency").desc_nulls_first(), "customer")))
        .withColumn("f", F.ntile(3).over(Window.orderBy("frequency", "customer")))
        .withColumn("m", F.ntile(3).over(Window.orderBy(F.col("monetary").asc_nulls_first(), "customer")))
        .withColumn("rfm", F.concat("r", "f", "m"))
        .withColumn("segment", F.when(F.col("rfm") >= "322", "best").when(F.col("r") == 1, "lapsed").otherwise("other"))
    )


def churn_labels(spark: SparkSession) -> DataFrame:
    logins = spark.createDataFrame(
        [(1, "2024-01-05"), (1, "2024-02-20"), (2, "2024-01-01"), (3, "2023-10-01"), (3, "2024-03-01"), (4, None)],
        "user long, day string",
    ).select("user", F.to_date("day").alias("day"))
    cutoff = F.to_date(F.lit("2024-02-01"))
    before = (
        logins.filter(F.col("day") < cutoff)
        .groupBy("user")
        .agg(F.max("day").alias("last_seen"), F.countDistinct("day").alias("days"))
    )
    after = logins.filter((F.col("day") >= cutoff) & (F.col("day") < F.date_add(cutoff, 30))).select("user").distinct()
    return (
        before.join(after.withColumn("returned", F.lit(1)), "user", "left")
        .select("user", "last_seen", "days", (1 - F.coalesce("returned", F.lit(0))).alias("churned"))
        .orderBy("user")
    )


def sample_split(spark: SparkSession) -> DataFrame:
    """A repeatable train/test split by hash instead of a random one."""
    return (
        spark.range(0, 50)
        .select("id", F.when(F.abs(F.hash("id")) % 10 < 8, "train").otherwise("test").alias("split"))
        .groupBy("split")
        .agg(F.count("*").alias("n"), F.min("id").alias("lo"), F.max("id").alias("hi"))
    )


def random_sample(spark: SparkSession) -> DataFrame:
    return spark.range(100).sample(withReplacement=False, fraction=0.1, seed=42).select(F.max("id") >= 0)


def geo_distance(spark: SparkSession) -> DataFrame:
    places = spark.createDataFrame(
        [("Oslo", 59.91, 10.75), ("Quito", -0.18, -78.47), ("Pole", 90.0, 0.0), ("?", None, 1.0)],
        "p string, lat double, lon double",
    )
    a, b = places.alias("a"), places.alias("b")
    dlat, dlon = F.radians(F.col("b.lat") - F.col("a.lat")), F.radians(F.col("b.lon") - F.col("a.lon"))
    h = F.pow(F.sin(dlat / 2), 2) + F.cos(F.radians("a.lat")) * F.cos(F.radians("b.lat")) * F.pow(F.sin(dlon / 2), 2)
    return a.join(b, F.col("a.p") < F.col("b.p")).select(
        F.col("a.p").alias("from"), F.col("b.p").alias("to"), F.round(2 * 6371 * F.asin(F.sqrt(h)), 1).alias("km")
    )


def describe_frame(spark: SparkSession) -> DataFrame:
    return _measures(spark).describe("x", "y")


def summary_frame(spark: SparkSession) -> DataFrame:
    return _measures(spark).select("y").summary("count", "mean", "min", "max")
