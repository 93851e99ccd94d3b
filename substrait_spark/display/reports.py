"""What `check`, `diff` and `compare` found, as HTML for notebooks: in the page's own colours, and readable without any style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ..bounds import text_of
from ..engines.comparison.result import Comparison
from ..errors import Problem, Report
from ..explain.shown import Difference
from ..quotation import printable

_MARKS = {"-": "rgba(220, 70, 60, 0.18)", "+": "rgba(50, 160, 80, 0.18)"}
"""What is behind lines that only the old plan has, and only the new one; their text keeps the page's colour."""


def report_html(report: Report) -> str:
    """A report: its first lines, then each obstacle with its place, the reason, the SQL and the hint."""
    return text_of(_report(report))


def _report(report: Report) -> Iterator[str]:
    head, _, rest = printable(str(report), lines=True).partition("\n")
    yield f"<div class='substrait-report'><p><b>{escape(head)}</b></p>"
    if report.problems:
        yield "<ol>"
        for problem in report.problems:
            yield f"<li>{'<br>'.join(_problem(problem))}</li>"
        yield "</ol>"
    elif rest:
        yield f"<pre>{escape(rest)}</pre>"
    yield "</div>"


def _problem(problem: Problem) -> Iterator[str]:
    yield f"<b>{_text(problem.catalyst_class)}</b> at {_text(problem.path)}"
    yield _text(problem.reason)
    if problem.sql and problem.sql != problem.catalyst_class:
        yield f"in <code>{_text(problem.sql)}</code>"
    if problem.hint:
        yield f"<i>hint: {_text(problem.hint)}</i>"


def _text(text: str) -> str:
    return escape(printable(text))


def difference_html(difference: Difference) -> str:
    """A difference: its lines, of which those that only one of the plans has are marked."""
    if not difference:
        return f"<p>{escape(repr(difference))}</p>"
    return _marked("substrait-difference", difference.splitlines(), indented=True)


def comparison_html(comparison: Comparison) -> str:
    """A comparison: its first line, then what differs, of which rows of one side alone are marked."""
    head, *lines = str(comparison).splitlines()
    title = f"<p><b>{escape(head)}</b></p>"
    if lines:
        title += _marked("substrait-difference", lines, indented=False)
    return f"<div class='substrait-comparison'>{title}</div>"


def _marked(name: str, lines: Sequence[str], *, indented: bool) -> str:
    shown = text_of(_line(line, indented) for line in lines)
    return f"<pre class='{name}' style='white-space:pre-wrap;overflow-wrap:anywhere'>{shown}</pre>"


def _line(line: str, indented: bool) -> str:
    mark = _MARKS.get(line.lstrip()[:1]) if line.startswith(" ") == indented else None
    shown = escape(line)
    return f"<span style='background:{mark}'>{shown}</span>\n" if mark else f"{shown}\n"
