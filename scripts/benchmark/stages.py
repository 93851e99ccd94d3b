"""The time that each stage of one conversion takes."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING

from substrait_spark import df_to_substrait
from substrait_spark.catalyst import reader
from substrait_spark.catalyst.compiler import JavaClass
from substrait_spark.catalyst.document import decode
from substrait_spark.context import Context, Settings
from substrait_spark.conversion import in_dialect, relation_of
from substrait_spark.dialects.file import load
from substrait_spark.plan.message import build
from substrait_spark.rewrites import rewrite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STAGES = ("read", "decode", "rewrite", "emit", "lower", "write", "serialise")
"""Fetch the document from the JVM; Catalyst tree; rewritten tree; canonical tree; tree in the dialect's forms; Plan message;
bytes."""

LIMIT = 2_000_000
"""Rows that may be written into a plan here."""

_WALKS = JavaClass(__package__, "Walk", after=reader.READERS)


def planned(make: Callable[[], DataFrame]) -> tuple[DataFrame, float]:
    """A fresh DataFrame with its optimized plan, and the seconds that Spark took for both."""
    start = perf_counter()
    df = make()
    df._jdf.queryExecution().optimizedPlan()
    return df, perf_counter() - start


def converted(df: DataFrame, dialect: str | None = None) -> dict[str, float]:
    """The seconds that each stage takes for a DataFrame. Raises ValueError where it can't be exported."""
    settings = Settings(load(dialect), "auto", LIMIT)
    context = Context(settings)
    marks = [perf_counter()]
    text = reader.read(df, settings)
    marks.append(perf_counter())
    document = decode(text)
    marks.append(perf_counter())
    document = rewrite(document)
    marks.append(perf_counter())
    relation, names = relation_of(context, document)
    marks.append(perf_counter())
    relation = in_dialect(context, relation, document.output, names)
    if context.problems:
        raise ValueError("; ".join(found.reason for found in context.problems))
    marks.append(perf_counter())
    plan = build(relation, names)
    marks.append(perf_counter())
    plan.SerializeToString()
    marks.append(perf_counter())
    return {stage: end - start for stage, start, end in zip(STAGES, marks, marks[1:], strict=False)}


def found_again(make: Callable[[], DataFrame], dialect: str | None = None) -> float:
    """The seconds to the plan of a DataFrame whose query was converted before, and is found among the recent ones."""
    df_to_substrait(planned(make)[0], dialect=dialect)
    df = planned(make)[0]
    start = perf_counter()
    df_to_substrait(df, dialect=dialect)
    return perf_counter() - start


def walked(df: DataFrame) -> float:
    """The seconds that the walk in the JVM takes, which is a part of reading."""
    gateway = df.sparkSession._sc._gateway
    files = Settings(load(None)).list_files
    return float(_WALKS.of(gateway).walk(reader.READERS.of(gateway), df._jdf, LIMIT, files)) / 1e9


def nodes_of(df: DataFrame) -> int:
    """How many nodes the plan has, columns included, each once."""
    document = json.loads(reader.read(df, Settings(load(None), "auto", LIMIT)))
    # The columns of a source are one row of the document, which says how many there are and has no keys of metadata.
    columns = zip(document["columns"][1::4], document["columns"][3::4], strict=True)
    return len(document["nodes"]) + sum(name if keys is None else 1 for name, keys in columns)


@contextmanager
def quiet_garbage_collector() -> Iterator[None]:
    """Collect before, not during a measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def middle(values: list[float]) -> float:
    return median(values)


def ninetieth(values: list[float]) -> float:
    """The 90th percentile."""
    return quantiles(values, n=10)[-1] if len(values) > 1 else values[0]
