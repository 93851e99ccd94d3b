"""Adds the verdicts of the tests' grid to the record of `measure_functions.py`, and writes the page on what is supported.

`PYTHONPATH=tests .venv/bin/python scripts/write_support_page.py`, which needs no Spark.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import measure_functions
from functions import cases

from substrait_spark import support
from substrait_spark.catalyst.sql_types import sql_type
from substrait_spark.catalyst.tree import DataType, Field
from substrait_spark.catalyst.types import ATOMIC, COLLATED, REFUSED, to_substrait
from substrait_spark.support import FunctionSupport

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "supported.md"

HEAD = """\
# What is supported

This page is generated, from measurements and from the library's tables (`make support`); `substrait-spark support` shows
the same in a shell.

## Functions

Of the {total} functions that Spark {spark} lists, canonically

* **{yes}** can be exported,
* **{partly}** can in part: some calls are refused, for the reason given,
* **{no}** can't, for the reason given,
* {untried} need packages or settings that no session has by default.

Of the canonical plans of these {exported}, run by [Spark](../how-to/run-a-plan-in-spark.md) as the specification says,

* **{spark_equal}** give Spark's rows,
* **{spark_partly}** do in part: for other calls Spark has no such function, for the reason given,
* **{spark_refused}** can't be run, for the reason given,
* **{spark_different}** have other rows: {chance}.

On DataFusion, of the {exported} that can be exported,

* **{equal}** run with Spark's rows,
* **{some}** do in part: other calls are refused before they run, or raise,
* **{refused}** are refused,
* **{different}** run with other rows, which is a defect.

On DataFusion with Catalyst, as `datafusion.collect` has it beside a classic Spark session, whose JVM evaluates what DataFusion lacks,

* **{with_equal}** run with Spark's rows,
* **{with_partly}** do in part,
* **{with_refused}** are refused,
* **{with_different}** run with other rows, which is a defect.

Each function was called as Spark's own documentation calls it, with columns for arguments. A check mark (✓) says that
its rows were also compared on the tests' table of edge values, in ANSI mode and without. Where it says that DataFusion *raises
for* some values, such a value ends a plan's run in an error, and Spark has a result for it: `datafusion.collect` then
asks Catalyst. *Canonical form* is the functions that the plan calls, by extension file and name; where it is none, Spark
computes the call itself, or it is a cast, a condition or a reference.

<div class="filter-functions"></div>
"""

TITLES = {
    "agg_funcs": "Aggregate functions",
    "array_funcs": "Arrays",
    "avro_funcs": "Avro",
    "bitwise_funcs": "Bits",
    "collection_funcs": "Collections",
    "conditional_funcs": "Conditions",
    "conversion_funcs": "Conversions",
    "csv_funcs": "CSV",
    "datetime_funcs": "Dates and times",
    "generator_funcs": "Generators",
    "hash_funcs": "Hashes",
    "json_funcs": "JSON",
    "lambda_funcs": "Functions of functions",
    "map_funcs": "Maps",
    "math_funcs": "Mathematics",
    "misc_funcs": "Miscellaneous",
    "predicate_funcs": "Predicates",
    "protobuf_funcs": "Protobuf",
    "sketch_funcs": "Sketches",
    "st_funcs": "Geography and geometry",
    "string_funcs": "Strings",
    "struct_funcs": "Structs",
    "table_funcs": "Tables",
    "url_funcs": "URLs",
    "variant_funcs": "Variants",
    "vector_funcs": "Vectors",
    "window_funcs": "Windows",
    "xml_funcs": "XML",
}
"""Spark's groups of functions."""


INT, TEXT = DataType("integer"), DataType("string")
UNITS = {"daytime": (0, 3), "yearmonth": (0, 1)}

TYPES = (
    *(DataType(name, UNITS.get(name, ())) for name in ATOMIC),
    DataType("decimal", (10, 2)),
    DataType("char(5)"),
    DataType("varchar(5)"),
    DataType("time(6)"),
    DataType(f"{COLLATED}UNICODE"),
    DataType("geometry(3857)", ("EPSG:3857",)),
    DataType("geography(4326)", ("OGC:CRS84", "SPHERICAL")),
    DataType("array", (INT, True)),
    DataType("map", (TEXT, INT, True)),
    DataType("struct", (Field("a", INT, True), Field("b", TEXT, False))),
)
"""The types that plans have; of those with parameters, one."""


def main() -> None:
    measure_functions.write(with_grid(json.loads(measure_functions.RECORD.read_text("utf-8"))))
    PAGE.write_text(page(), "utf-8")


