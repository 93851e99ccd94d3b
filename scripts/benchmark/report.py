"""The page and the plot of the benchmark, from the results that are kept as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .capturing import COLUMNS
from .exactness import circumstances
from .stages import STAGES

BUDGETS = {"first plan": 0.4, "import": 0.15, "slope": 1.1, "connect": 0.1}
"""Seconds, and the exponent of growth."""

PARTS = {
    "walk": ("the walk in the JVM", 1e3, "ms", 0.7),
    "decode": ("decoding and making nodes", 1e3, "ms", 0.8),
    "emit a node": ("emission and writing, for each node", 1e6, "µs", 6),
}
"""Parts of a canonical conversion of TPC-DS, in the median: what they are, the unit in seconds and its name, and the budget."""

RATIOS = {
    "canonical": {"median": 0.12, "most": 0.22},
    "datafusion": {"median": 0.18, "most": 0.36},
}
"""Of conversion to Spark's planning over TPC-DS, by dialect."""

DIALECTS = {"canonical": "canonical", "datafusion": "lowered for DataFusion"}
"""What is measured, and how the page calls it."""

TITLES = {"tpch": "TPC-H", "tpcds": "TPC-DS"}

SHORTFALL = """\
A profile is flat: no function takes a tenth of the time. Decoding, emitting and writing are plain Python objects, some ten for each
node. How fast a machine is shows in the milliseconds, and little in the shares: of two, one took 9 µs to emit and write a node and 25 ms
to plan the median query, the other 20 µs and 44 ms. Without Spark's planning between them, conversions spend two thirds of that time in
Python: the planner displaces what is in the processor's caches. Reading is the walk, compression and py4j's way there and back.
Compiled modules (below) take the Python part down.

The slowest queries by this measure are those whose plans are large for the time that Spark takes to plan them. Lowered, they have long
alternatives of conditions (13, 48), or averages of decimals and distinct counts in several subqueries (28): forms that grow when they
are lowered.

The first plan loads the reader's classes as Spark's compiler made them of the source (`make classes`); releases of Spark that are not
kept, and vendors' builds, compile the source with Janino, in an interpreter that has yet to warm up: half a second more.
"""
"""What a profile says of the budgets that are not met."""

PROFILE = "The functions in which Python spends most of converting all of TPC-DS; waiting for the JVM is `recv_into`."

USING = """\
Milliseconds to lower canonical plans of TPC-DS for DataFusion, and to make the text, the notebook's view and the snapshot of each.
"""

MEMORY = "What is in use, after garbage collection, after so many conversions in a row, each of another query."

CAPTURE = """\
Each TPC-H query, planned and collected, as it is and within a block of `capture`, by turns. The block's ends are paid once, but for
the plan that is made of each action.
"""

CONNECT = """\
Each TPC-H query over tables of a server on this machine, in a process of its own for each kind of session, after as many rounds. A
classic session analyses a query when its DataFrame is made, and the local planner when it is converted, so that the former is counted
with the conversion.
"""

SCALE = """\
Written by `make scale`: the largest queries that were tried. Each works or ends in a sentence of its own. The time is the fastest
of three conversions, after Spark's planning. The slope is the exponent by which the work of Python's process and of the JVM's
thread that answers it grows from the smaller size. Memory is what Python's process and the JVM's heap, garbage included, took
more at most.
"""


PEER = """\
Written by `make bench PEER=folder`: milliseconds to convert the same optimized plans in one JVM, canonically here, and to a message
by [substrait-java](https://github.com/substrait-io/substrait-java)'s Spark module, compiled Scala inside the JVM; medians over the
queries that both convert.
"""


COMPILED = """\
Written by `make bench COMPILED=yes`: the same conversions with `substrait-spark-compiled`, the companion distribution, whose modules mypyc
has compiled. The plans have the same bytes.
"""

FUNCTIONS = """\
A query that calls one function in Python, which adds 1, or sums up a group, and sums up its results: in Spark, and its plan in DataFusion, which
calls the function in the benchmark's own process. The least seconds by the clock of {rounds} rounds, on {rows:,} rows ({date}, Spark {spark}).
"""


