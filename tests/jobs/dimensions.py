"""Warehouse loads: slowly changing dimensions, merges, deduplication, data-quality checks."""

import datetime as dt
from functools import reduce

from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DateType, IntegerType, StringType, StructField, StructType

END_OF_TIME = dt.date(9999, 12, 31)


def _dim(spark: SparkSession) -> DataFrame:
    schema = StructType(
        [
            StructField("customer_id", IntegerType(), False),
            StructField("name", StringType()),
            StructField("city", StringType()),
            StructField("valid_from", DateType(), False),
            StructField("valid_to", DateType(), False),
            StructField("is_current", BooleanType(), False),
        ]
    )
    return spark.createDataFrame(
        [
            (1, "Ann", "Oslo", dt.date(2020, 1, 1), dt.date(2022, 5, 31), False),
            (1, "Ann", "Bergen", dt.date(2022, 6, 1), END_OF_TIME, True),
            (2, "Bob", None, dt.date(2021, 1, 1), END_OF_TIME, True),
            (3, "Cy", "", dt.date(1900, 1, 1), END_OF_TIME, True),
            (4, "Zoë", "Zürich", dt.date(2023, 2, 28), END_OF_TIME, True),
        ],
        schema,
    )


def _stage(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            (1, "Ann", "Bergen", "2024-01-15 08:00:00"),
            (2, "Bob", "Paris", "2024-01-15 08:00:00"),
            (2, "Bob", "Lyon", "2024-01-15 09:00:00"),
            (3, "Cy", None, "2024-01-15 08:00:00"),
            (5, "Dee", "Rome", "2024-01-15 08:00:00"),
            (5, "Dee", "Rome", "2024-01-15 08:00:00"),
            (None, "??", "Nowhere", None),
        ],
        "customer_id int, name string, city string, loaded_at string",
    ).withColumn("loaded_at", F.col("loaded_at").cast("timestamp"))


def _latest(stage: DataFrame) -> DataFrame:
    w = Window.partitionBy("customer_id").orderBy(F.col("loaded_at").desc_nulls_last(), "city")
    return stage.where("customer_id is not null").withColumn("rn", F.row_number().over(w)).where("rn = 1").drop("rn")


def scd_type_1(spark: SparkSession) -> DataFrame:
    current = _dim(spark).where("is_current").select("customer_id", "name", "city")
    new = _latest(_stage(spark))
    return (
        current.alias("c")
        .join(new.alias("n"), "customer_id", "full_outer")
        .select(
            "customer_id",
            F.coalesce("n.name", "c.name").alias("name"),
            F.coalesce("n.city", "c.city").alias("city"),
            F.when(F.col("c.name").isNull(), "insert")
            .when(F.col("n.name").isNull(), "keep")
            .when(F.col("n.city").eqNullSafe(F.col("c.city")), "same")
            .otherwise("update")
            .alias("action"),
        )
    )


def scd_type_2(spark: SparkSession) -> DataFrame:
    """Close the changed rows, open the new ones, and leave history alone."""
    dim = _dim(spark)
    new = _latest(_stage(spark))
    changed = (
        new.alias("n")
        .join(dim.filter("is_current").alias("d"), "customer_id", "left")
        .filter(F.col("d.name").isNull() | ~F.col("n.city").eqNullSafe(F.col("d.city")))
        .select("customer_id", "n.name", "n.city", F.to_date("n.loaded_at").alias("valid_from"))
    )
    closing = changed.select("customer_id", F.col("valid_from").alias("closed_on"))
    kept = dim.join(closing, "customer_id", "left").select(
        "customer_id",
        "name",
        "city",
        "valid_from",
        F.when(F.col("is_current") & F.col("closed_on").isNotNull(), F.date_sub("closed_on", 1))
        .otherwise(F.col("valid_to"))
        .alias("valid_to"),
        (F.col("is_current") & F.col("closed_on").isNull()).alias("is_current"),
    )
    opened = changed.withColumns({"valid_to": F.lit(END_OF_TIME), "is_current": F.lit(True)})
    return kept.unionByName(opened).orderBy("customer_id", "valid_from")


def scd_type_2_from_snapshots(spark: SparkSession) -> DataFrame:
    """Rebuild validity ranges from daily snapshots (gaps and islands)."""
    spark.createDataFrame(
        [
            (1, "gold", "2024-01-01"),
            (1, "gold", "2024-01-02"),
            (1, "silver", "2024-01-03"),
            (1, "gold", "2024-01-04"),
            (1, None, "2024-01-05"),
            (1, None, "2024-01-06"),
            (2, "bronze", "2024-02-28"),
            (2, "bronze", "2024-03-01"),
        ],
        "id int, tier string, day string",
    ).createOrReplaceTempView("snapshots")
    return spark.sql("""
        select id, tier, min(day) as valid_from,
               coalesce(date_sub(lead(min(day)) over (partition by id order by min(day)), 1),
                        date'9999-12-31') as valid_to,
               count(*) as days_seen
        from (
            select *, sum(changed) over (partition by id order by day) as grp
            from (
                select id, tier, to_date(day) as day,
                       case when tier <=> lag(tier) over (partition by id order by day)
                             and lag(day) over (partition by id order by day) is not null
                            then 0 else 1 end as changed
                from snapshots)
        )
        group by id, tier, grp
    """)


