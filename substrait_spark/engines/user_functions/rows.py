"""Evaluates functions over batches and groups of rows, as mapInPandas and applyInPandas call them, with the conversions of the Spark that is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...algebra.types import Type
from ...errors import InvalidPlanError
from ...user_functions.declared import ARGUMENT_FIELDS, ARGUMENT_NAMES, METHOD, RESULT_FIELDS, TIME_ZONE, field_names
from ...user_functions.spark_function import (
    GROUPED_MAP_ARROW,
    GROUPED_MAP_ARROW_ITER,
    MAP_ARROW,
    MAP_PANDAS,
    SparkFunction,
    over_rows,
)
from ..result import rebuilt
from .evaluation import BATCH, arrow_type, require_release, require_type, spark_types
from .pyspark_worker import Group, evaluation_over_rows

IN_STRUCTS = (GROUPED_MAP_ARROW, GROUPED_MAP_ARROW_ITER, MAP_ARROW, MAP_PANDAS)
"""The ways in which Spark sends a worker rows as one column of structs."""


class Side(NamedTuple):
    """The types of what a function gets of an input: of the keys, and of the arguments behind them."""

    keys: Sequence[Type]
    arguments: Sequence[Type]


def rows_of(
    function: SparkFunction,
    name: str,
    sides: Sequence[Side],
    result: Type,
    options: Sequence[tuple[str, str]],
) -> Callable[[Sequence[pa.Table]], Iterator[list[pa.Array]]]:
    """What gives the columns that a function makes of the rows of its inputs, part by part.

    A table has the keys, and the arguments behind them. `result` is the type of a list of rows. Raises InvalidPlanError for a call
    that can't be computed here as Spark does.
    """
    stated = dict(options)
    require_release(name, stated)
    zone = stated.get(TIME_ZONE, "UTC")
    (rows,) = spark_types([result], field_names(options, RESULT_FIELDS))
    made = _made(function, name, stated.get(METHOD, ""), rows.elementType)  # type: ignore[attr-defined]
    schemas = _schemas(sides, options, zone)
    expected = arrow_type(made.return_type, zone)
    required = [not kind.nullable for kind in result.parameters[0].parameters]
    is_mapped = made.eval_type in (MAP_ARROW, MAP_PANDAS)
    evaluate = evaluation_over_rows(made, [0] if is_mapped else _offsets(sides), zone)

    def compute(tables: Sequence[pa.Table]) -> Iterator[list[pa.Array]]:
        given = [_in_schema(table, schema) for table, schema in zip(tables, schemas, strict=True)]
        groups: Iterable[Group] = [[_batches(given[0])]] if is_mapped else _groups(given, sides)
        if made.eval_type in IN_STRUCTS:
            groups = ([[_in_struct(batch) for batch in batches] for batches in group] for group in groups)
        for batch in evaluate(groups):
            yield _columns(batch.column(0), expected, required, made)

    return compute


def _columns(
    rows: pa.StructArray, expected: pa.DataType, required: Sequence[bool], function: SparkFunction
) -> list[pa.Array]:
    """The columns that a function gives, as Spark takes them: by position, and none beyond those that are declared."""
    columns: list[pa.Array] = rows.flatten()[: expected.num_fields]
    if len(columns) < expected.num_fields:
        raise TypeError(f"{function.name} is declared to return {expected}, and has returned {rows.type}")
    for column, field, is_required in zip(columns, expected, required, strict=True):
        require_type(column.type, field.type, function)
        if is_required and column.null_count:  # what Spark plans with
            raise ValueError(f"{function.name} is declared to give no null in the column {field.name}, and gave one")
    return columns


def _made(function: SparkFunction, name: str, method: str, schema: Any) -> SparkFunction:
    try:
        made = over_rows(function, method, schema)
    except Exception as error:  # whatever PySpark says of a function that it doesn't take
        raise InvalidPlanError(f"The function {name} can't be called as the plan does ({error}).") from error
    return made


def _schemas(sides: Sequence[Side], options: Sequence[tuple[str, str]], zone: str) -> list[pa.Schema]:
    """What Spark's JVM sends of each input: the keys, and the arguments by their names."""
    arguments = [kind for side in sides for kind in side.arguments]
    keys = [kind for side in sides for kind in side.keys]
    names = field_names(options, ARGUMENT_NAMES)
    if len(names) != len(arguments):
        raise InvalidPlanError("The plan doesn't say how the columns are called that a function over rows gets.")
    kinds = spark_types([*arguments, *keys], field_names(options, ARGUMENT_FIELDS))
    fields = [pa.field(name, arrow_type(kind, zone)) for name, kind in zip(names, kinds, strict=False)]
    key_fields = [pa.field(f"key{n}", arrow_type(kind, zone)) for n, kind in enumerate(kinds[len(arguments) :])]
    schemas = []
    for side in sides:
        own, fields = fields[: len(side.arguments)], fields[len(side.arguments) :]
        own_keys, key_fields = key_fields[: len(side.keys)], key_fields[len(side.keys) :]
        schemas.append(pa.schema([*own_keys, *own]))
    return schemas


