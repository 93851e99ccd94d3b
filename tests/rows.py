"""Comparing the rows that Spark computes with those that an engine computes from our plan."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
import quick_spark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import YearMonthIntervalType
from substrait.plan_pb2 import Plan

from substrait_spark import EngineError, df_to_substrait
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

SHOWN = 5
"""How many differing rows an assertion shows."""


class Same(NamedTuple):
    """What a comparison went over, for a test to look closer: the plan that ran, and the rows."""

    plan: Plan
    rows: pa.Table


def assert_same_rows(
    df: DataFrame,
    *,
    ordered: bool = False,
    tolerance: float | None = None,
    dialect: str = "datafusion",
    empty: bool | None = False,
    tables: dict[str, Any] | None = None,
    canonical: bool = True,
) -> Same:
    """Spark's rows of a DataFrame, the engine's rows of its plan, and Spark's of its canonical plan are the same.

    Rows are compared as multisets; with `ordered`, the columns that the query orders by must also come in the same
    order (rows that tie on all of them may change places). Types are exact, decimals and timestamps too; NaN equals
    NaN, and -0.0 isn't 0.0. Floating-point numbers are equal, or within a relative `tolerance`. No rows at all is a
    failure, because it shows little, unless `empty`, where any row is one; None takes both. A test that says
    `canonical=False` says why.
    """
    plan = plan_of(df, dialect)
    expected = spark_table(df)
    order = ordering(df) if ordered else None
    assert order is None or order.columns, "the query's result isn't ordered by any of its columns"
    results = {"the engine": datafusion.execute(plan, tables=tables)}
    if canonical:
        results["the canonical plan in Spark"] = canonical_rows(df)
    for name, actual in results.items():
        found = differences(expected, actual, tolerance=tolerance, order=order)
        assert not found, "\n".join([f"Spark (-) and {name} (+) differ:", *found])
    assert empty is None or empty == (not expected.num_rows), "there are rows" if empty else "vacuous: there is no row"
    return Same(plan, expected)


def lowered_rows(df: DataFrame) -> pa.Table:
    """The rows of a DataFrame's plan for DataFusion."""
    return datafusion.execute(plan_of(df, "datafusion"))


def canonical_rows(df: DataFrame) -> pa.Table:
    """The rows of a DataFrame's canonical plan, which Spark runs."""
    return spark_table(canonical(df))


def canonical(df: DataFrame) -> DataFrame:
    """A DataFrame's canonical plan as a DataFrame of another session, whose settings say otherwise what expressions mean."""
    return spark_engine.execute(plan_of(df), other_session(df.sparkSession))


def other_session(spark: SparkSession) -> SparkSession:
    """A session of the same Spark whose settings say otherwise what Spark's expressions mean."""
    other = spark.newSession()
    for key, value in {
        "spark.sql.ansi.enabled": str(spark.conf.get("spark.sql.ansi.enabled") != "true").lower(),
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.caseSensitive": "true",
        **{key: spark.conf.get(key) for key in quick_spark.SETTINGS},
    }.items():
        other.conf.set(key, str(value))
    return other


def assert_same_outcome(
    df: DataFrame, *, ordered: bool = False, tolerance: float | None = None, dialect: str = "datafusion"
) -> Same | None:
    """As `assert_same_rows`; but where Spark raises, so do both plans. None then."""
    try:
        df.collect()
    except Exception:  # noqa: BLE001 - whatever Spark raises is an outcome
        assert_engine_raises(df, dialect)
        return None
    return assert_same_rows(df, ordered=ordered, tolerance=tolerance, dialect=dialect)


def assert_engine_raises(df: DataFrame, dialect: str = "datafusion") -> None:
    """The DataFrame has plans, and the engine raises when it runs one, and Spark when it runs the canonical one."""
    assert_plan_raises(plan_of(df, dialect))
    assert_raises(canonical(df))


def assert_raises(df: DataFrame) -> None:
    """Spark raises when it runs a DataFrame."""
    try:
        result = spark_table(df)
    except Exception:  # noqa: BLE001 - whatever Spark raises
        return
    pytest.fail(f"The canonical plan has {result.to_pylist()[:SHOWN]} in Spark")


def assert_plan_raises(plan: Plan) -> None:
    """The engine takes the plan, and raises when it runs it: PlanningError is none of these."""
    try:
        result = datafusion.execute(plan)
    except EngineError:
        return
    pytest.fail(f"Spark raises, and the engine returned {result.to_pylist()[:SHOWN]}")


def plan_of(df: DataFrame, dialect: str | None = None) -> Plan:
    """The plan of a DataFrame. That it keeps the structural rules is seen to wherever a test makes a plan (conftest.py)."""
    return df_to_substrait(df, dialect=dialect)


