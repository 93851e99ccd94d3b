"""Where data comes from: Parquet with partitions, CSV, JSON lines, pandas, rows, tables of different shape."""

import datetime as dt
import tempfile
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F


def partitioned_parquet(spark: SparkSession) -> DataFrame:
    path = tempfile.mkdtemp() + "/events"
    spark.createDataFrame(
        [
            (1, "a", 1.5, "2024-01-01", "DE"),
            (2, None, None, "2024-01-01", "FR"),
            (3, "ü", float("nan"), "2024-01-02", "DE"),
            (4, "", -0.0, "2024-01-03", None),
        ],
        "id long, name string, v double, day string, country string",
    ).write.partitionBy("day", "country").parquet(path)
    e = spark.read.parquet(path)
    return e.where((F.col("day") >= "2024-01-02") | (F.col("country") == "FR")).select(
        "id", "name", "v", "day", "country"
    )


def parquet_join(spark: SparkSession) -> DataFrame:
    root = tempfile.mkdtemp()
    spark.range(20).selectExpr(
        "id", "id % 3 as k", "cast(id as decimal(10,2)) / 4 as price", "timestamp_seconds(id * 86400) as at"
    ).write.parquet(f"{root}/f")
    spark.createDataFrame([(0, "zero"), (1, "one"), (1, "uno")], "k long, label string").write.parquet(f"{root}/d")
    f, d = spark.read.parquet(f"{root}/f"), spark.read.parquet(f"{root}/d")
    return (
        f.join(d, "k", "left")
        .groupBy("label")
        .agg(F.sum("price").alias("price"), F.max("at").alias("newest"), F.countDistinct("id").alias("n"))
    )


def csv_import(spark: SparkSession) -> DataFrame:
    path = Path(tempfile.mkdtemp()) / "people.csv"
    path.write_text('id,name,born,pay\n1,"Smith, J",1980-02-29,1000.50\n2,,,\n3,Zoë,2001-01-01,-5\n', encoding="utf-8")
    raw = spark.read.csv(str(path), header=True, schema="id int, name string, born string, pay string")
    return raw.select(
        "id",
        F.coalesce("name", F.lit("?")).alias("name"),
        F.to_date("born").alias("born"),
        F.col("pay").cast("decimal(10,2)").alias("pay"),
    )


def json_lines(spark: SparkSession) -> DataFrame:
    path = Path(tempfile.mkdtemp()) / "e.json"
    path.write_text('{"id": 1, "t": {"a": "x"}, "l": [1, 2]}\n{"id": 2, "l": null}\n', encoding="utf-8")
    return (
        spark.read.schema("id int, t struct<a: string>, l array<int>")
        .json(str(path))
        .select("id", "t.a", F.explode_outer("l"))
    )


def text_lines(spark: SparkSession) -> DataFrame:
    path = Path(tempfile.mkdtemp()) / "notes.txt"
    path.write_text("TODO: one\ndone\nTODO two \n", encoding="utf-8")
    return (
        spark.read.text(str(path))
        .filter(F.col("value").startswith("TODO"))
        .select(F.length("value").alias("n"), F.substring("value", 6, 100).alias("what"))
    )


def from_pandas(spark: SparkSession) -> DataFrame:
    pdf = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "v": [1.5, None, -2.0],
            "s": ["x", None, ""],
            "at": pd.to_datetime(["2024-01-01 00:00:00", "2024-06-30 23:59:59.123456", None], format="ISO8601"),
            "flag": [True, False, True],
        }
    )
    df = spark.createDataFrame(pdf)
    return df.withColumn("v", F.nanvl("v", F.lit(0.0))).withColumn("day", F.to_date("at")).where("flag or v = 0")


def from_rows_and_dicts(spark: SparkSession) -> DataFrame:
    rows = spark.createDataFrame([Row(id=1, tags=["a"], at=dt.datetime(2024, 1, 1, 12)), Row(id=2, tags=[], at=None)])
    dicts = spark.createDataFrame([{"id": 3, "tags": None, "extra": 1.5}], "id long, tags array<string>, extra double")
    return rows.unionByName(dicts, allowMissingColumns=True).withColumn("n", F.size("tags"))


def schema_drift(spark: SparkSession) -> DataFrame:
    """Three yearly extracts with different columns and types in one."""
    y1 = spark.createDataFrame([(1, "10")], "id int, amount string")
    y2 = spark.createDataFrame([(2, 20.5, "EUR")], "id long, amount double, cur string")
    y3 = spark.createDataFrame([("USD", 3, None)], "cur string, id int, amount decimal(8,2)")
    fixed = [
        d.withColumn("id", F.col("id").cast("long")).withColumn("amount", F.col("amount").cast("double"))
        for d in (y1, y2, y3)
    ]
    out = fixed[0]
    for d in fixed[1:]:
        out = out.unionByName(d, allowMissingColumns=True)
    return out.na.fill({"cur": "n/a", "amount": 0.0}).toDF("ID", "Amount", "Currency")


def rename_everything(spark: SparkSession) -> DataFrame:
    raw = spark.createDataFrame([(1, " x ", True), (2, None, None)], ["Order ID", "Cust.Name", "is-new?"])
    clean = raw.toDF(
        *[c.lower().replace(" ", "_").replace(".", "_").replace("-", "_").rstrip("?") for c in raw.columns]
    )
    return clean.withColumnsRenamed({"cust_name": "customer"}).select(
        "order_id", F.trim("customer").alias("customer"), F.when(F.col("is_new"), "Y").otherwise("N").alias("new")
    )


def replace_values(spark: SparkSession) -> DataFrame:
    d = spark.createDataFrame(
        [(1, "N/A", -999.0), (2, "ok", 1.0), (3, None, float("nan"))], "id int, s string, v double"
    )
    return (
        d.replace({"N/A": None, "ok": "OK"}, subset=["s"])
        .replace(-999.0, None, ["v"])
        .na.fill(0.0, ["v"])
        .na.drop(how="all", subset=["s", "v"])
    )


def drop_sparse_rows(spark: SparkSession) -> DataFrame:
    d = spark.createDataFrame(
        [(1, None, None, "a"), (2, 2.0, None, None), (None, float("nan"), None, None), (4, 1.0, True, "")],
        "a int, b double, c boolean, d string",
    )
    return d.na.drop(thresh=2)


def dtype_casts(spark: SparkSession) -> DataFrame:
    d = spark.createDataFrame(
        [
            ("1", "true", "2024-01-01", "1.5e2", "0x1F"),
            (" 2 ", "N", "2024-1-1 5:06", "NaN", ""),
            ("x", "maybe", "", "-inf", None),
        ],
        ["i", "b", "t", "f", "h"],
    )
    return d.selectExpr(
        "try_cast(i as int) as i",
        "try_cast(b as boolean) as b",
        "try_cast(t as timestamp) as t",
        "try_cast(t as date) as d",
        "try_cast(f as double) as f",
        "try_cast(f as decimal(10,1)) as dec",
        "conv(substring(h, 3), 16, 10) as h",
    )


def limit_and_cache(spark: SparkSession) -> DataFrame:
    d = spark.range(10).withColumn("sq", F.col("id") * F.col("id")).repartition(3).coalesce(1).cache()
    return d.orderBy(F.desc("sq")).limit(3).hint("broadcast").withColumn("row", F.col("sq").cast("string"))


def tail_of_range(spark: SparkSession) -> DataFrame:
    return spark.range(5, -5, -3).withColumnRenamed("id", "n").filter("n % 2 = 0").union(spark.range(1)).distinct()
