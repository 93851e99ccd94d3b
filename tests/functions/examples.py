"""Spark's own examples of its functions, as queries whose arguments are columns of a file.

Spark's registry of functions (`SHOW FUNCTIONS`) carries examples for nearly all of them. Most call the function on
literals, which the optimizer would fold away: here each argument that is a value of its own becomes a column of a
Parquet file with one row. What needs a literal (a format, a unit) stays one in the next variant.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

REFUSED = (PySparkException, Py4JError)
"""What Spark raises for a query that it doesn't take."""

CONVERSIONS = {
    "bigint": "'7'",
    "binary": "'a'",
    "boolean": "'true'",
    "date": "'2024-02-29'",
    "decimal": "'7'",
    "double": "'1.5'",
    "float": "'1.5'",
    "int": "'7'",
    "smallint": "'7'",
    "string": "7",
    "time": "'12:34:56'",
    "timestamp": "'2024-02-29 12:34:56'",
    "tinyint": "'7'",
}
"""Arguments for the functions without examples: the casts that are written as calls."""

NO_COLUMN = re.compile(r"void|variant|geometry|geography|\binterval\b(?! (year|month|day|hour|minute|second))|collate")
"""Types that Parquet files don't hold, or that no plan has: such arguments stay as they are."""


class SparkFunction(NamedTuple):
    """A function as Spark's registry lists it."""

    name: str
    catalyst_class: str
    """The simple name of the class that its ExpressionInfo names: of the expression, or of its builder."""
    group: str
    """`string_funcs`, `agg_funcs`, …; `generator_funcs` and `table_funcs` for functions that stand in FROM."""
    examples: tuple[str, ...]
    """Queries."""


def functions(spark: SparkSession) -> list[SparkFunction]:
    """Every function of the session, by name; one that exists as scalar and as table function comes once."""
    state = spark._jsparkSession.sessionState()
    found: dict[str, SparkFunction] = {}
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        names = registry.listFunction()
        for index in range(names.size()):
            info = registry.lookupFunction(names.apply(index)).get()
            name = names.apply(index).funcName()
            examples = _queries(info.getExamples()) or _conversion(name)
            found.setdefault(
                name, SparkFunction(name, info.getClassName().rpartition(".")[2], info.getGroup(), examples)
            )
    return sorted(found.values())


def _queries(examples: str) -> tuple[str, ...]:
    """The queries of an ExpressionInfo's examples, but for those that need other settings than the default ones."""
    found = []
    by_default = True
    for statement in re.findall(r"^\s*> (.*?);\s*$", examples, re.MULTILINE | re.DOTALL):
        if statement.upper().startswith("SET "):
            by_default = statement.endswith("=false")
        elif by_default:
            found.append(statement)
    return tuple(found)


def _conversion(name: str) -> tuple[str, ...]:
    return (f"SELECT {name}({CONVERSIONS[name]})",) if name in CONVERSIONS else ()


class Arguments:
    """The values of examples' arguments, gathered to become the columns of one Parquet file."""

    def __init__(self, spark: SparkSession, view: str) -> None:
        self._spark = spark
        self._view = view
        self._names: dict[str, str] = {}

    def variants(self, function: SparkFunction, example: str) -> list[list[str]]:
        """The forms of an example as queries, those of the first list that Spark accepts any of.

        First with columns for all arguments of the call, and for the first of them alone; then for the literals anywhere
        in it; then the example as it stands.
        """
        call, literals = _call(function.name, example), LITERAL.split(example)
        if FROM.search(example):
            return [[example]]
        return [self._mixed(call), self._mixed(literals)[:1], [example]]

    def _mixed(self, pieces: list[str]) -> list[str]:
        """The query with columns for all arguments, which are every second piece, then for the first of them alone."""
        columns = {index: self._column(pieces[index]) for index in range(1, len(pieces), 2)}
        known = [index for index, column in columns.items() if column is not None]
        chosen = [known, known[:1]] if len(known) > 1 else [known] if known else []
        return [
            "".join(columns[n] or piece if n in indices else piece for n, piece in enumerate(pieces))
            + f" FROM {self._view}"
            for indices in chosen
        ]

    def write(self, path: Path) -> None:
        """Write the file and name it; nothing where no argument became a column."""
        if self._names:
            values = ", ".join(f"{value} AS {name}" for value, name in self._names.items())
            self._spark.sql(f"SELECT {values}").write.parquet(str(path))
            self._spark.read.parquet(str(path)).createOrReplaceTempView(self._view)

    def _column(self, argument: str) -> str | None:
        """The column for an argument; None for what is no value by itself: a lambda, a star, a named argument."""
        if argument not in self._names:
            try:
                schema = self._spark.sql(f"SELECT {argument} AS c").schema
            except REFUSED:
                return None
            if len(schema) != 1 or NO_COLUMN.search(schema[0].dataType.simpleString()):
                return None
            self._names[argument] = f"c{len(self._names)}"
        return self._names[argument]


FROM = re.compile(r"(?i)\bFROM\b")
LITERAL = re.compile(r"(?i)(?<![\w.'\"])(\d+(?:\.\d+)?|(?:\bX)?'[^']*'|true|false)(?![\w.'\"])")


def _call(name: str, example: str) -> list[str]:
    """An example cut up: every second piece is an argument of the call of the function. Whole where there is none."""
    call = re.search(rf"(?i)(?<!\w){re.escape(name)}\s*\(", example) if name[0].isalpha() else None
    if call is None:
        return [example]
    depth, start = 1, call.end()
    pieces = [example[:start]]
    for token in re.finditer(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|.", example[call.end() :], re.DOTALL):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        here = call.end() + token.start()
        if depth == 0 or (depth == 1 and token[0] == ","):
            pieces += [example[start:here].strip(), ", " if depth else example[here:]]
            start = here + 1
        if depth == 0:
            break
    return pieces
