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
from .row_changes import RowChange, row_change
from .write_commands import HINT, NO_CHANGES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_readers = JavaClass(__package__, "StatementReader", after=COMMAND_FIELDS)

RUN_BY_ANALYSIS = frozenset(("Call", "CompoundBody", "ExecuteImmediateQuery", "UnresolvedExecuteImmediate"))
"""Catalyst's classes of parsed statements that Spark runs while it analyzes them."""

CHANGES_ROWS = frozenset(("DeleteFromTable", "MergeIntoTable", "UpdateTable"))
"""Catalyst's classes of parsed statements that do so."""

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
    def change(self) -> RowChange | None:
        """What it does to rows of a table where they are; None of another statement.

        Raises `Unsupported` where its table's source can't do what it says.
        """
        found = self.java.change()
        if found is not None:
            return row_change(found, self.java.rows(found), self.sparkSession)
        if self.kind in CHANGES_ROWS:
            raise Unsupported(NO_CHANGES, HINT)
        return None

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
    def evolves(self) -> bool:
        """Whether it gives its table other columns, which Spark's analysis itself may do."""
        return bool(self.java.evolves())

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
