"""Statements as Spark analyses them, without running them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import SubstraitSparkError, Unsupported, kind_of
from .compiler import JavaClass
from .failures import failure_text
from .reader import COMMAND_FIELDS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_readers = JavaClass(__package__, "StatementReader", after=COMMAND_FIELDS)

RUN_BY_ANALYSIS = frozenset(("Call", "CompoundBody", "ExecuteImmediateQuery", "UnresolvedExecuteImmediate"))
"""Catalyst's classes of parsed statements that Spark runs while it analyzes them."""

CHANGES_ROWS = frozenset(("DeleteFromTable", "UpdateTable"))
"""Catalyst's classes of parsed statements that do so."""

IN_THE_WAY = {
    "unnamed": ("the table that it changes is known by its path alone", "Change a table of a catalog."),
    "generated": (
        "the table computes columns of others, and an update computes them anew",
        "Run it in Spark, or export the query whose rows it uses.",
    ),
}
"""What stands in the way of statements that change rows, and what to do about it."""

_REQUIRED = re.compile(r"\s+not\s+null\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """A statement that has been analysed. What is read of it is its query."""

    java: Any
    sparkSession: SparkSession  # noqa: N815 - PySpark's name
    stage: str

    @property
    def _jdf(self) -> Any:
        return self.java.optimized() if self.stage == "optimized" else self.java

    @property
    def command(self) -> dict[str, Any] | None:
        """What a command does: its class, and its fields by name (StatementReader.java says which); None of a query."""
        fields: dict[str, Any] | None = json.loads(self.java.command())
        return fields

    @property
    def query(self) -> Statement | None:
        """The query whose rows a command writes, or that a view stands for."""
        query = self.java.query()
        return None if query is None else Statement(query, self.sparkSession, self.stage)

    @property
    def kind(self) -> str:
        """Catalyst's class of the statement as it was parsed."""
        return str(self.java.kind())

    @property
    def is_change(self) -> bool:
        """Whether it deletes or updates rows of a table where they are."""
        return self.kind in CHANGES_ROWS

    @property
    def changed(self) -> Statement | None:
        """The rows that a DELETE deletes; what an UPDATE computes of each row (StatementReader.java); None where the
        table's source can't do either. As the statement was written, so that nothing is pushed into the source.

        Raises `Unsupported` for what else stands in the way."""
        changed = self.java.changed()
        if isinstance(changed, str):
            raise Unsupported(*IN_THE_WAY[changed])
        return None if changed is None else Statement(changed, self.sparkSession, "analyzed")

    @property
    def replaced(self) -> Statement:
        """The rows of a table that those of its query take the place of."""
        return Statement(self.java.replaced(), self.sparkSession, "analyzed")

    @property
    def columns(self) -> Columns | None:
        """The columns that a table has, or will have, where the command says them."""
        columns = self.java.columns()
        return None if columns is None else Columns(columns, self.sparkSession)

    @property
    def missing(self) -> list[str]:
        """The names of its parameters that nobody said the types of."""
        return [str(name) for name in self.java.missing()]

    @property
    def ordinals(self) -> list[str]:
        """The names of its parameters that Spark takes for a column's place."""
        return [str(name) for name in self.java.ordinals()]

    @property
    def runs_early(self) -> bool:
        """Whether Spark would run it, or what is in it, to analyse it."""
        return self.kind in RUN_BY_ANALYSIS

    @property
    def is_positional(self) -> bool:
        """Whether it has parameters without names."""
        return bool(self.java.positional())


@dataclass(frozen=True)
class Columns:
    """A frame without rows, to be read as a DataFrame is."""

    _jdf: Any
    sparkSession: SparkSession  # noqa: N815 - PySpark's name

    def default_values(self, texts: Mapping[str, str]) -> DataFrame:
        """A frame of one row: what SQL says that columns hold where nothing else is said, in their types."""
        from pyspark.sql.functions import expr
        from pyspark.sql.types import StructType

        fields = StructType.fromJson(json.loads(self._jdf.schema().json()))
        values = [expr(text).cast(fields[name].dataType).alias(name) for name, text in texts.items()]
        return self.sparkSession.range(1).select(*values)


def statement(
    spark: SparkSession, sql: str, parameters: DataFrame, nullable: Mapping[str, bool], stage: str
) -> Statement:
    """A statement over parameters of the types that a frame's columns have. Raises Spark's errors where it is none."""
    flags = "".join("1" if nullable[name] else "0" for name in parameters.columns)
    session: Any = spark
    return Statement(_readers.of(session._sc._gateway).statement(sql, parameters._jdf, flags), spark, stage)


def is_type(given: object) -> bool:
    """Whether a parameter is given by its type, and not by a value."""
    from pyspark.sql.types import DataType

    return isinstance(given, str | DataType)


def is_required(given: object) -> bool:
    """Whether a type of a parameter says that it is never null: `bigint not null`."""
    return isinstance(given, str) and _REQUIRED.search(given) is not None


def parameter_frame(spark: SparkSession, parameters: Mapping[str, Any]) -> DataFrame:
    """A frame of one row, with a column for each parameter: its value, or null in its type.

    Raises SubstraitSparkError for what is neither a type nor a value that Spark has.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    columns = []
    for name, given in parameters.items():
        if given is None:
            raise SubstraitSparkError(f"The parameter {name}: None says no type; give one, such as 'bigint'.")
        problem = None
        try:
            columns.append(_column(given).alias(name))
            spark.range(1).select(columns[-1])
        except (PySparkException, Py4JJavaError, TypeError, ValueError, AttributeError) as error:
            problem = failure_text(error)
        if problem is not None:  # here, where Spark's exception stays behind
            raise SubstraitSparkError(f"The parameter {name}: {_refused(given)} ({problem}).")
    return spark.range(1).select(*columns)


def _column(given: Any) -> Column:
    from pyspark.sql.functions import lit

    if not is_type(given):
        return lit(given)
    return lit(None).cast(_REQUIRED.sub("", given) if isinstance(given, str) else given)


def _refused(given: Any) -> str:
    if isinstance(given, str):
        # It may be meant as a value, and a secret.
        return "its text is no type of Spark's; where it is a value, give it as pyspark.sql.functions.lit(…)"
    return f"Spark has no literal for a value of {kind_of(given)}"


def command_kind(spark: SparkSession, sql: str) -> str | None:
    """Catalyst's class of a statement that does something, which `spark.sql` would run at once; None for a query."""
    jvm: Any = spark._jvm
    state = spark._jsparkSession.sessionState()
    parsed = state.sqlParser().parsePlan(sql)
    kind = str(parsed.getClass().getSimpleName())
    if kind in RUN_BY_ANALYSIS:
        return kind
    skip = getattr(getattr(jvm.org.apache.spark.sql.execution, "CommandExecutionMode$"), "MODULE$").SKIP()
    command = getattr(getattr(jvm.org.apache.spark.sql.catalyst.trees, "TreePattern$"), "MODULE$").COMMAND()
    return kind if state.executePlan(parsed, skip).analyzed().containsPattern(command) else None