def with_grid(record: dict[str, Any]) -> dict[str, Any]:
    """The record with what the tests' grid says of each function; names of one Catalyst class share its cases."""
    functions = record["functions"]
    by_class: dict[str, list[cases.Case]] = {}
    for case in cases.load():
        if case.function in functions:
            by_class.setdefault(functions[case.function]["class"], []).append(case)
    return {**record, "functions": {name: _with_grid(kept, by_class) for name, kept in functions.items()}}


def _with_grid(kept: dict[str, Any], by_class: dict[str, list[cases.Case]]) -> dict[str, Any]:
    kept = {key: value for key, value in kept.items() if key not in ("grid", "grid_with_catalyst", "refused_on_grid")}
    known = by_class.get(kept["class"], []) if kept["canonical"] in ("yes", "partly") else []
    if known:
        alone = [case.runs_in_datafusion for case in known]
        kept["grid"] = measure_functions.verdict("equal", "refused", alone)
        with_catalyst = [case.runs_in_datafusion or case.with_catalyst != "refused" for case in known]
        kept["grid_with_catalyst"] = measure_functions.verdict("equal", "refused", with_catalyst)
    notes = list(dict.fromkeys(case.notes for case in known if case.notes and case.datafusion != "equal"))
    return {**kept, "refused_on_grid": notes} if notes else kept


def page() -> str:
    """The page's text."""
    functions = list(support.measured().values())
    parts = [_head(functions)]
    for group, title in sorted(TITLES.items(), key=lambda item: item[1]):
        rows = [_row(function) for function in functions if function.group == group]
        parts.append(f"### {title}\n\n{_table(rows)}")
    parts += [
        _types(),
        _classes("Relations", "Catalyst plan nodes that become relations", support.relations()),
        _classes("Other expressions", "Catalyst expressions that are no function calls", support.expressions()),
    ]
    return "\n".join(parts)


def _head(functions: Sequence[FunctionSupport]) -> str:
    canonical = Counter(function.canonical for function in functions)
    in_spark = Counter(function.in_spark for function in functions)
    datafusion = Counter(function.datafusion for function in functions)
    with_catalyst = Counter(function.with_catalyst for function in functions)
    chance = [f"`{function.name}`" for function in functions if function.in_spark == "different"]
    return HEAD.format(
        chance=f"{', '.join(chance)}, whose results hang on chance" if chance else "which would be a defect",
        **{f"spark_{verdict}": in_spark[verdict] for verdict in ("equal", "partly", "refused", "different")},
        total=len(functions),
        spark=support.spark_version(),
        exported=canonical["yes"] + canonical["partly"],
        some=datafusion["partly"],
        **{verdict: canonical[verdict] for verdict in ("yes", "partly", "no", "untried")},
        **{verdict: datafusion[verdict] for verdict in ("equal", "refused", "different")},
        **{f"with_{verdict}": with_catalyst[verdict] for verdict in ("equal", "partly", "refused", "different")},
    )


def _row(function: FunctionSupport) -> Sequence[str]:
    notes = [
        *function.refused,
        *(f"Spark: {reason}" for reason in function.refused_in_spark),
        *(f"DataFusion: {reason}" for reason in function.refused_datafusion),
        *(f"With Catalyst: {reason}" for reason in function.refused_with_catalyst),
        *(f"DataFusion raises for {values}" for values in function.unread),
    ]
    exported = function.canonical in ("yes", "partly")
    form = (", ".join(f"`{name}`" for name in function.form) or "none") if exported else ""
    return (
        f"`{function.name}`",
        f"`{function.catalyst_class}`",
        function.canonical,
        form,
        function.in_spark + (" ✓" if function.on_grid and function.in_spark else ""),
        function.datafusion + (" ✓" if function.on_grid else ""),
        function.with_catalyst + (" ✓" if function.on_grid else ""),
        "; ".join(notes),
    )


def _types() -> str:
    """Spark's types, and what they are in plans."""
    rows = [
        (
            f"`` {sql_type(type)} ``" if type.name == "struct" else f"`{sql_type(type)}`",
            f"`{to_substrait(type, False)}`",
            "",
        )
        for type in TYPES
    ]
    rows += [(f"`{name.upper()}`", "", reason) for name, (reason, _) in REFUSED.items()]
    lines = [("Spark", "Substrait", "Notes"), ["---"] * 3, *rows]
    table = "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)
    return f"## Types\n\nAs they are where they are not nullable; a `u!` is before the types that our extension file declares.\n\n{table}"


def _table(rows: Iterable[Sequence[str]]) -> str:
    head = (
        "Function",
        "Catalyst class",
        "Canonical",
        "Canonical form",
        "In Spark",
        "DataFusion",
        "With Catalyst",
        "Notes",
    )
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def _classes(title: str, what: str, names: Sequence[str]) -> str:
    listed = textwrap.fill(", ".join(f"`{name}`" for name in names) + ".", 120)
    return f"## {title}\n\n{what}:\n{listed}\n"


if __name__ == "__main__":
    main()
