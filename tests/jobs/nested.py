"""Semi-structured data: JSON payloads, structs, arrays, maps, higher-order functions."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

_PAYLOADS = [
    (
        1,
        '{"user": {"id": 7, "name": "Zoë"}, "items": [{"sku": "a", "qty": 2, "price": 1.5}, {"sku": "b", "qty": 1}], "tags": ["x", "y"]}',
    ),
    (2, '{"user": {"id": null}, "items": [], "tags": null}'),
    (3, '{"user": {"id": 8, "name": ""}, "items": [{"sku": "a", "qty": -1, "price": 1e3}]}'),
    (4, "not json"),
    (5, None),
    (6, "{}"),
]
_SCHEMA = "user struct<id: bigint, name: string>, items array<struct<sku: string, qty: int, price: double>>, tags array<string>"


def _payloads(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(_PAYLOADS, "id int, body string")


def _orders(spark: SparkSession) -> DataFrame:
    """The same orders already parsed, as they come from a Parquet lake."""
    return spark.createDataFrame(
        [
            (1, (7, "Zoë"), [("a", 2, 1.5), ("b", 1, None)], ["x", "y", "x", None], {"gift": "yes", "Note": ""}),
            (2, (None, None), [], None, {}),
            (3, (8, ""), [("a", -1, 1000.0), None], [], {"gift": None}),
            (4, None, None, ["ß"], None),
        ],
        "id int, user struct<id: bigint, name: string>, "
        "items array<struct<sku: string, qty: int, price: double>>, tags array<string>, attrs map<string, string>",
    )


def flatten_json(spark: SparkSession) -> DataFrame:
    p = _payloads(spark).withColumn("doc", F.from_json("body", _SCHEMA))
    return p.select(
        "id",
        F.col("doc.user.id").alias("user_id"),
        F.col("doc.user.name").alias("user_name"),
        F.explode_outer("doc.items").alias("item"),
    ).select("id", "user_id", "user_name", "item.*")


def json_paths(spark: SparkSession) -> DataFrame:
    return _payloads(spark).select(
        "id",
        F.get_json_object("body", "$.user.name").alias("name"),
        F.get_json_object("body", "$.items[0].sku").alias("first_sku"),
        F.get_json_object("body", "$.items").alias("items"),
        F.expr("json_array_length(get_json_object(body, '$.tags'))").alias("tags"),
    )


def json_tuple_columns(spark: SparkSession) -> DataFrame:
    return _payloads(spark).select("id", F.json_tuple("body", "user", "tags").alias("user", "tags"))


def order_lines(spark: SparkSession) -> DataFrame:
    return (
        _orders(spark)
        .select("id", F.posexplode_outer("items").alias("pos", "item"))
        .select("id", "pos", "item.sku", (F.col("item.qty") * F.col("item.price")).alias("amount"))
        .orderBy("id", F.col("pos").asc_nulls_first())
    )


def basket_totals(spark: SparkSession) -> DataFrame:
    """Everything about a basket, without exploding it."""
    return _orders(spark).select(
        "id",
        F.size("items").alias("size"),
        F.transform("items", lambda i: F.upper(i.sku)).alias("skus"),
        F.filter("items", lambda i: i.qty > 0).alias("bought"),
        F.exists("items", lambda i: i.qty < 0).alias("has_return"),
        F.forall("items", lambda i: i.price.isNotNull()).alias("all_priced"),
        F.aggregate(
            "items",
            F.lit(0.0),
            lambda acc, i: acc + F.coalesce(i.qty * i.price, F.lit(0.0)),
            lambda acc: F.round(acc, 2),
        ).alias("total"),
    )


def tag_cleanup(spark: SparkSession) -> DataFrame:
    return _orders(spark).select(
        "id",
        F.array_distinct("tags").alias("distinct"),
        F.array_contains("tags", "x").alias("has_x"),
        F.array_join("tags", "|", "?").alias("joined"),
        F.sort_array("tags", asc=False).alias("sorted"),
        F.array_position("tags", "y").alias("y_at"),
        F.array_except("tags", F.array(F.lit("x"))).alias("without_x"),
        F.slice("tags", 1, 2).alias("first_two"),
        F.try_element_at("tags", F.lit(-1)).alias("last"),
        F.array_size("tags").alias("n"),
        F.reverse("tags").alias("reversed"),
        F.get("tags", 0).alias("first"),
    )


def attributes_long(spark: SparkSession) -> DataFrame:
    return _orders(spark).select("id", F.explode("attrs")).withColumn("key", F.lower("key")).sort("id", "key")


def attributes_wide(spark: SparkSession) -> DataFrame:
    o = _orders(spark)
    keys = ["gift", "Note", "absent"]
    return o.select(
        "id",
        *[F.col("attrs").getItem(k).alias(f"attr_{k.lower()}") for k in keys],
        F.sort_array(F.map_keys("attrs")).alias("keys"),
        F.size("attrs").alias("n"),
        F.map_contains_key("attrs", "gift").alias("is_gift"),
    )


def merge_maps(spark: SparkSession) -> DataFrame:
    defaults = F.create_map(F.lit("lang"), F.lit("en"), F.lit("tz"), F.lit("UTC"))
    merged = F.map_concat(defaults, F.coalesce("attrs", F.create_map().cast("map<string,string>")))
    return _orders(spark).select(
        "id",
        F.map_filter(merged, lambda k, v: v.isNotNull() & (v != "")).alias("attrs"),
        F.transform_values(defaults, lambda k, v: F.concat(k, F.lit("="), v)).alias("pairs"),
        F.map_from_entries(F.array(F.struct(F.lit("id"), "id"))).alias("ids"),
    )


def regroup_items(spark: SparkSession) -> DataFrame:
    """Explode, aggregate, and nest again."""
    lines = _orders(spark).select("id", F.inline("items"))
    return lines.groupBy("sku").agg(
        F.sort_array(F.collect_set("id")).alias("orders"),
        F.sort_array(F.collect_list(F.struct("id", "qty"))).alias("lines"),
        F.sum("qty").alias("qty"),
        F.map_from_arrays(F.array(F.lit("min"), F.lit("max")), F.array(F.min("price"), F.max("price"))).alias("prices"),
    )


def rename_and_drop_fields(spark: SparkSession) -> DataFrame:
    return (
        _orders(spark)
        .withColumn("user", F.col("user").withField("name", F.nullif(F.col("user.name"), F.lit(""))))
        .withColumn("items", F.transform("items", lambda i: i.dropFields("price")))
        .withColumn("user", F.col("user").dropFields("id"))
        .withColumnRenamed("user", "buyer")
        .drop("tags", "attrs")
    )


def to_json_export(spark: SparkSession) -> DataFrame:
    o = _orders(spark)
    return o.select(
        "id", F.to_json(F.struct("id", "user", "tags")).alias("json"), F.to_csv(F.struct("id")).alias("csv")
    )


def zip_and_flatten(spark: SparkSession) -> DataFrame:
    d = spark.createDataFrame(
        [(1, ["a", "b"], [1, 2, 3]), (2, [], [9]), (3, None, [1])], "id int, names array<string>, scores array<int>"
    )
    return d.select(
        "id",
        F.arrays_zip("names", "scores").alias("zipped"),
        F.zip_with("names", "scores", lambda n, s: F.concat_ws(":", n, s.cast("string"))).alias("labels"),
        F.flatten(F.array("scores", F.array(F.lit(0)))).alias("flat"),
        F.array_max("scores").alias("best"),
        F.array_min("scores").alias("worst"),
        F.transform("scores", lambda s, i: s * i).alias("weighted"),
        F.array_repeat(F.lit("-"), 3).alias("dashes"),
        F.arrays_overlap("scores", F.array(F.lit(1), F.lit(9))).alias("hit"),
    )


def explode_csv_column(spark: SparkSession) -> DataFrame:
    d = spark.createDataFrame([(1, "a, b,,c "), (2, ""), (3, None), (4, "x")], "id int, csv string")
    return (
        d.withColumn("part", F.explode(F.split("csv", ",")))
        .withColumn("part", F.trim("part"))
        .where(F.length("part") > 0)
        .groupBy("part")
        .agg(F.count("*").alias("n"), F.min("id").alias("first_id"))
    )


def lateral_view_sql(spark: SparkSession) -> DataFrame:
    _orders(spark).createOrReplaceTempView("nested_orders")
    return spark.sql("""
        select id, t.pos, t.tag, coalesce(i.sku, '-') as sku
        from nested_orders
        lateral view outer posexplode(tags) t as pos, tag
        lateral view outer explode(items.sku) i as sku
        where id < 4
    """)


def market_baskets(spark: SparkSession) -> DataFrame:
    """Which two products are bought together, with support and lift."""
    b = (
        spark.createDataFrame(
            [
                (1, "tea"),
                (1, "milk"),
                (1, "milk"),
                (2, "tea"),
                (2, "rye"),
                (3, "tea"),
                (3, "milk"),
                (4, None),
                (5, "rye"),
            ],
            "basket int, item string",
        )
        .na.drop()
        .distinct()
    )
    total = b.select("basket").distinct().count()
    freq = b.groupBy("item").agg((F.count("*") / total).alias("p"))
    left, right = b.alias("l"), b.alias("r")
    pairs = (
        left.join(right, (F.col("l.basket") == F.col("r.basket")) & (F.col("l.item") < F.col("r.item")))
        .groupBy(F.col("l.item").alias("a"), F.col("r.item").alias("b"))
        .agg((F.count("*") / total).alias("support"))
    )
    return (
        pairs.join(freq.selectExpr("item as a", "p as pa"), "a")
        .join(freq.selectExpr("item as b", "p as pb"), "b")
        .withColumn("lift", F.round(F.col("support") / (F.col("pa") * F.col("pb")), 4))
        .orderBy(F.desc("lift"), "a", "b")
    )