# ---- Spark's side


def spark_table(df: DataFrame) -> pa.Table:
    """Spark's rows; intervals of months, which Spark has no Arrow form for, as Arrow's interval."""
    names = df.columns
    months = [isinstance(field.dataType, YearMonthIntervalType) for field in df.schema.fields]
    if any(months):
        df = df.toDF(*(f"c{index}" for index in range(len(names))))
        df = df.selectExpr(
            *(_as_months(name) if is_months else name for name, is_months in zip(df.columns, months, strict=True))
        )
    table = _collect(df)
    for index, is_months in enumerate(months):
        if is_months:
            intervals = [None if value is None else (value, 0, 0) for value in table.column(index).to_pylist()]
            table = table.set_column(index, names[index], pa.array(intervals, pa.month_day_nano_interval()))
    return table.rename_columns(names)


def _as_months(name: str) -> str:
    value = f"CAST({name} AS INTERVAL YEAR TO MONTH)"  # the type may be one of years, or of months
    return f"extract(YEAR FROM {value}) * 12 + extract(MONTH FROM {value}) AS {name}"


def _collect(df: Any) -> pa.Table:
    # toArrow casts to the DataFrame's schema, and fails at a null struct with a field that is never null.
    batches = df._collect_as_arrow()
    if batches:
        return pa.Table.from_batches(batches)
    # Only Spark 3.5 has no toArrow.
    return df.toArrow() if hasattr(df, "toArrow") else to_arrow_schema(df.schema).empty_table()


class Ordering(NamedTuple):
    """Which output columns a query orders by, and whether a limit may then cut through rows that tie."""

    columns: tuple[int, ...]
    limited: bool


def ordering(df: DataFrame) -> Ordering:
    """The order of a query's result, up to the first key that isn't one of its columns."""
    node: Any = df._jdf.queryExecution().analyzed()
    output = [node.output().apply(index).exprId().id() for index in range(node.output().size())]
    limited = False
    while node.nodeName() != "Sort":
        limited = limited or node.nodeName() in ("GlobalLimit", "LocalLimit", "Offset")
        if node.nodeName() == "WithCTE":
            node = node.plan()
        elif node.children().size() == 1:
            node = node.children().apply(0)
        else:
            return Ordering((), limited)
    keys = []
    for index in range(node.order().size()):
        key = node.order().apply(index).child()
        if key.nodeName() != "AttributeReference" or key.exprId().id() not in output:
            break
        keys.append(output.index(key.exprId().id()))
    return Ordering(tuple(keys), limited)


# ---- comparing


def differences(
    expected: pa.Table, actual: pa.Table, *, tolerance: float | None = None, order: Ordering | None = None
) -> list[str]:
    """What differs between Spark's rows and an engine's; empty where they are the same."""
    if expected.column_names != actual.column_names:
        return [f"- columns {expected.column_names}", f"+ columns {actual.column_names}"]
    found = [
        f"column {field.name}: - {kind(field.type)} + {kind(other.type)}"
        for field, other in zip(expected.schema, actual.schema, strict=True)
        if kind(field.type) != kind(other.type)
    ]
    if found:
        return found
    left, right = rows(expected), rows(actual)
    if order is not None:
        found = _order_differences(left, right, order, tolerance)
        if order.limited and left and len(left) == len(right) and not found:
            left, right = _without_last_tie(left, order.columns), _without_last_tie(right, order.columns)
    return found + _multiset_differences(left, right, tolerance)


def _order_differences(
    left: Sequence[Row], right: Sequence[Row], order: Ordering, tolerance: float | None
) -> list[str]:
    for position, (a, b) in enumerate(zip(left, right, strict=False)):
        keys, others = [a[column] for column in order.columns], [b[column] for column in order.columns]
        if not _close(tuple(keys), tuple(others), tolerance):
            return [f"row {position} in order: - {_show(keys)} + {_show(others)}"]
    return []


def _without_last_tie(found: Sequence[Row], columns: Sequence[int]) -> list[Row]:
    last = [found[-1][column] for column in columns]
    return [row for row in found if [row[column] for column in columns] != last]


def _multiset_differences(left: Sequence[Row], right: Sequence[Row], tolerance: float | None) -> list[str]:
    if tolerance is not None and len(left) == len(right):
        pairs = zip(sorted(left, key=_sort_key), sorted(right, key=_sort_key), strict=True)
        apart = [(a, b) for a, b in pairs if not _close(a, b, tolerance)]
        only_left, only_right = [a for a, _ in apart], [b for _, b in apart]
    else:
        only_left = sorted((Counter(left) - Counter(right)).elements(), key=repr)
        only_right = sorted((Counter(right) - Counter(left)).elements(), key=repr)
    if not only_left and not only_right:
        return []
    found = [f"{len(left)} rows in Spark, {len(right)} in the engine; {len(only_left)} and {len(only_right)} differ"]
    found += [f"- {_show(row)}" for row in only_left[:SHOWN]]
    found += [f"+ {_show(row)}" for row in only_right[:SHOWN]]
    return found