def page(
    newest: dict[str, Any],
    history: list[dict[str, Any]],
    scale: dict[str, Any] | None,
    peer: dict[str, Any] | None,
    functions: dict[str, Any] | None = None,
    compiled: dict[str, Any] | None = None,
) -> str:
    """The Markdown page: the newest results in full, those before in one line each, and what runs of other kinds came to."""
    lines = [
        *("---", "search:", "  exclude: true", "---", ""),  # guides are what a search is to find
        "# Benchmark",
        "",
        "Written by `make bench`; the numbers are those of one run on one machine, to be compared within it.",
        "",
        f"{newest['date']}, substrait_spark {newest['version']}, Spark {newest['spark']}, Python {newest['python']}, {newest['machine']}.",
        "",
        "## Budgets",
        "",
        "| | measured | budget |",
        "|---|---|---|",
        *_budgets(newest),
        "",
        SHORTFALL.strip(),
    ]
    for name, title in TITLES.items():
        for dialect, found in newest["queries"][name].items():
            lines += ["", f"## {title}, {DIALECTS[dialect]}", "", *_stages(found)]
    lines += ["", "## Profile", "", PROFILE]
    for dialect, found in newest["queries"]["tpcds"].items():
        lines += ["", f"### {DIALECTS[dialect].capitalize()}", "", *_functions(found["functions"])]
    lines += _of_other_kinds(peer, compiled)
    if "using" in newest:  # which is measured since 2026-11-24
        lines += ["", "## Using a plan", "", USING.strip(), "", *_used(newest["using"])]
    lines += ["", "## Growth", "", "![Seconds by size](images/benchmark.svg)", "", *_growth(newest["scaling"])]
    lines += ["", "## Captured actions", "", CAPTURE.strip(), "", *_captured(newest["capture"])]
    if "connect" in newest:  # which is measured since 2026-11-24
        lines += ["", "## Spark Connect", "", CONNECT.strip(), "", *_connected(newest["connect"])]
    lines += ["", "## Memory", "", MEMORY, "", *_memory(newest["memory"])]
    if functions is not None:
        lines += ["", "## Users' own functions", "", FUNCTIONS.format(**functions).strip(), "", *_own(functions)]
    if scale is not None:
        lines += ["", "## Scale", "", SCALE.strip(), "", *_scale(scale), "", *_threads(scale["threads"])]
        lines += [f"\n{remark}" for remark in scale.get("remarks", ())]  # by hand, on what a run met
    if history:
        columns = [f"{dialect}, {which}" for dialect in DIALECTS for which in ("median", "slowest")]
        lines += ["", "## Before", "", f"| date | version | {' | '.join(columns)} |", "|---" * (2 + len(columns)) + "|"]
        lines += [_earlier(result) for result in reversed(history)]
    return "\n".join(lines) + "\n"


def _of_other_kinds(peer: dict[str, Any] | None, compiled: dict[str, Any] | None) -> list[str]:
    """The same conversions in runs of their own."""
    lines = []
    if compiled is not None:
        lines += ["", "## With compiled modules", "", COMPILED.strip(), "", *_compiled(compiled)]
    if peer is not None:
        lines += ["", "## Beside substrait-java", "", PEER.strip(), "", *_beside(peer)]
    return lines


def _compiled(result: dict[str, Any]) -> list[str]:
    lines = [
        circumstances(result),
        "",
        "| | planning, ms | total, ms | total by planning, median | most |",
        "|---|---|---|---|---|",
    ]
    for name, title in TITLES.items():
        for dialect, found in result["queries"][name].items():
            summary = found["summary"]
            times = " | ".join(f"{1000 * summary[column]['median']:.2f}" for column in ("planning", "total"))
            ratio = summary["ratio"]
            lines.append(f"| {title}, {DIALECTS[dialect]} | {times} | {ratio['median']:.1%} | {ratio['most']:.1%} |")
    return lines


def _own(result: dict[str, Any]) -> list[str]:
    lines = ["| evaluated as | DataFusion, s | Spark, s | DataFusion by Spark |", "|---" * 4 + "|"]
    for name, seconds in result["functions"].items():
        ours, theirs = seconds["DataFusion"], seconds["Spark"]
        lines.append(f"| {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |")
    return lines


