"""What a plan takes in DataFusion beside DataFusion's own SQL, and beside Spark: TPC-H, TPC-DS, and single forms on many rows.

What counts is the time of the processor, in Python's process for DataFusion and in the JVM for Spark, since others may use the
machine, too. Plans are made before; Spark's planning is a part of its run, as DataFusion's is of the SQL's.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq
import tpc_data
from datafusion import SessionConfig, SessionContext

from substrait_spark import df_to_substrait
from substrait_spark.engines import compare, datafusion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 5_000_000
CORES = 2

TABLE = """\
SELECT CAST(value % 4 AS INT) AS g, CAST(value * 7919 % 200000 AS INT) AS k, CAST(value * 31 % 200000 AS INT) AS i,
 CAST(value % 9973 + 1 AS INT) AS j, value * 1000003 % 1000000007 AS l, value % 99991 + 1 AS m,
 CAST(value * 13 % 10000000 AS DECIMAL(15, 2)) / 100 AS d0, CAST(value % 11 AS DECIMAL(15, 2)) / 100 AS e0,
 CAST(value % 1000003 AS DOUBLE) / 7 AS f, CAST(value * 31 % 1000000 AS VARCHAR) AS s,
 DATE '1992-01-01' + CAST(value % 2500 AS INT) AS t
FROM range({rows})"""
"""Small integers of few and of many values, 64-bit integers, decimals, doubles, texts and dates."""

COLUMNS = "g, k, i, j, l, m, CAST(d0 AS DECIMAL(15, 2)) AS d, CAST(e0 AS DECIMAL(15, 2)) AS e, CAST(d0 AS DECIMAL(38, 6)) AS x, f, s, t"


class Form(NamedTuple):
    """A query of one form over the table `forms`; `plain` is DataFusion's own SQL where it isn't the same text."""

    query: str
    plain: str = ""


def _of_rows(expression: str, plain: str = "") -> Form:
    return Form(f"SELECT max({expression}) FROM forms", f"SELECT max({plain or expression}) FROM forms")


def _of_groups(measure: str, key: str) -> Form:
    return Form(f"SELECT {key}, {measure} FROM forms GROUP BY {key}")


MEASURES = (
    "sum(i)",
    "sum(i + 1)",
    "sum(l)",
    "sum(l + 1)",
    "avg(l)",
    "sum(d)",
    "sum(d * (1 - e))",
    "sum(x)",
    "avg(d)",
    "max(f)",
)
EXPRESSIONS = (
    *("i + 1", "i + j", "i * j", "l + 1", "l + m", "l - m", "l * m", "-l", "abs(l)", "i % j"),
    *(
        "d + e",
        "d * e",
        "x + d",
        "d / (e + 1)",
        "f / (f + 1)",
        "CAST(l AS INT)",
        "CAST(f AS INT)",
        "CAST(d AS INT)",
    ),
    *("CAST(s AS INT)", "CAST(l AS STRING)", "year(t)", "upper(s)", "substring(s, 2, 3)", "coalesce(i, j)"),
)
DIFFERENT = {"CAST(l AS STRING)": "CAST(l AS VARCHAR)", "year(t)": "date_part('year', t)"}
"""What DataFusion's own SQL calls otherwise."""

FORMS: Mapping[str, Form] = {
    **{measure: Form(f"SELECT {measure} FROM forms") for measure in MEASURES},
    **{f"{measure}, 4 groups": _of_groups(measure, "g") for measure in MEASURES},
    **{f"{measure}, 200,000 groups": _of_groups(measure, "k") for measure in MEASURES},
    **{expression: _of_rows(expression, DIFFERENT.get(expression, "")) for expression in EXPRESSIONS},
    "a filter by 100 / j > 1": Form("SELECT count(*) FROM forms WHERE j <> 0 AND 100 / j > 1"),
    "sum(l) over a window": Form("SELECT max(w) FROM (SELECT sum(l) OVER (PARTITION BY k) AS w FROM forms)"),
}

Seconds = tuple[float, float]
"""Of the processor, and by the clock."""

Way = tuple[Callable[[], Any], Callable[[], float]]
"""What runs a query, and what tells how long the processor has worked for it so far."""


