"""Jobs with functions in Python as data engineers write them: their rows in both engines are Spark's."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import ArrayType, DoubleType, IntegerType, StringType, StructField, StructType
from test_user_functions import assert_same

from substrait_spark import declare_function

# Spark's workers don't find this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

Job = tuple[DataFrame, list[Any]]
"""A query, and the functions that it calls."""


def customers(spark: SparkSession) -> DataFrame:
    rows = [
        (1, " Ada  LOVELACE", "(030) 123-4567", dt.date(1984, 2, 29), 52.52, 13.405),
        (2, "grace o'hopper", "+49 30 1234567", dt.date(2024, 1, 1), 40.7128, -74.006),
        (3, "", "", None, -0.0, 180.0),
        (4, None, None, dt.date(1969, 12, 31), None, float("nan")),
        (5, "jean-luc ÉLAN", "call me", dt.date(1900, 1, 1), 90.0, 0.0),
    ]
    return spark.createDataFrame(rows, "id int, name string, phone string, born date, lat double, lon double")


def payments(spark: SparkSession) -> DataFrame:
    rows = [
        (1, dt.datetime(2024, 3, 10, 1, 30), 10.0, "4539 1488 0343 6467"),
        (1, dt.datetime(2024, 3, 10, 3, 30), 12.5, "4539148803436468"),
        (1, dt.datetime(2024, 3, 11), None, ""),
        (2, dt.datetime(2023, 12, 31, 23, 59, 59, 999999), -0.0, None),
        (2, dt.datetime(2024, 7, 1), 99.99, "79927398713"),
        (None, dt.datetime(2024, 1, 1), 1e9, "x"),
    ]
    return spark.createDataFrame(rows, "id int, paid timestamp, amount double, card string").coalesce(1)


def reviews(spark: SparkSession) -> DataFrame:
    rows = [
        (1, "Great tea, great price!", '{"stars": 5, "tags": ["tea", "price"], "by": {"name": "ada"}}'),
        (2, "BAD rye; never again", '{"stars": "1"}'),
        (3, "", "{}"),
        (4, None, None),
        (5, "so-so… 😀 good", "not json"),
    ]
    return spark.createDataFrame(rows, "id int, text string, raw string")


def readings(spark: SparkSession) -> DataFrame:
    rows = [(n % 3, n, None if n % 7 == 3 else math.sin(n) * 10 + n, "ok" if n % 5 else "") for n in range(40)]
    return spark.createDataFrame(rows, "sensor int, minute int, value double, state string").coalesce(1)


# ---- row by row


def cleaned_contacts(spark: SparkSession) -> Job:
    digits = re.compile(r"\D+")

    @udf(StringType())
    def title_case(name: str | None) -> str | None:
        return None if name is None else " ".join(part.capitalize() for part in name.split())

    @udf("string")
    def normalized_phone(phone: str | None) -> str | None:
        found = digits.sub("", phone or "")
        return f"+49{found.removeprefix('49').lstrip('0')}" if len(found) > 6 else None

    df = customers(spark)
    named = df.withColumn("name", title_case("name")).withColumn("phone", normalized_phone(F.col("phone")))
    return named.where("phone is not null or name <> ''").orderBy("id"), [title_case, normalized_phone]


def nearest_store(spark: SparkSession) -> Job:
    stores = spark.createDataFrame(
        [("Berlin", 52.5, 13.4), ("Oslo", 59.91, 10.75)], "store string, slat double, slon double"
    )

    def haversine(lat: float, lon: float, other_lat: float, other_lon: float) -> float | None:
        if lat is None or lon is None:
            return None
        one, two = math.radians(lat), math.radians(other_lat)
        half = math.sin((two - one) / 2) ** 2
        half += math.cos(one) * math.cos(two) * math.sin(math.radians(other_lon - lon) / 2) ** 2
        return round(6371 * 2 * math.asin(math.sqrt(half)), 3)

    distance = udf(haversine, DoubleType())
    pairs = customers(spark).crossJoin(stores).withColumn("km", distance("lat", "lon", "slat", "slon"))
    ranked = Window.partitionBy("id").orderBy(F.col("km").asc_nulls_last(), "store")
    nearest = pairs.withColumn("rank", F.row_number().over(ranked)).where("rank = 1").select("id", "store", "km")
    return nearest, [distance]


def fiscal_quarters(spark: SparkSession) -> Job:
    @udf("string")
    def fiscal_quarter(day: dt.date | None) -> str | None:
        if day is None:
            return None
        year = day.year + (day.month >= 10)
        return f"FY{year}Q{(day.month + 2) % 12 // 3 + 1}"

    paid = payments(spark).withColumn("quarter", fiscal_quarter(F.to_date("paid")))
    totals = paid.groupBy("quarter").agg(F.sum("amount").alias("amount"), F.countDistinct("id").alias("payers"))
    return totals.orderBy(F.desc("amount")), [fiscal_quarter]


def valid_cards(spark: SparkSession) -> Job:
    def luhn(card: str | None) -> bool:
        digits = [int(each) for each in (card or "") if each.isdigit()]
        doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
        return bool(digits) and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0

    spark.udf.register("luhn", is_valid := udf(luhn, "boolean"))
    payments(spark).createOrReplaceTempView("payments_with_cards")
    df = spark.sql("SELECT id, card, luhn(card) AS valid FROM payments_with_cards WHERE luhn(card) OR amount > 10")
    return df, [is_valid]


def sentiment(spark: SparkSession) -> Job:
    weights = spark.sparkContext.broadcast({"great": 2, "good": 1, "bad": -2, "never": -1})

    @udf(IntegerType())
    def score(text: str | None) -> int:
        return sum(weights.value.get(word, 0) for word in re.findall(r"\w+", (text or "").lower()))

    @udf(ArrayType(StringType()))
    def bigrams(text: str | None) -> list[str]:
        words = (text or "").lower().split()
        return [f"{one} {other}" for one, other in pairwise(words)]

    df = reviews(spark).select("id", score("text").alias("score"), F.explode_outer(bigrams("text")).alias("bigram"))
    return df.where("score <> 0"), [score, bigrams]


def parsed_documents(spark: SparkSession) -> Job:
    schema = StructType(
        [
            StructField("stars", IntegerType()),
            StructField("tags", ArrayType(StringType())),
            StructField("by", StringType()),
        ]
    )

    @udf(schema)
    def parsed(raw: str | None) -> tuple[Any, ...] | None:
        try:
            document = json.loads(raw or "")
        except ValueError:
            return None
        return int(document.get("stars") or 0), document.get("tags", []), document.get("by", {}).get("name")

    df = (
        reviews(spark)
        .withColumn("document", parsed("raw"))
        .select("id", "document.*", F.size("document.tags").alias("n"))
    )
    return df.where("stars is null or stars > 1"), [parsed]


def guarded(spark: SparkSession) -> Job:
    """What raises for rows that a filter below leaves out, in a filter and in a column above it."""

    @udf("double")
    def inverse(value: float) -> float:
        return 1 / value

    found = readings(spark).where("value is not null and minute > 0").where(inverse("value") > 0.05)
    return found.where("sensor <> 1").select("minute", F.round(inverse("value"), 9).alias("i")), [inverse]


def named_parts(spark: SparkSession) -> Job:
    """Structs as results and as arguments, and their fields."""

    @udf("first string, last string, n int, tags array<struct<k: string, v: int>>")
    def parts(name: str | None) -> dict[str, Any] | None:
        if name is None:
            return None
        words = name.split()
        tags = [(each, len(each)) for each in words]
        return {
            "first": words[0] if words else None,
            "last": words[-1] if words else None,
            "n": len(words),
            "tags": tags,
        }

    named = customers(spark).withColumn("p", parts("name"))
    return named.select("id", "p.last", "p.tags.v", parts("name")["first"].alias("f")).where("f <> 'x'"), [parts]


def customer_segments(spark: SparkSession) -> Job:
    """Recency, frequency and money, by a lambda that the plan has a name for."""
    segment = udf(lambda n, total: "gold" if n > 2 and (total or 0) > 20 else "new" if n == 1 else "silver", "string")
    totals = payments(spark).groupBy("id").agg(F.count("*").alias("n"), F.sum("amount").alias("total"))
    return totals.select("id", segment("n", "total").alias("segment")), [declare_function(segment, name="segment")]


# ---- by pandas


def age_groups(spark: SparkSession) -> Job:
    @pandas_udf("string")  # type: ignore[call-overload, untyped-decorator]
    def age_group(born: pd.Series) -> pd.Series:
        years = 2024 - pd.to_datetime(born, errors="coerce").dt.year
        return pd.cut(years, [-1, 17, 64, 200], labels=["minor", "adult", "senior"]).astype(object)

    return customers(spark).groupBy(age_group("born").alias("age")).count().orderBy("age"), [age_group]


def scored_by_a_model(spark: SparkSession) -> Job:
    """The model is loaded once, and then scores batch by batch."""

    @pandas_udf("double")  # type: ignore[call-overload, untyped-decorator]
    def predict(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        weights = np.array([0.5, -0.25])
        for value, minute in batches:
            yield pd.Series(np.column_stack([value.fillna(0), minute]) @ weights)

    # What was taken out of this function's scope must be found in it.
    return readings(spark).select("sensor", "minute", predict("value", "minute").alias("y")).where("y > 0"), [predict]


def medians(spark: SparkSession) -> Job:
    @pandas_udf("double")  # type: ignore[call-overload, untyped-decorator]
    def middle(values: pd.Series) -> float:
        return float(values.median())

    by_sensor = readings(spark).groupBy("sensor").agg(middle("value").alias("median"))
    return readings(spark).join(by_sensor, "sensor").where("value > median").select("sensor", "minute"), [middle]


def standardized(spark: SparkSession) -> Job:
    def standardize(frame: pd.DataFrame) -> pd.DataFrame:
        value = frame["value"]
        return frame.assign(value=(value - value.mean()) / value.std())

    df = readings(spark)
    return df.groupBy("sensor").applyInPandas(standardize, df.schema).where("abs(value) > 1"), [standardize]


def trends(spark: SparkSession) -> Job:
    def slope(key: tuple[Any, ...], frame: pd.DataFrame) -> pd.DataFrame:
        known = frame.dropna(subset=["value"])
        slope, start = np.polyfit(known["minute"], known["value"], 1)
        return pd.DataFrame([(key[0], round(slope, 9), round(start, 9), len(frame))])

    df = readings(spark).groupBy("sensor").applyInPandas(slope, "sensor int, slope double, start double, n long")
    return df.orderBy(F.desc("slope")), [slope]


def gaps_filled(spark: SparkSession) -> Job:
    def fill(frame: pd.DataFrame) -> pd.DataFrame:
        ordered = frame.sort_values("minute").set_index("minute")
        every = ordered.reindex(range(int(ordered.index.min()), int(ordered.index.max()) + 1)).ffill()
        return every.reset_index()[["sensor", "minute", "value"]].astype({"sensor": "int32", "minute": "int32"})

    df = (
        readings(spark)
        .where("minute < 15")
        .groupBy("sensor")
        .applyInPandas(fill, "sensor int, minute int, value double")
    )
    return df.groupBy("minute").agg(F.avg("value").alias("mean")).orderBy("minute"), [fill]


def prices_as_of(spark: SparkSession) -> Job:
    def as_of(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
        return pd.merge_asof(left.sort_values("minute"), right.sort_values("minute"), on="minute", by="sensor")

    left = readings(spark).select("sensor", "minute", "value")
    right = readings(spark).where("minute % 4 = 0").select("sensor", "minute", F.col("value").alias("earlier"))
    joined = left.groupBy("sensor").cogroup(right.groupBy("sensor"))
    df = joined.applyInPandas(as_of, "sensor int, minute int, value double, earlier double")
    return df.where("value > earlier"), [as_of]


def rows_expanded(spark: SparkSession) -> Job:
    def words(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            split = frame.assign(word=frame["text"].fillna("").str.lower().str.split()).explode("word")
            yield split.dropna(subset=["word"])[["id", "word"]]

    df = reviews(spark).select("id", "text").mapInPandas(words, "id int, word string")
    return df.groupBy("word").count().orderBy(F.desc("count"), "word"), [words]


JOBS: list[Callable[[SparkSession], Job]] = [
    cleaned_contacts, nearest_store, fiscal_quarters, valid_cards, sentiment, parsed_documents, customer_segments,
    age_groups, guarded, named_parts, scored_by_a_model, medians, standardized, trends, gaps_filled, prices_as_of, rows_expanded,
]  # fmt: skip


@pytest.mark.parametrize("job", JOBS, ids=lambda job: str(job.__name__))
def test_rows(spark: SparkSession, job: Callable[[SparkSession], Job]) -> None:
    df, functions = job(spark.newSession())
    assert assert_same(df, functions) is not None, "Spark raises"
