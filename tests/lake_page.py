"""The part of docs/reference/sources.md that says what lake tables become, and what runs it."""

from __future__ import annotations

from pathlib import Path

from lakes.cases import DELTA_CASES, ICEBERG_CASES, REFUSED, Case, Read

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "sources.md"

BEGIN, END = "<!-- Of tests/lakes/cases.py, by scripts/write_lake_page.py. -->\n", "<!-- The end of it. -->\n"


def table() -> str:
    """The tables of both formats, in Markdown."""
    lines = ["", "| table | query | becomes | in DataFusion |", "|---|---|---|---|"]
    for format, cases in (("Iceberg", ICEBERG_CASES), ("Delta", DELTA_CASES)):
        lines += [
            _line(f"{format}: {case.name}" if n == 0 else "", case, read)
            for case in cases
            for n, read in enumerate(case.reads)
        ]
    return "\n".join([*lines, "", ""])


def _line(name: str, case: Case, read: Read) -> str:
    query = read.sql.format(t="t", v="…", f="/folder/t", p="/folder/p").replace("|", "\\|")
    shown = f"`` {query} ``" if "`" in query else f"`{query}`"
    asked = "" if read.reads == "auto" else f', `reads="{read.reads}"`'
    runs = "" if read.becomes == REFUSED else f"refused: {read.says}" if read.says else "runs"
    becomes = f"refused: {read.says}" if read.becomes == REFUSED else read.becomes
    return f"| {name} | {shown}{asked} | {becomes} | {runs} |"


def written() -> str:
    """The page as it is to be."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]