def _budgets(result: dict[str, Any]) -> list[str]:
    ratios = {dialect: found["summary"]["ratio"] for dialect, found in result["queries"]["tpcds"].items()}
    summary = result["queries"]["tpcds"]["canonical"]["summary"]
    steepest = max(axis["slope"] for axis in result["scaling"].values())
    return [
        *(
            f"| conversion by planning, TPC-DS, {DIALECTS[dialect]}, {which} | {ratio[key]:.1%} | {RATIOS[dialect][key]:.0%} |"
            for dialect, ratio in ratios.items()
            for which, key in (("median", "median"), ("slowest", "most"))
        ),
        *(
            f"| {title} | {summary[part]['median'] * unit:.2f} {name} | {budget} {name} |"
            for part, (title, unit, name, budget) in PARTS.items()
            if part in summary  # since 2026-11-25
        ),
        f"| first plan of a session, more than the second | {result['first plan']:.2f} s | {BUDGETS['first plan']} s |",
        f"| import, more than PySpark's | {result['import']:.3f} s | {BUDGETS['import']} s |",
        *(
            f"| conversion in Spark Connect, more than in a classic session, {which} | {result['connect']['more'][key]:.3f} s | {BUDGETS['connect']} s |"
            for which, key in (("median", "median"), ("slowest", "most"))
            if "connect" in result
        ),
        f"| steepest slope | {steepest:.2f} | {BUDGETS['slope']} |",
    ]


def _stages(benchmark: dict[str, Any]) -> list[str]:
    summary = benchmark["summary"]
    lines = ["| ms | median | 90th percentile | most |", "|---|---|---|---|"]
    for column in ("planning", *STAGES, "total"):
        if column not in summary:  # before there was lowering
            continue
        values = " | ".join(f"{1000 * summary[column][key]:.2f}" for key in ("median", "ninetieth", "most"))
        lines.append(f"| {column} | {values} |")
    ratios = " | ".join(f"{summary['ratio'][key]:.1%}" for key in ("median", "ninetieth", "most"))
    lines.append(f"| total by planning | {ratios} |")
    if "found again" in summary:  # which is measured since 2026-11-28
        again = " | ".join(f"{1000 * summary['found again'][key]:.2f}" for key in ("median", "ninetieth", "most"))
        lines.append(f"| the same query once more, found among the recent | {again} |")
    return lines


def _functions(shares: dict[str, float]) -> list[str]:
    return [
        "| function | of its own |",
        "|---|---|",
        *(f"| `{name}` | {share:.1%} |" for name, share in shares.items()),
    ]