def measure(spark: SparkSession, rounds: int, scale_factor: float) -> dict[str, Any]:
    """By query and by form, the least seconds of each way to run it in so many rounds, one after the other in each.

    Of the queries also: whether the plan has Spark's rows, and what one call takes from the query's text to the rows.
    """
    with tempfile.TemporaryDirectory() as directory:
        return {
            "scale factor": scale_factor,
            "rows": ROWS,
            "tpch": _tpch(spark, rounds, scale_factor, Path(directory, "tpch")),
            "tpcds": _tpcds(spark, rounds, scale_factor, Path(directory, "tpcds")),
            "forms": _forms(spark, rounds, Path(directory)),
        }


def _tpch(spark: SparkSession, rounds: int, scale_factor: float, directory: Path) -> dict[str, Any]:
    plain, found = _tables("tpch", spark, scale_factor, directory), {}
    for n, text in tpc_data.queries(directory).items():
        ways = _in_datafusion(spark, plain, text, text.replace("`", '"')) | _in_spark(spark, text) | _call(spark, text)
        found[str(n)] = {**_measured(ways, rounds), "equal": bool(compare(spark.sql(text)))}
    return found


def _tpcds(spark: SparkSession, rounds: int, scale_factor: float, directory: Path) -> dict[str, Any]:
    """Plans and SQL alone; of a query whose SQL DataFusion doesn't run, the plan."""
    plain, found = _tables("tpcds", spark, scale_factor, directory), {}
    for n, text in tpc_data.queries(directory).items():
        own = text.replace("`", '"')
        ways = _in_datafusion(spark, plain, text, own)
        try:
            plain.sql(own).to_arrow_table()
        except Exception:  # noqa: BLE001 - DataFusion raises a bare Exception
            del ways["SQL"]
        found[str(n)] = _measured(ways, rounds)
    return found


def _tables(data: str, spark: SparkSession, scale_factor: float, directory: Path) -> SessionContext:
    """Generate data, and register them in Spark and in a session of DataFusion's own."""
    directory.mkdir()
    tpc_data.generate(data, scale_factor, directory)
    tpc_data.register(spark, directory)
    plain = _session()
    for file in sorted(directory.glob("*.parquet")):
        plain.register_parquet(file.stem, str(file))
    return plain


def _call(spark: SparkSession, text: str) -> dict[str, Way]:
    return {"call": (lambda: datafusion.collect(spark.sql(text)), _own_processor)}


def _forms(spark: SparkSession, rounds: int, directory: Path) -> dict[str, Any]:
    path, plain = directory / "forms.parquet", _session()
    pq.write_table(plain.sql(f"SELECT {COLUMNS} FROM ({TABLE.format(rows=ROWS)})").to_arrow_table(), path)
    plain.register_parquet("forms", str(path))
    spark.read.parquet(str(path)).createOrReplaceTempView("forms")
    return {
        name: _measured(
            _in_datafusion(spark, plain, form.query, form.plain or form.query) | _in_spark(spark, form.query), rounds
        )
        for name, form in FORMS.items()
    }


def _session() -> SessionContext:
    return SessionContext(SessionConfig().with_target_partitions(CORES))


def _in_datafusion(spark: SparkSession, plain: SessionContext, text: str, own: str) -> dict[str, Way]:
    plan, context = df_to_substrait(spark.sql(text), dialect="datafusion"), datafusion.context()
    return {
        "plan": (lambda: datafusion.execute(plan, context), _own_processor),
        "SQL": (lambda: plain.sql(own).to_arrow_table(), _own_processor),
    }


def _in_spark(spark: SparkSession, text: str) -> dict[str, Way]:
    jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    return {"Spark": (lambda: spark.sql(text).toArrow(), lambda: _processor(jvm))}


def _measured(ways: Mapping[str, Way], rounds: int) -> dict[str, Seconds]:
    found: dict[str, list[Seconds]] = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way, (run, processor) in ways.items():
            found[way].append(_seconds(run, processor))
    return {way: _least(runs[1:]) for way, runs in found.items()}


def _seconds(run: Callable[[], Any], processor: Callable[[], float]) -> Seconds:
    used, started = processor(), perf_counter()
    run()
    return processor() - used, perf_counter() - started


def _least(runs: list[Seconds]) -> Seconds:
    """Of the processor and by the clock: what else the machine does only adds to both."""
    return min(used for used, _ in runs), min(lasted for _, lasted in runs)


def _own_processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _processor(process: int) -> float:
    """Seconds that another process has worked, where Linux tells it; else none."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return 0.0
    user, system = status.read_text("utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
