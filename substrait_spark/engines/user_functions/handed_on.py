"""What a function gives that Spark hands to another one as it is, without making the declared type of it.

Of `g(f(x))`, where both are evaluated in one way, Spark's worker calls `g` with what `f` has returned. Here, `g` gets what Arrow makes
of it. So only values are let through that are the same both ways.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import wraps
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...user_functions.spark_function import (
    ARROW_BATCHED,
    PICKLED,
    SCALAR_ARROW_ITER,
    SCALAR_PANDAS,
    SCALAR_PANDAS_ITER,
    SparkFunction,
)

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

PYTHON = {
    "boolean": bool,
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "double": float,
    "string": str,
    "date": dt.date,
}
"""The types of Python's values that stay what they are, by the names of Spark's types."""

BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}

PANDAS = {
    "boolean": "bool",
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}
"""The types of series that stay what they are."""


OF_BATCHES = frozenset((SCALAR_PANDAS_ITER, SCALAR_ARROW_ITER))
"""The ways in which a function returns what it gives batch by batch."""


def as_declared(function: SparkFunction) -> SparkFunction:
    """The function, which raises TypeError where it gives what Spark would hand on otherwise than it comes here."""
    kind = function.return_type
    same = _same(function.eval_type, kind)
    call = function.function

    def required(value: Any) -> Any:
        if not same(value):
            raise TypeError(
                f"{function.name} is declared to return {kind.simpleString()}, and has returned a {type(value).__name__} that Spark hands "
                "to the next function as it is, which can't be done here: return values of the declared type, or call the next function "
                "with another argument beside"
            )
        return value

    @wraps(call)
    def checked(*arguments: Any, **named: Any) -> Any:
        returned = call(*arguments, **named)
        return map(required, returned) if function.eval_type in OF_BATCHES else required(returned)

    return replace(function, function=checked)


def _same(way: int, kind: DataType) -> Callable[[Any], bool]:
    if way in (PICKLED, ARROW_BATCHED):
        return lambda value: value is None or _is_value(value, kind)
    if way in (SCALAR_PANDAS, SCALAR_PANDAS_ITER):
        return lambda series: _is_series(series, kind)
    from .evaluation import arrow_type

    return lambda array: isinstance(array, pa.Array) and array.type == arrow_type(kind, "UTC")


def _is_value(value: Any, kind: DataType) -> bool:
    name = kind.simpleString()
    if name.startswith("decimal"):
        return type(value) is Decimal and value.is_finite() and _fits(value, kind)
    if type(value) is not PYTHON.get(name):
        return False
    return name not in BITS or -(2 ** (BITS[name] - 1)) <= value < 2 ** (BITS[name] - 1)


def _fits(value: Decimal, kind: Any) -> bool:
    _, digits, exponent = value.as_tuple()
    return bool(exponent == -kind.scale and len(digits) <= kind.precision)


def _is_series(series: Any, kind: DataType) -> bool:
    import pandas as pd  # type: ignore[import-untyped]

    if not isinstance(series, pd.Series) or not bool(series.index.equals(pd.RangeIndex(len(series)))):
        return False
    if kind.simpleString() == "string":
        return str(series.dtype) == "object" and all(value is None or type(value) is str for value in series)
    return bool(PANDAS.get(kind.simpleString()) == str(series.dtype))
