"""How IPython and Jupyter show a plan that is the value of a cell."""

from __future__ import annotations

from typing import Any

from substrait.plan_pb2 import Plan

from ..explain import explain
from . import to_html


def register(shell: Any) -> None:
    """Let plans show themselves: as HTML in notebooks, as text in terminals."""
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(Plan, to_html)
    formatters["text/plain"].for_type(Plan, _print)


def unregister(shell: Any) -> None:
    """Let plans show as protobuf messages again."""
    formatters = shell.display_formatter.formatters
    formatters["text/html"].pop(Plan, None)
    formatters["text/plain"].pop(Plan, None)


def _print(plan: Plan, printer: Any, cycle: bool) -> None:
    printer.text(explain(plan))