def _beside(found: dict[str, Any]) -> list[str]:
    lines = [
        circumstances(found),
        "",
        "| | queries | both convert | planning | here | by planning | substrait-java | by planning |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, title in TITLES.items():
        each = found["queries"][name]
        ways = " | ".join(f"{1000 * each[way]:.2f} | {each[f'{way} by planning']:.1%}" for way in ("ours", "peer"))
        lines.append(f"| {title} | {each['queries']} | {each['both']} | {1000 * each['planning']:.2f} | {ways} |")
    return lines + ([f"\n{found['remark']}"] if "remark" in found else [])  # by hand, on what was compared


def _used(queries: dict[str, dict[str, float]]) -> list[str]:
    uses = [name for name in next(iter(queries.values())) if name != "bytes"]
    lines = [f"| | bytes | {' | '.join(uses)} |", "|---" * (len(uses) + 2) + "|"]
    for name, found in queries.items():
        times = " | ".join(f"{1000 * found[use]:.1f}" for use in uses)
        lines.append(f"| {name} | {found['bytes']:,} | {times} |")
    return lines


def _growth(scaling: dict[str, Any]) -> list[str]:
    lines = ["| axis | sizes and milliseconds | slope |", "|---|---|---|"]
    for name, axis in scaling.items():
        times = ", ".join(f"{int(size):,}: {1000 * seconds:.1f}" for size, seconds in axis["seconds"].items())
        lines.append(f"| {name} | {times} | {axis['slope']:.2f} |")
    return lines


def _memory(memory: dict[str, dict[str, float]]) -> list[str]:
    names = list(next(iter(memory.values())))
    lines = [f"| conversions | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for conversions, used in memory.items():
        values = " | ".join(f"{used[name]:,.0f}" for name in names)
        lines.append(f"| {int(conversions):,} | {values} |")
    return lines


def _captured(found: dict[str, Any]) -> list[str]:
    lines = ["| ms | median | 90th percentile | most |", "|---|---|---|---|"]
    for column in COLUMNS:
        values = " | ".join(f"{1000 * found[column][key]:.1f}" for key in ("median", "ninetieth", "most"))
        lines.append(f"| {_CAPTURED[column]} | {values} |")
    ratios = " | ".join(f"{found['ratio'][key]:.1%}" for key in ("median", "ninetieth", "most"))
    lines.append(f"| captured by as it is | {ratios} |")
    return [*lines, "", found["remark"]] if "remark" in found else lines  # by hand, on how a run was made


def _connected(found: dict[str, Any]) -> list[str]:
    lines = ["| ms | median | 90th percentile | most |", "|---|---|---|---|"]
    for column, name in _CONNECTED.items():
        values = " | ".join(f"{1000 * found[column][key]:.1f}" for key in ("median", "ninetieth", "most"))
        lines.append(f"| {name} | {values} |")
    requests = found["requests"]
    asked = (
        f"A conversion asks the server {requests['known']} times, {requests['new']} times where its table is new, "
        f"and {requests['two new']} times where it has two new ones: one describes each, two tell of all together their "
        "columns and sizes."
    )
    return [*lines, "", asked, *(["", found["remark"]] if "remark" in found else [])]  # by hand, on how a run was made


_CONNECTED = {
    "classic": "analysis and conversion in a classic session",
    "connect": "conversion in a session of Spark Connect",
    "more": "the difference, of each query",
}

_CAPTURED = {
    "begin": "beginning the block",
    "as it is": "the action as it is",
    "captured": "the action captured",
    "end": "ending the block, with one plan",
}


def _scale(found: dict[str, Any]) -> list[str]:
    lines = [
        circumstances(found),
        "",
        "| | planning, s | conversion, s | slope | plan, MB | Python, MB | JVM, MB | outcome |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, size in found["sizes"].items():
        numbers = [
            f"{size[key]:,.{digits}f}" if key in size else ""
            for key, digits in (
                ("planning", 1),
                ("seconds", 2),
                ("slope", 2),
                ("plan, MB", 1),
                ("Python, MB", 0),
                ("JVM, MB", 0),
            )
        ]
        slope = f"{numbers[2]} from {size['smaller']:,}" if numbers[2] else ""
        lines.append(
            f"| {size['size']:,} {name} | {' | '.join((*numbers[:2], slope, *numbers[3:]))} | {size['outcome']} |"
        )
    return lines


def _threads(found: dict[str, Any]) -> list[str]:
    errors = "; ".join(found["errors"]) or "none"
    made = f"{found['conversions']:,} conversions in {found['threads']} threads for {found['minutes']:g} minutes"
    return [
        f"{made}: {found['other than alone']} other than those made alone; errors: {errors}.",
        "",
        *_memory({"0": found["before"], str(found["conversions"]): found["after"]}),
    ]


def _earlier(result: dict[str, Any]) -> str:
    found = [result["ratios"].get(dialect) for dialect in DIALECTS]
    ratios = [f"{each[key]:.1%}" if each else "" for each in found for key in ("median", "most")]
    return f"| {result['date']} | {result['version']} | {' | '.join(ratios)} |"


def plot(result: dict[str, Any], path: Path) -> None:
    """Seconds over size, log-log, a line for each axis with its slope."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "substrait_spark"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, axis in result["scaling"].items():
        sizes = [int(size) for size in axis["seconds"]]
        axes.loglog(sizes, list(axis["seconds"].values()), marker="o", label=f"{name}, slope {axis['slope']:.2f}")
    axes.set(xlabel="size", ylabel="seconds", title="Time of a conversion")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def keep(result: dict[str, Any], newest: Path, history: Path) -> None:
    """Keep a run's figures as the newest, and of the one before what a line of the page says."""
    if newest.is_file():
        before = json.loads(newest.read_text("utf-8"))
        entries = json.loads(history.read_text("utf-8")) if history.is_file() else []
        entries = [entry for entry in entries if entry["date"] != before["date"]] + [_line(before)]
        history.write_text("[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n", "utf-8")
    write(result, newest)


def write(result: dict[str, Any], path: Path) -> None:
    """Keep a run's figures, without those of each query, of which the page says nothing."""
    for benchmark in result["queries"].values():
        for found in benchmark.values():
            found.pop("queries", None)
    lines = [f"{json.dumps(name)}: {json.dumps(_short(value))}" for name, value in result.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _line(result: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an earlier run."""
    ratios = {
        dialect: {key: found["summary"]["ratio"][key] for key in ("median", "most")}
        for dialect, found in result["queries"]["tpcds"].items()
    }
    return {"date": result["date"], "version": result["version"], "ratios": ratios}


def _short(value: Any) -> Any:
    """A value whose floating-point numbers have four digits."""
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def load(newest: Path, history: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The newest run, and those before, the oldest first."""
    return json.loads(newest.read_text("utf-8")), json.loads(history.read_text("utf-8"))
