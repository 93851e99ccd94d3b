"""The page on what exactness costs in DataFusion, and README's table of what plans bring, from what was measured."""

from __future__ import annotations

import re
from statistics import median
from typing import Any

INTRODUCTION = """\
# What exactness costs in DataFusion

DataFusion's integers wrap around, its decimals may grow beyond their digits, and its optimizer has
defects. A plan of the `datafusion` dialect has Spark's result instead, or Spark's error. This page says
what that takes beside DataFusion's own SQL, which does not ask.

{circumstances} Written by `make execution`: the least time of the processor in several rounds, in which each way to run a query
comes once. Below 1 the plan is faster. DataFusion's own SQL is in a session of its defaults. Spark runs the same query in the same
machine's two cores, where it would otherwise run.
"""

FORMS = """\
## What makes plans dearer

* **Sums of decimals** of more than 28 digits, such as those of products, are two sums: the engine's own, and that of the absolute
  values in its wider decimals, from which follows that no sum of some of the values overflows. Where an expression's literals and
  casts tell that its values are small, the second sum is left out. A cast of the argument to at most 28 digits does the same.
* **Sums that are null for an overflow** (`try_sum`, and decimals without ANSI mode) of more than 34 digits are the engine's own
  `try_sum`, which takes up to ten times as long in many groups.
* **Sums of `bigint`** in groups are two sums, in decimals; those of smaller integers are plain.
* **`+`, `-` and `*` of `bigint`** look at the operands and the result; products are computed in decimals where their doubles are
  near to 2^63. Those of smaller integers are computed in 64 bits and cast back.
* **Products and sums of decimals** of more than 38 digits are computed in the engine's own decimals where the operands are small, in
  its wider ones elsewhere. What Spark rounds is computed in the wider ones, which takes ten times as long.
* **Divisions** have a condition for a zero divisor, and decimals are divided with more digits and rounded.
* **Text** of files other than Parquet, of tables in memory, in contexts with a limit of memory and in plans that have lambdas or call
  functions of Python's, is Arrow's `string`, which compares more slowly than the `string_view` of Parquet files. So is text that may go
  through one join after another: there, views would take ever more memory.
* **Semi and anti joins** on equalities alone, as of `IN` and `EXISTS`, stand where Spark's optimizer puts them, which may be below the joins
  that leave few rows for them. Their right side is grouped by its keys: DataFusion looks at all pairs of rows with equal keys, which has
  no end where both sides repeat them. Where those on the left are all different anyway, as in query 4 of TPC-H, the groups double the time.
* **Conditions that keep errors away** from rows that Spark would not evaluate are evaluated once more.
* **`max` and `min` of floating-point numbers** count NaN, which DataFusion's own lose.
"""


OTHER_FUNCTIONS = """\
## Functions that Python or Catalyst compute

{circumstances} One call of each function, as a column over {rows:,} rows of the tests' values, as `datafusion.collect` has it. Python computes
over Arrow in DataFusion's process; Catalyst in the JVM of the Spark session, which such plans need. The least seconds of several rounds,
by the clock: {by_python:.2f} times Spark's in the median where Python computes, {by_catalyst:.2f} times where Catalyst does.
"""


def page(result: dict[str, Any], other: dict[str, Any] | None) -> str:
    """The Markdown page; with what was measured of `other` functions, where it was."""
    queries = result["tpch"]
    return (
        "\n".join(
            [
                INTRODUCTION.format(circumstances=circumstances(result)).strip(),
                "",
                FORMS.strip(),
                "",
                f"## TPC-H, scale factor {result['scale factor']:g}",
                "",
                _summary(queries),
                "",
                *_table("query", queries),
                "",
                *_tpcds(result),
                f"## Forms, on {result['rows']:,} rows",
                "",
                "Expressions are the argument of a `max`, which both sides compute. What DataFusion's SQL can tell from the file's",
                "statistics, such as `max(f)`, it tells without reading rows.",
                "",
                *_table("form", {f"`{name}`": found for name, found in result["forms"].items()}),
                *(_other_functions(other) if other is not None else ()),
            ]
        )
        + "\n"
    )