def _show(values: Sequence[Any]) -> str:
    return "(" + ", ".join(str(value) if isinstance(value, Float) else repr(value) for value in values) + ")"


def _close(a: Any, b: Any, tolerance: float | None) -> bool:
    if isinstance(a, Float) and isinstance(b, Float) and tolerance is not None:
        return a == b or math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=0.0)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _sort_key(row: Row) -> tuple[str, tuple[float, ...]]:
    """Rows that agree but for the last digits of their floats sort alike: by everything else first."""
    floats: list[float] = []

    def skeleton(value: Any) -> Any:
        if isinstance(value, Float) and math.isfinite(float(value)):
            floats.append(float(value))
            return "float"
        return tuple(map(skeleton, value)) if isinstance(value, tuple) else value

    return repr(skeleton(row)), tuple(floats)


# ---- rows in one form, whatever Arrow type carries them

Row = tuple[Any, ...]


class Float(str):
    """A floating-point number by its shortest decimal form, so that NaN equals itself and -0.0 isn't 0.0."""

    __slots__ = ()


def kind(type: pa.DataType) -> str:
    """An Arrow type's name, the same for every layout of the same type."""
    if pa.types.is_dictionary(type):
        return kind(type.value_type)
    if pa.types.is_struct(type):
        fields = [type.field(index) for index in range(type.num_fields)]
        return f"struct<{', '.join(f'{field.name}: {kind(field.type)}' for field in fields)}>"
    if pa.types.is_map(type):
        return f"map<{kind(type.key_type)}, {kind(type.item_type)}>"
    if _is_list(type):
        return f"list<{kind(type.value_type)}>"
    if pa.types.is_timestamp(type):
        return "timestamp" if type.tz is None else "timestamp with time zone"
    if pa.types.is_decimal(type):
        return f"decimal({type.precision}, {type.scale})"
    return next((name for name, is_it in _LAYOUTS.items() if is_it(type)), str(type))


_LAYOUTS: dict[str, Callable[[pa.DataType], bool]] = {
    "string": lambda type: pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type),
    "binary": lambda type: (
        pa.types.is_binary(type)
        or pa.types.is_large_binary(type)
        or pa.types.is_binary_view(type)
        or pa.types.is_fixed_size_binary(type)
    ),
    "date": pa.types.is_date,
    "duration": pa.types.is_duration,
    "time": pa.types.is_time,
}


def _is_list(type: pa.DataType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view)
    return any(is_it(type) for is_it in tests) or pa.types.is_large_list_view(type)


def rows(table: pa.Table) -> list[Row]:
    """A table's rows as tuples that compare and hash by value."""
    if not table.num_columns:
        return [()] * table.num_rows
    columns = [[value for chunk in column.chunks for value in _values(chunk)] for column in table.columns]
    return list(zip(*columns, strict=True))


def _values(array: pa.Array) -> list[Any]:
    type = array.type
    if pa.types.is_dictionary(type):
        return _values(array.dictionary_decode())
    if pa.types.is_floating(type):
        return [None if value is None else Float(repr(value)) for value in array.to_pylist()]
    if pa.types.is_timestamp(type):
        return list(array.cast(pa.timestamp("us", type.tz)).cast(pa.int64()).to_pylist())
    if pa.types.is_date(type):
        return list(array.cast(pa.date32()).cast(pa.int32()).to_pylist())
    if pa.types.is_duration(type):
        return list(array.cast(pa.duration("us")).cast(pa.int64()).to_pylist())
    if pa.types.is_struct(type):
        fields = zip(*map(_values, array.flatten()), strict=True) if type.num_fields else [()] * len(array)
        return _where_valid(array, list(fields))
    if pa.types.is_map(type):
        entries = list(zip(_values(array.keys), _values(array.items), strict=True))
        return _where_valid(array, [tuple(sorted(part, key=repr)) for part in _parts(array, entries)])
    if _is_list(type):
        array = array.cast(pa.large_list(type.value_type))
        return _where_valid(array, [tuple(part) for part in _parts(array, _values(array.values))])
    return list(array.to_pylist())


def _parts(array: pa.Array, values: Sequence[Any]) -> list[Sequence[Any]]:
    offsets = array.offsets.to_pylist()
    return [values[start:end] for start, end in itertools.pairwise(offsets)]


def _where_valid(array: pa.Array, values: Sequence[Any]) -> list[Any]:
    return [value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)]