def row_hash_diff(spark: SparkSession) -> DataFrame:
    """Change detection by a hash over the business columns."""
    cols = ["name", "city"]

    def digest() -> Column:
        return F.sha2(F.concat_ws("||", *[F.coalesce(F.col(c), F.lit("\u2205")) for c in cols]), 256)

    old = _dim(spark).filter(F.col("is_current")).select("customer_id", digest().alias("old_hash"))
    new = _latest(_stage(spark)).select("customer_id", digest().alias("new_hash"))
    return old.join(new, on=["customer_id"], how="outer").withColumn(
        "status",
        F.expr("""case when old_hash is null then 'I' when new_hash is null then 'D'
                       when old_hash <> new_hash then 'U' else 'N' end"""),
    )


def surrogate_keys(spark: SparkSession) -> DataFrame:
    existing = _dim(spark).select("customer_id").distinct()
    top = existing.agg(F.max("customer_id").alias("top"))
    fresh = _latest(_stage(spark)).join(existing, "customer_id", "left_anti")
    w = Window.orderBy("customer_id")
    return fresh.crossJoin(top).select((F.col("top") + F.row_number().over(w)).alias("sk"), "customer_id", "name")


def point_in_time_lookup(spark: SparkSession) -> DataFrame:
    facts = spark.createDataFrame(
        [
            Row(order=1, customer_id=1, day=dt.date(2021, 3, 1)),
            Row(order=2, customer_id=1, day=dt.date(2022, 6, 1)),
            Row(order=3, customer_id=4, day=dt.date(2020, 1, 1)),
            Row(order=4, customer_id=None, day=dt.date(2024, 1, 1)),
            Row(order=5, customer_id=3, day=None),
        ]
    )
    d = _dim(spark)
    return facts.join(
        d,
        (facts.customer_id == d.customer_id) & facts.day.between(d.valid_from, d.valid_to),
        "left",
    ).select(facts.order, facts.customer_id, d.name, d.city, F.coalesce(d.city, F.lit("n/a")).alias("city_or_na"))


def dedup_keep_newest(spark: SparkSession) -> DataFrame:
    s = _stage(spark).withColumn("key", F.lower(F.concat_ws("_", "customer_id", "name")))
    newest = s.groupBy("key").agg(F.max(F.struct("loaded_at", "city", "customer_id")).alias("m"))
    return newest.select("key", "m.*")


def dedup_distinct_keys(spark: SparkSession) -> DataFrame:
    s = _stage(spark).drop("city")
    return s.dropDuplicates(["customer_id", "name", "loaded_at"]).sort(F.asc_nulls_last("customer_id"), "loaded_at")


def max_by_latest(spark: SparkSession) -> DataFrame:
    return (
        _stage(spark)
        .groupBy("customer_id")
        .agg(
            F.max_by("city", "loaded_at").alias("latest_city"),
            F.min_by("city", "loaded_at").alias("first_city"),
            F.count("*").alias("n"),
        )
        .filter("customer_id != 1 or n = 1")
    )


def quality_report(spark: SparkSession) -> DataFrame:
    """One row per column: nulls, blanks, distinct values."""
    df = _stage(spark).withColumn("score", F.lit(float("nan")))
    parts = []
    for field in df.schema.fields:
        c = F.col(field.name)
        bad = c.isNull()
        if field.dataType.typeName() == "double":
            bad = bad | F.isnan(c)
        blank = F.trim(c) == "" if field.dataType == StringType() else F.lit(False)
        parts.append(
            df.agg(
                F.lit(field.name).alias("column"),
                F.count("*").alias("rows"),
                F.sum(bad.cast("int")).alias("missing"),
                F.sum(F.when(blank, 1).otherwise(0)).alias("blank"),
                F.countDistinct(c).alias("distinct"),
                F.min(c).cast("string").alias("min"),
                F.max(c).cast("string").alias("max"),
            )
        )
    return reduce(DataFrame.union, parts)


def quality_wide(spark: SparkSession) -> DataFrame:
    df = _stage(spark)
    return df.select([F.count(F.when(F.col(c).isNull(), c)).alias(f"{c}_nulls") for c in df.columns]).withColumn(
        "total", F.lit(7)
    )


def failed_rules(spark: SparkSession) -> DataFrame:
    df = _stage(spark)
    rules = {
        "id_missing": F.col("customer_id").isNull(),
        "city_missing": F.coalesce(F.length("city"), F.lit(0)) == 0,
        "name_not_alpha": ~F.col("name").rlike("^[A-Za-z]+$"),
        "load_in_past": F.col("loaded_at") < F.lit("2024-01-15 08:30:00"),
    }
    checks = F.array(*[F.when(cond, F.lit(name)) for name, cond in rules.items()])
    return (
        df.withColumn("failed", F.array_compact(checks))
        .filter(F.size("failed") > 0)
        .select("customer_id", "name", F.array_join("failed", ", ").alias("failed"), F.size("failed").alias("n"))
    )


def orphans_and_twins(spark: SparkSession) -> DataFrame:
    """Foreign keys without a parent, and primary keys twice."""
    d, s = _dim(spark), _stage(spark)
    orphans = s.join(d, s["customer_id"].eqNullSafe(d["customer_id"]), "leftanti").select(
        s["customer_id"].cast("string").alias("id"), F.lit("orphan").alias("problem")
    )
    twins = (
        d.groupBy("customer_id")
        .count()
        .where(F.col("count") > 1)
        .select(F.col("customer_id").cast("string").alias("id"), F.lit("twin").alias("problem"))
    )
    return orphans.unionAll(twins).withColumn("id", F.nvl("id", F.lit("<null>")))