def _tpcds(result: dict[str, Any]) -> list[str]:
    """What is measured since 2026-11-28, without Spark."""
    if "tpcds" not in result:
        return []
    queries = result["tpcds"]
    beside = {name: found for name, found in queries.items() if "SQL" in found}
    alone = [name for name in queries if name not in beside]
    lines = ["| query | plan, s | SQL, s | plan by SQL |", "|---" * 4 + "|"]
    for name, found in beside.items():
        lines.append(f"| {name} | {found['plan'][0]:.3f} | {found['SQL'][0]:.3f} | {_ratio(found):.2f} |")
    told = f" DataFusion does not run the SQL of {', '.join(alone)}; it runs their plans." if alone else ""
    return [f"## TPC-DS, scale factor {result['scale factor']:g}", "", _summary(beside) + told, "", *lines, ""]


def _summary(queries: dict[str, Any]) -> str:
    ratios = [_ratio(found) for found in queries.values()]
    return f"{median(ratios):.2f} times DataFusion's own SQL in the median, {max(ratios):.2f} times at most."


def _other_functions(result: dict[str, Any]) -> list[str]:
    by: dict[str, list[float]] = {}
    for found in result["functions"]:
        by.setdefault(found["by"], []).append(found["plan"] / found["Spark"])
    introduction = OTHER_FUNCTIONS.format(
        circumstances=circumstances(result),
        rows=result["rows"],
        by_python=median(by["Python"]),
        by_catalyst=median(by["Catalyst"]),
    )
    lines = ["| call | computed by | plan, s | Spark, s | plan by Spark |", "|---" * 5 + "|"]
    for found in result["functions"]:
        plan, spark, call = found["plan"], found["Spark"], found["call"].replace("|", "\\|")
        lines.append(f"| `{call}` | {found['by']} | {plan:.3f} | {spark:.3f} | {plan / spark:.2f} |")
    return ["", introduction.strip(), "", *lines]


def circumstances(result: dict[str, Any]) -> str:
    """When, with what and where a run was made, as pages tell it."""
    return f"{result['date']}, substrait_spark {result['version']}, Spark {result['spark']}, {result['machine']}."


def _table(title: str, found: dict[str, Any]) -> list[str]:
    lines = [f"| {title} | plan, s | SQL, s | Spark, s | plan by SQL | plan by Spark, by the clock |", "|---" * 6 + "|"]
    for name, ways in found.items():
        seconds = " | ".join(f"{ways[way][0]:.3f}" for way in ("plan", "SQL", "Spark"))
        by_clock = ways["plan"][1] / ways["Spark"][1]
        lines.append(f"| {name} | {seconds} | {_ratio(ways):.2f} | {by_clock:.2f} |")
    return lines


def _ratio(ways: dict[str, Any]) -> float:
    """The plan's time of the processor by that of the SQL."""
    return float(ways["plan"][0] / ways["SQL"][0])


README_TABLE = re.compile(r"(<!-- Written by `make execution`. -->\n).*?(\n<!-- End. -->)", re.DOTALL)


def readme(text: str, result: dict[str, Any]) -> str:
    """README with the table of TPC-H anew: seconds by the clock, from the text of a query to its rows.

    A run of before 2026-11-26 has not measured these, and leaves it as it is.
    """
    queries = result["tpch"].values()
    if not all("call" in found for found in queries):
        return text
    spark, call = ([found[way][1] for found in queries] for way in ("Spark", "call"))
    equal = sum(found["equal"] for found in queries)
    ratios = [one / other for one, other in zip(spark, call, strict=True)]
    lines = [
        f"| TPC-H, scale factor {result['scale factor']:g}, {result['machine']} | `df.toArrow()` | `datafusion.collect(df)` | |",
        "|---|---|---|---|",
        f"| all {len(spark)} queries | {sum(spark):.1f} s | {sum(call):.1f} s | rows equal in {equal} of {len(spark)} |",
        f"| the median query | {median(spark):.2f} s | {median(call):.2f} s | {median(ratios):.1f} times faster |",
        f"| the query that gains least | | | {min(ratios):.1f} times |",
    ]
    return README_TABLE.sub(lambda found: "\n".join([found[1].rstrip("\n"), *lines]) + found[2], text)
