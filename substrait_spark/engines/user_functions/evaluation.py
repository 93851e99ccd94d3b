"""Evaluates the functions that a caller gives over Arrow arrays, with the conversions of the Spark that is installed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...algebra.types import Type, field_count
from ...catalyst.versions import release
from ...errors import InvalidPlanError
from ...user_functions.declared import ARGUMENT_FIELDS, HANDED_ON, RELEASE, RESULT_FIELDS, TIME_ZONE, field_names
from ...user_functions.spark_function import AGGREGATES, PICKLED, SparkFunction
from ..result import rebuilt
from ..spark.types import spark_struct
from . import pickled_values, pyspark_worker
from .handed_on import as_declared

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Compute = Callable[[Sequence[pa.Array], int], pa.Array]

BATCH = 10_000
"""How many rows of a group at most a function gets at once that takes its rows in batches, Spark's own number."""


def evaluated(
    function: SparkFunction,
    name: str,
    arguments: Sequence[Type],
    result: pa.DataType,
    options: Sequence[tuple[str, str]],
) -> Compute:
    """What computes a function for arguments of these types, which are arrays of so many rows, as an array of the type `result`.

    Of an aggregate function, the array has the one value of a group. Raises InvalidPlanError for a call that can't be computed
    here as Spark does.
    """
    stated = dict(options)
    require_release(name, stated)
    kinds = spark_types(arguments, field_names(options, ARGUMENT_FIELDS))
    _require_result(function, name, stated)
    zone = stated.get(TIME_ZONE, "UTC")
    if HANDED_ON in stated:
        function = as_declared(function)
    if function.eval_type == PICKLED:
        return _pickled(function, kinds, result)
    return _over_arrow(function, kinds, zone, result)


def require_release(name: str, stated: dict[str, str]) -> None:
    import pyspark

    here = ".".join(map(str, release(pyspark.__version__)[:2]))
    meant = stated.get(RELEASE)
    if meant is None:
        raise InvalidPlanError(
            f"The plan doesn't say by which release of Spark the function {name} gets its arguments: make it with functions=[{name}]."
        )
    if meant != here:
        raise InvalidPlanError(
            f"The plan calls the function {name} as Spark {meant} does, and PySpark {here} is installed here, which may convert its "
            f"arguments and results otherwise: install pyspark=={meant}.*, or make the plan with Spark {here}."
        )


def _require_result(function: SparkFunction, name: str, stated: dict[str, str]) -> None:
    declared = nested_field_names(function.return_type)
    if declared != [str(field) for field in json.loads(stated.get(RESULT_FIELDS, "[]"))]:
        raise InvalidPlanError(
            f"The plan calls a function {name} that returns other structs than the one that is given."
        )


def nested_field_names(kind: DataType) -> list[str]:
    """The names of the struct fields in a type of Spark's, depth-first."""
    name = kind.typeName()
    if name == "struct":
        return [n for f in kind.fields for n in (f.name, *nested_field_names(f.dataType))]  # type: ignore[attr-defined]
    if name == "array":
        return nested_field_names(kind.elementType)  # type: ignore[attr-defined]
    if name == "map":
        return [*nested_field_names(kind.keyType), *nested_field_names(kind.valueType)]  # type: ignore[attr-defined]
    return []


def spark_types(kinds: Sequence[Type], names: Sequence[str]) -> list[DataType]:
    """Spark's types for these, whose struct fields have these names."""
    from pyspark.sql.types import StructType

    remaining = iter(names)
    columns = [[f"_{n}", *islice(remaining, field_count(kind))] for n, kind in enumerate(kinds)]
    written = spark_struct(kinds, [name for column in columns for name in column])
    return [field.dataType for field in StructType.fromJson(json.loads(written))]


# ---- pickled rows


def _pickled(function: SparkFunction, kinds: Sequence[DataType], result: pa.DataType) -> Compute:
    import pyspark
    from pyspark.util import fail_on_stopiteration

    for kind in kinds:
        pickled_values.require_arguments(kind)
    declared = function.return_type
    pickled_values.require_result(declared)
    call: Callable[..., Any] = fail_on_stopiteration(function.function)
    binary: type = bytes if release(pyspark.__version__) >= (4, 1) else bytearray
    internal = declared.toInternal if declared.needConversion() else None

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        columns = [pickled_values.values(array, kind, binary) for array, kind in zip(arrays, kinds, strict=True)]
        given = zip(*columns, strict=True) if columns else iter([()] * rows)
        results = [call(*row) for row in given]
        if internal is not None:
            results = [internal(value) for value in results]
        return pickled_values.array_of(results, declared, result)

    return compute


# ---- Arrow


def _over_arrow(function: SparkFunction, kinds: Sequence[DataType], zone: str, result: pa.DataType) -> Compute:
    from pyspark.sql.types import StructField, StructType

    fields = [StructField(f"_{n}", kind) for n, kind in enumerate(kinds)]
    evaluate = pyspark_worker.evaluation(function, StructType(fields), zone)
    wanted = [arrow_type(kind, zone) for kind in kinds]
    expected = arrow_type(function.return_type, zone)
    schema = pa.schema([pa.field(field.name, kind) for field, kind in zip(fields, wanted, strict=True)])
    is_aggregate = function.eval_type in AGGREGATES

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        columns = [rebuilt(array, kind) for array, kind in zip(arrays, wanted, strict=True)]
        batch = (
            pa.RecordBatch.from_arrays(columns, schema=schema)
            if columns
            else pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
        )
        batches = [batch.slice(start, BATCH) for start in range(0, rows, BATCH)] if is_aggregate else [batch]
        values = evaluate(batches or [batch])
        require_type(values.type, expected, function)
        return rebuilt(values, result)

    return compute


def arrow_type(kind: DataType, zone: str) -> pa.DataType:
    """The Arrow type that Spark's JVM sends a worker for a type, in a session of a time zone."""
    from pyspark.sql.pandas.types import to_arrow_type

    name = kind.typeName()
    if name == "timestamp":
        return pa.timestamp("us", zone)
    if name == "array":
        return pa.list_(pa.field("element", arrow_type(kind.elementType, zone)))  # type: ignore[attr-defined]
    if name == "map":
        return pa.map_(arrow_type(kind.keyType, zone), arrow_type(kind.valueType, zone))  # type: ignore[attr-defined]
    if name == "struct":
        return pa.struct([pa.field(f.name, arrow_type(f.dataType, zone)) for f in kind.fields])  # type: ignore[attr-defined]
    return to_arrow_type(kind)


def require_type(returned: pa.DataType, expected: pa.DataType, function: SparkFunction) -> None:
    """Refuse a result of another type than the declared one, as Spark does."""
    if _shape(returned) != _shape(expected):
        raise TypeError(f"{function.name} is declared to return {expected}, and has returned {returned}")


def _shape(kind: pa.DataType) -> tuple[Any, ...]:
    """A type without names of elements, nullability and time zones."""
    if pa.types.is_timestamp(kind):
        return ("timestamp", kind.tz is not None)
    if pa.types.is_struct(kind):
        return ("struct", *[(field.name, _shape(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return ("map", _shape(kind.key_type), _shape(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return ("list", _shape(kind.value_type))
    return (str(kind),)
