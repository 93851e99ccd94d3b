"""A database's rows of the SQL that Isthmus makes of a query's plan, beside Spark's."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from substrait_spark import df_to_substrait
from substrait_spark.catalyst.query_order import ordering
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
