"""The page on a measurement: what was tried, what differed and how, the smallest case first, and what TPC-H would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ...errors.quotation import printable
from .findings import Findings, Tried
from .judging import ENDED, EXACT, HUNG, REFUSED, WRONG
from .tpch import Lacking

SECTIONS = {
    "types": "Types",
    "relations": "Relations",
    "abilities": "Abilities",
    "expressions": "Expressions",
    "depth": "Depth",
    "defects": "Known defects",
    "casts": "Casts",
    "scalar": "Scalar functions",
    "aggregate": "Aggregate functions",
    "window": "Window functions",
}

SAID = {
    ENDED: "End the process",
    HUNG: "Have no answer in time",
    WRONG: "Have other rows than Spark, or some where Spark raises",
    REFUSED: "Are not taken",
}
"""What differs, the worst first."""

Block = tuple[str, str]
"""A kind of block, and its text: `h1`, `h2`, `p`, `pre`, `row`, `li`."""


def markdown(name: str, findings: Findings, of_tpch: Lacking | None) -> str:
    """The page in Markdown."""
    lines: list[str] = []
    for kind, text in blocks(name, findings, of_tpch):
        if kind == "pre":
            lines += ["", "  ```text", *(f"  {line}" for line in text.splitlines()), "  ```"]
        elif kind in ("row", "li"):
            lines.append(f"{'- ' if kind == 'li' else ''}{text}")
        else:
            lines += ["", f"{'#' * int(kind[1])} {text}" if kind[0] == "h" else text, ""]
    return "\n".join(lines).strip() + "\n"


def html(name: str, findings: Findings, of_tpch: Lacking | None) -> str:
    """The page in HTML, which needs nothing else."""
    parts = [f"<!doctype html><meta charset='utf-8'><title>{escape(name)}, measured</title><style>{STYLE}</style>"]
    table: list[str] = []
    for kind, text in blocks(name, findings, of_tpch):
        if kind == "row":
            table.append(text)
            continue
        if table:
            parts.append(_table(table))
            table = []
        parts.append(f"<{kind}>{escape(text)}</{kind}>")
    return "\n".join([*parts, ""])


def _table(rows: Sequence[str]) -> str:
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if not row.startswith("|--")]
    return f"<table>{''.join('<tr>' + ''.join(f'<td>{escape(cell)}</td>' for cell in row) + '</tr>' for row in cells)}</table>"


STYLE = "body{font:14px sans-serif;max-width:70em;margin:2em auto}pre{background:#f4f4f4;padding:.5em;overflow:auto}td{padding:.1em .8em}"


def blocks(name: str, findings: Findings, of_tpch: Lacking | None) -> Iterator[Block]:
    """What the page says."""
    yield "h1", f"{name}, measured"
    exact = sum(each.is_exact for each in findings.tried)
    yield (
        "p",
        (
            f"Of {len(findings.tried):,} small plans, {exact:,} have Spark's rows, or an error where Spark raises. The dialect file has "
            "what is so in all that was tried of it."
        ),
    )
    yield from _counts(findings)
    if of_tpch is not None:
        yield from _queries(of_tpch)
    for verdict, said in SAID.items():
        tried = sorted((each for each in findings.tried if each.outcome.verdict == verdict), key=_size)
        if tried:
            yield "h2", f"{said}: {len(tried):,}"
            yield from _refused(tried) if verdict == REFUSED else _different(tried)


def _counts(findings: Findings) -> Iterator[Block]:
    yield "row", f"| | tried | as in Spark | {' | '.join(SAID[each].lower() for each in SAID)} |"
    yield "row", f"|---|{'---|' * (2 + len(SAID))}"
    for section, title in SECTIONS.items():
        verdicts = [each.outcome.verdict for each in findings.tried if each.case.subject.section == section]
        if verdicts:
            counts = [len(verdicts), *(verdicts.count(each) for each in (EXACT, *SAID))]
            yield "row", f"| {title} | {' | '.join(map(str, counts))} |"


def _queries(of_tpch: Lacking) -> Iterator[Block]:
    yield "h2", "What it would take to run TPC-H"
    planned = of_tpch.queries - len(of_tpch.refused)
    yield "p", f"Of {of_tpch.queries} queries, {planned} have a plan in the forms of the dialect file."
    for reason, numbers in of_tpch.by_reason.items():
        yield (
            "li",
            f"{_code(printable(reason))}: {'query' if len(numbers) == 1 else 'queries'} {', '.join(map(str, numbers))}",
        )


def _size(tried: Tried) -> tuple[int, str]:
    return len(tried.case.plan().SerializeToString()), tried.case.name


def _different(tried: Sequence[Tried]) -> Iterator[Block]:
    for each in tried:
        yield "li", _code(each.case.name)
        if each.outcome.detail:
            yield "pre", printable(each.outcome.detail, lines=True)


def _refused(tried: Sequence[Tried]) -> Iterator[Block]:
    """What isn't taken, by what the engine says of it."""
    by_error: dict[str, list[str]] = {}
    for each in tried:
        by_error.setdefault(printable(each.outcome.detail)[:ERROR], []).append(each.case.name)
    for error, names in by_error.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield "li", f"{', '.join(map(_code, names[:SHOWN]))}{more}: {_code(error)}"


SHOWN = 3
"""How many cases are named that an engine says the same of."""

ERROR = 160
"""How many characters of an error are shown in a list."""


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"
