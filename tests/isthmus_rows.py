"""A database's rows of the SQL that Isthmus makes of a query's plan, beside Spark's."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from functions import cases
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


def wrong_calls(
    spark: SparkSession, family: str, mode: str, engine: str, is_loud: Callable[[Comparison], bool]
) -> list[str]:
    """The calls of a family of functions whose rows are other than Spark's, with how they differ."""
    wrong = []
    for each in CASES:
        if each.family != family or each.mode != mode:
            continue
        query = spark.sql(each.query())
        if check(query, dialect=engine):
            found = compare(query, engine=engine, tolerance=each.tolerance or IN_DECIMALS)
            fails = each.raises and found.spark_error and found.engine_error
            if not (found or fails or is_loud(found)):
                wrong.append(f"{each.call}: {found}")
    return wrong
