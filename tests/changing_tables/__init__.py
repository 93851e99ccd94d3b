"""A catalog `changing` whose tables Spark can delete and update rows of, with Spark's own rows of what such a statement leaves.

Spark's release has no such catalog; Iceberg and Delta are what users have.
"""

from __future__ import annotations

import uuid
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

OPERATION = "__row_operation"
"""The column that tells the source of a row what was done to it."""


def add_catalog(spark: SparkSession) -> None:
    """Give the session the catalog, whose class is in no archive: each time one of a new name, which py4j knows nothing of."""
    jvm: Any = spark._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    compiler = loader.loadClass("org.codehaus.janino.SimpleCompiler").newInstance()
    compiler.setParentClassLoader(loader)
    package = f"substrait_spark_tests_{uuid.uuid4().hex}"
    source = (Path(__file__).parent / "ChangingTables.java").read_text()
    compiler.cook(source.replace("package substrait_spark_tests;", f"package {package};"))
    catalog = compiler.getClassLoader().loadClass(f"{package}.ChangingTables").newInstance()
    catalog.initialize("changing", jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap.empty())
    manager = spark._jsparkSession.sessionState().catalogManager()
    field = manager.getClass().getDeclaredField("catalogs")
    field.setAccessible(True)
    field.get(manager).put("changing", catalog)


def fill(spark: SparkSession, table: str, rows: DataFrame) -> None:
    """Give a table of the catalog its rows."""
    session: Any = spark
    catalog = session._jsparkSession.sessionState().catalogManager().catalog("changing")
    catalog.fill(table, rows._jdf.queryExecution().executedPlan().executeCollect())


def left_by(spark: SparkSession, statement: str, table: str) -> DataFrame:
    """The rows that a statement would leave in its table: those that Spark would have the source write anew, or append."""
    session: Any = spark
    state = session._jsparkSession.sessionState()
    skip = getattr(spark._jvm.org.apache.spark.sql.execution, "CommandExecutionMode$").__getattr__("MODULE$").SKIP()  # type: ignore[union-attr]
    command = state.executePlan(state.sqlParser().parsePlan(statement), skip).analyzed()
    appends = command.nodeName() in ("AppendData", "InsertOnlyMerge")
    assert appends or command.nodeName() == "ReplaceData", "Spark has the source do it by filters"
    home = spark.range(1)._jdf.getClass().getName()  # which hangs on the Spark
    datasets: Any = reduce(getattr, home.split("."), session._jvm)
    written = DataFrame(datasets.ofRows(session._jsparkSession, command.query()), spark).drop(OPERATION)
    return spark.table(table).union(written) if appends else written
