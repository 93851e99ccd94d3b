"""The rows of a DataFrame as an Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...catalyst.failures import sentence, spark_errors
from ...catalyst.session import is_connect
from ...errors import EngineError, SubstraitSparkError
from ..arrow.counts import in_months

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

NO_ARROW = ("UNSUPPORTED_ARROW", "UNSUPPORTED_DATATYPE", "UNSUPPORTED_DATA_TYPE", "CANNOT_PARSE_DATATYPE")
"""How the names begin that Spark has for types without an Arrow form; the last for those that PySpark 3.5 doesn't know."""


def spark_rows(df: DataFrame) -> pa.Table:
    """Spark's rows of a DataFrame; intervals of months, which pyarrow has no form of Spark's for, as Arrow's interval.

    Raises EngineError where Spark raises, and SubstraitSparkError where it can't hand over columns of some type.
    """
    from pyspark.errors import PySparkTypeError

    try:
        if any(_holds_months(field.dataType) for field in df.schema.fields):
            raise SubstraitSparkError("Spark can't hand over these rows as Arrow: intervals of months in other values.")
        table = _with_months(df)
        table.validate(full=True)  # Spark's strings may hold bytes that are no UTF-8
        return table
    except (PySparkTypeError, pa.ArrowException) as error:
        raise SubstraitSparkError(f"Spark can't hand over these rows as Arrow: {sentence(error)}") from error
    except spark_errors() as error:
        said = sentence(error)
        if said.startswith(tuple(f"[{name}" for name in NO_ARROW)):
            raise SubstraitSparkError(f"Spark can't hand over these rows as Arrow: {said}") from error
        raise EngineError(f"Spark failed: {said}") from error


def _with_months(df: DataFrame) -> pa.Table:
    from pyspark.sql.types import YearMonthIntervalType

    names = df.columns
    months = [isinstance(field.dataType, YearMonthIntervalType) for field in df.schema.fields]
    if any(months):
        df = df.toDF(*(f"c{index}" for index in range(len(names))))
        df = df.selectExpr(
            *(_as_months(name) if is_months else name for name, is_months in zip(df.columns, months, strict=True))
        )
    table = _collected(df)
    for index, is_months in enumerate(months):
        if is_months:
            table = table.set_column(index, names[index], in_months(table.column(index)))
    return table.rename_columns(names)


def _holds_months(type: DataType) -> bool:
    """Whether intervals of months are in other values of a type."""
    from pyspark.sql.types import YearMonthIntervalType

    stack = [type]
    while stack:
        inner = _parts(stack.pop())
        if any(isinstance(each, YearMonthIntervalType) for each in inner):
            return True
        stack += inner
    return False


def _parts(type: DataType) -> list[DataType]:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(type, ArrayType):
        return [type.elementType]
    if isinstance(type, MapType):
        return [type.keyType, type.valueType]
    return [field.dataType for field in type.fields] if isinstance(type, StructType) else []


def _as_months(name: str) -> str:
    value = f"CAST({name} AS INTERVAL YEAR TO MONTH)"  # the type may be one of years, or of months
    return f"extract(YEAR FROM {value}) * 12 + extract(MONTH FROM {value}) AS {name}"


def _collected(df: Any) -> pa.Table:
    if is_connect(df):
        return df.toArrow()
    # toArrow casts to the DataFrame's schema, and fails at a null struct with a field that is never null.
    if hasattr(df, "toArrow"):
        return pa.Table.from_batches(df._collect_as_arrow(empty_list_if_zero_records=False))
    from pyspark.sql.pandas.types import to_arrow_schema

    batches = df._collect_as_arrow()
    return pa.Table.from_batches(batches) if batches else to_arrow_schema(df.schema).empty_table()  # Spark 3.5
