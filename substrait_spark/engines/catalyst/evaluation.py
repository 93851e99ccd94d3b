"""Evaluates canonical expressions over Arrow arrays in the JVM of this process's Spark session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from substrait.plan_pb2 import Plan

from ...algebra.relation import NamedTable
from ...algebra.traversal import relations_below
from ...catalyst.evaluation import evaluator, frame, session
from ...catalyst.failures import sentence, spark_errors
from ...errors import EngineError, InvalidPlanError
from ...reading.plan import read_plan
from ..arrow.counts import counted_columns
from ..arrow.function import Compute, Signature
from ..result import rebuilt
from ..spark.rows import spark_rows
from ..spark.run import execute
from ..spark.types import spark_struct
from .handed_over import TABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NO_SESSION = (
    "The plan has Catalyst evaluate what DataFusion lacks, and there is no classic Spark session in this process. Start one, or make the "
    "plan for the dialect datafusion."
)


def evaluated(signature: Signature) -> Compute:
    """What evaluates a call's expression. Raises InvalidPlanError where there is no session that can."""
    spark = _session()
    plan = Plan.FromString(signature.constants[0])
    evaluate = evaluator(execute(plan, spark, tables={TABLE: _table(spark, plan, None)}))
    wanted = _stream(pa.table({"value": pa.array([], signature.arrow_result)}))

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        with _failing():
            columns = evaluate(_stream(_columns(arrays)), wanted)
        return pa.ipc.open_stream(columns).read_all().column(0).combine_chunks()

    return compute


def aggregated(signature: Signature) -> Compute:
    """What aggregates the elements of lists, by a Spark job. Raises InvalidPlanError where there is no session that can."""
    spark = _session()
    grouped, nothing = map(Plan.FromString, signature.constants)

    def column(plan: Plan, rows: pa.Table | None) -> pa.Table:
        with _failing():
            return counted_columns(spark_rows(execute(plan, spark, tables={TABLE: _table(spark, plan, rows)})))

    @cache
    def of_nothing() -> pa.Array:
        return _in_type(column(nothing, None).column(0), signature.arrow_result)

    def compute(arrays: Sequence[pa.ListArray], rows: int) -> pa.Array:
        groups = pc.list_parent_indices(arrays[0]).cast(pa.int64())
        found = column(grouped, _columns([*(pc.list_flatten(array) for array in arrays), groups]))
        values = [_in_type(found.column(1), signature.arrow_result)]
        places = pc.index_in(pa.array(range(rows), pa.int64()), found.column(0))
        if places.null_count:
            values.append(of_nothing())
        return pa.concat_arrays(values).take(pc.fill_null(places, found.num_rows))

    return compute


def _session() -> SparkSession:
    spark = session()
    if spark is None:
        raise InvalidPlanError(NO_SESSION)
    return spark


def _in_type(column: pa.ChunkedArray, type: pa.DataType) -> pa.Array:
    """The values of a column in a type that differs in the names of fields."""
    return rebuilt(column.combine_chunks(), type)


@contextmanager
def _failing() -> Iterator[None]:
    """What Spark raises in the block, as an error of ours."""
    try:
        yield
    except spark_errors() as error:
        raise EngineError(f"Spark failed: {sentence(error)}") from error


def _table(spark: SparkSession, plan: Plan, rows: pa.Table | None) -> DataFrame:
    """The table of a plan's arguments, with these rows or none. Raises InvalidPlanError for a plan that reads anything else.

    The plan may be somebody else's, and no file or table of the session's is given away by what looks like a function.
    """
    root = read_plan(plan).root
    relations = [] if root is None else relations_below(root, subqueries=True)
    tables = [each for each in relations if not each.inputs]
    if len(tables) != 1 or not isinstance(tables[0], NamedTable) or tables[0].table != (TABLE,):
        raise InvalidPlanError("What Catalyst is to evaluate has to be over its arguments, and nothing else.")
    schema = spark_struct(tables[0].schema, tables[0].names)
    return frame(spark, schema, None if rows is None else _stream(rows))


def _columns(arrays: Sequence[pa.Array]) -> pa.Table:
    return pa.table(list(arrays), names=[str(n) for n in range(len(arrays))])


def _stream(table: pa.Table) -> bytearray:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytearray(sink.getvalue())
