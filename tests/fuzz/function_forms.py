"""Forms of SQL from the verdicts on functions: the calls that DataFusion runs, with places for their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from functions import cases
from functions.cases import MODES, Case
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from releases import has

from .expressions import PLACE, SIGNATURES, Signature
from .tables import COLUMNS

PLACES = {
    # What is counted by it would grow beyond any memory.
    "pos": "(pmod({int}, 9) - 3)",
    **{
        name: f"{{{type}}}"
        for names, type in (
            ("bool", "boolean"), ("i8", "tinyint"), ("i16", "smallint"), ("i32 id", "int"), ("i64", "bigint"),
            ("f32", "float"), ("f64", "double"), ("d5_2 d18_4", "decimal(10,2)"), ("d38_0 d38_10", "decimal(20,4)"),
            ("s t j", "string"), ("bin", "binary"), ("dt", "date"), ("ts", "timestamp"), ("ntz", "timestamp_ntz"),
            ("ai", "array<int>"), ("as", "array<string>"), ("ad", "array<double>"), ("aa", "array<array<int>>"),
            ("m", "map<string,int>"), ("st", "struct<x:int,y:string>"),
        )
        for name in names.split()
    },
}  # fmt: skip
"""What stands for each column of the grid, which calls have by these names or with `2` behind them."""

TEXT_OR_NAME = re.compile(r"'(?:[^'\\]|\\.|'')*'|\b(" + "|".join(PLACES) + r")2?\b(?!\()")

PARAMETERS = re.compile(r"(\w+|\([\w, ]+\)) ->")
"""Those of a lambda, which may have the names of columns."""

NAMES = {type: f"c{n}" for n, type in enumerate(COLUMNS)}
"""The column of each type in the tables."""

APART = {"nondeterministic", "user_error"}
"""Families of functions whose calls depend on more than their arguments."""

INTERPRETED_APART = {"levenshtein"}
"""Functions that Spark itself computes otherwise when it compiles them: with a limit that is null."""


def add(spark: SparkSession) -> None:
    """Add the forms to `SIGNATURES`, by the types that Spark gives them over the tables."""
    for form, type in _typed(spark, sorted(set(_forms()))):
        signature = _signature(form, type)
        if signature not in SIGNATURES[signature.type]:
            SIGNATURES[signature.type].append(signature)


def _typed(spark: SparkSession, forms: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The forms that this version of Spark has, with their types."""
    calls = ", ".join(f"{PLACE.sub(lambda place: NAMES[place[1]], form)} AS f{n}" for n, form in enumerate(forms))
    try:
        schema = spark.sql(f"SELECT {calls} FROM many").schema
    except AnalysisException:
        half = len(forms) // 2
        if half:
            yield from _typed(spark, forms[:half])
            yield from _typed(spark, forms[half:])
        return
    yield from zip(forms, [field.dataType.simpleString() for field in schema], strict=True)


def _forms() -> Iterator[str]:
    equal = [case for case in cases.load() if _taken(case)]
    modes = {(case.call, case.mode) for case in equal}
    for case in equal:
        if all((case.call, mode) in modes for mode in MODES):
            yield _with_places(case.call)


def _with_places(call: str) -> str:
    own = {name for parameters in PARAMETERS.findall(call) for name in re.findall(r"\w+", parameters)}
    return TEXT_OR_NAME.sub(lambda found: PLACES[found[1]] if found[1] and found[0] not in own else found[0], call)


def _taken(case: Case) -> bool:
    return (
        case.datafusion == "equal"
        and case.by_rows
        and case.tolerance is None
        and case.source == cases.GRID
        and has(case.since)
        and case.family not in APART
        and case.function not in INTERPRETED_APART
    )


def _signature(form: str, type: str) -> Signature:
    """A form of one of the types that the tables have: of another type, whether it is null."""
    if type in COLUMNS:
        return Signature(type, f"({form})")
    if type.startswith("decimal"):
        return Signature("decimal(20,4)", f"try_cast(({form}) AS DECIMAL(20,4))")
    return Signature("boolean", f"(({form}) IS NULL)")
