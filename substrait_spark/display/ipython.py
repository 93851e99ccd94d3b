"""How IPython and Jupyter show a plan that is the value of a cell."""

from __future__ import annotations

from typing import Any

from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from ..explain import explain
from . import to_html

SHOWN = (Plan, ExtendedExpression)
"""The messages that show themselves."""


def register(shell: Any) -> None:
    """Let plans show themselves: as HTML in notebooks, as text in terminals."""
    formatters = shell.display_formatter.formatters
    for kind in SHOWN:
        formatters["text/html"].for_type(kind, to_html)
        formatters["text/plain"].for_type(kind, _print)


def unregister(shell: Any) -> None:
    """Let plans show as protobuf messages again."""
    formatters = shell.display_formatter.formatters
    for kind in SHOWN:
        formatters["text/html"].pop(kind, None)
        formatters["text/plain"].pop(kind, None)


def _print(plan: Plan | ExtendedExpression, printer: Any, cycle: bool) -> None:
    printer.text(explain(plan))