def _offsets(sides: Sequence[Side]) -> list[int]:
    """Where a worker finds the keys and the arguments of each input, as Spark tells it: how many numbers, how many keys, the places."""
    offsets: list[int] = []
    for side in sides:
        width = len(side.keys) + len(side.arguments)
        offsets += [1 + width, len(side.keys), *range(width)]
    return offsets


def _in_schema(table: pa.Table, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        rebuilt(pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type), field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _batches(rows: pa.RecordBatch) -> list[pa.RecordBatch]:
    """The rows in batches as large as Spark's."""
    return [rows.slice(start, BATCH) for start in range(0, rows.num_rows, BATCH)]


def _in_struct(batch: pa.RecordBatch) -> pa.RecordBatch:
    struct = pa.StructArray.from_arrays(batch.columns, fields=list(batch.schema))
    return pa.RecordBatch.from_arrays([struct], ["_0"])


# ---- groups


def _groups(given: Sequence[pa.RecordBatch], sides: Sequence[Side]) -> Iterator[Group]:
    """The batches that the inputs have of each group, in the order in which first rows come; one without rows where there are none."""
    rows, groups = _grouped(given, [len(side.keys) for side in sides])
    count = int(groups[-1]) + 1 if len(groups) else 0
    parts, start = [], 0
    for batch in given:
        own = (rows >= start) & (rows < start + batch.num_rows)
        ends = np.cumsum(np.bincount(groups[own], minlength=count))
        parts.append((batch.take(pa.array(rows[own] - start)), [0, *ends.tolist()]))
        start += batch.num_rows
    for n in range(count):
        slices = [batch.slice(ends[n], ends[n + 1] - ends[n]) for batch, ends in parts]
        yield [_batches(part) or [part] for part in slices]


def _grouped(given: Sequence[pa.RecordBatch], keys: Sequence[int]) -> tuple[Any, Any]:
    """The numbers of all rows, those of the inputs one behind the other, group by group; and beside them the number of the group."""
    total = sum(batch.num_rows for batch in given)
    sides = [batch.columns[:count] for batch, count in zip(given, keys, strict=True)]
    columns = [part for both in zip(*sides, strict=True) for part in _comparable(pa.concat_arrays(both))]
    if not columns:
        return np.arange(total), np.zeros(total, np.int64)
    table = pa.table([*columns, pa.array(np.arange(total))], [str(n) for n in range(len(columns) + 1)])
    row_numbers = table.group_by(table.column_names[:-1], use_threads=False).aggregate([(str(len(columns)), "list")])
    lists = row_numbers.column(f"{len(columns)}_list").combine_chunks()
    return lists.flatten().to_numpy(), pc.list_parent_indices(lists).to_numpy()


def _comparable(key: pa.Array) -> list[pa.Array]:
    """A key in columns that are the same where Spark has one group: -0.0 is 0.0, and any NaN is any other."""
    if pa.types.is_floating(key.type):
        values = pc.add(key, pa.scalar(0.0, key.type))
        return [pc.if_else(pc.is_nan(values), pa.scalar(float("nan"), key.type), values)]
    if pa.types.is_struct(key.type):
        return [key.is_valid(), *[part for field in key.flatten() for part in _comparable(field)]]
    if pa.types.is_nested(key.type):
        raise TypeError(f"rows are grouped by {key.type}, which can't be done here")
    return [key]
