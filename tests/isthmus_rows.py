"""A database's rows of the SQL that Isthmus makes of a query's plan, beside Spark's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from functions import cases
from functions.cases import Case
from pyspark.sql import DataFrame, SparkSession

from substrait_spark import check, df_to_substrait
from substrait_spark.catalyst.query_order import ordering
from substrait_spark.engines import Comparison, compare
from substrait_spark.engines.comparison.run import TOLERANCE
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.engine import engine_of

IN_DECIMALS = 1e-9
"""How far decimals may be apart whose last digits are the database's, as a part of them."""


def in_doubles(table: pa.Table) -> pa.Table:
    """The table with doubles in the place of decimals."""
    kinds = [pa.float64() if pa.types.is_decimal(field.type) else field.type for field in table.schema]
    return table.cast(
        pa.schema([field.with_type(kind) for field, kind in zip(table.schema, kinds, strict=True)]), safe=False
    )


def is_same(df: DataFrame, expected: pa.Table, engine: str = "isthmus") -> bool:
    """Whether rows are Spark's, but for the last digits of decimals; of a query that has SQL."""
    plan = df_to_substrait(df, dialect=engine, accept={"decimal_rounding"})
    actual = engine_of(engine).rows(plan, None, None, (), None)
    return bool(compared(expected, actual, tolerance=TOLERANCE, order=ordering(df))) or bool(
        compared(in_doubles(expected), in_doubles(actual), tolerance=IN_DECIMALS)
    )


CASES = [each for each in cases.load() if each.by_rows and each.canonical and each.source == cases.GRID]
"""The calls that the databases are asked for, where these have SQL."""

FAMILIES = sorted({each.family for each in CASES})


TOGETHER = 40
"""How many calls are asked for in one query."""


def wrong_calls(
    spark: SparkSession, family: str, mode: str, engine: str, is_loud: Callable[[Comparison], bool]
) -> list[str]:
    """The calls of a family of functions whose rows are other than Spark's, with how they differ."""
    asked = [case for case in CASES if case.family == family and case.mode == mode]
    with_sql = [case for case in asked if check(spark.sql(case.query()), dialect=engine)]
    alone = [[case] for case in with_sql if case.raises]
    together = [case for case in with_sql if not case.raises]
    several = [
        some[start : start + TOGETHER]
        for tolerance in sorted({case.tolerance or IN_DECIMALS for case in together})
        for some in [[case for case in together if (case.tolerance or IN_DECIMALS) == tolerance]]
        for start in range(0, len(some), TOGETHER)
    ]
    return [said for some in (*alone, *several) for said in _wrong(spark, some, engine, is_loud)]


def _wrong(spark: SparkSession, cases: Sequence[Case], engine: str, is_loud: Callable[[Comparison], bool]) -> list[str]:
    """Which of some calls are wrong: all are right if one query of all of them is, and else each half is asked."""
    query = spark.sql(cases[0].query([case.call for case in cases]))
    found = compare(query, engine=engine, tolerance=cases[0].tolerance or IN_DECIMALS)
    if found:
        return []
    if len(cases) > 1:
        half = len(cases) // 2
        return [*_wrong(spark, cases[:half], engine, is_loud), *_wrong(spark, cases[half:], engine, is_loud)]
    fails = cases[0].raises and found.spark_error and found.engine_error
    return [] if fails or is_loud(found) else [f"{cases[0].call}: {found}"]
