"""Whether the slow tests run, too: `pytest --slow`, as continuous integration has it.

Slow are tests with the mark `slow`, which take long beside what they can find: those that start other programs, and those that
try what others show over more queries. A few tests go over more queries, plans or cases themselves where slow ones are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest

_VARIABLE = "SUBSTRAIT_SPARK_SLOW_TESTS"


def ask() -> None:
    """Have this process, and those that it starts, run them."""
    os.environ[_VARIABLE] = "1"


def asked() -> bool:
    """Whether they run."""
    return _VARIABLE in os.environ


def some(values: Iterable[Any], slow: Callable[[Any], bool]) -> list[Any]:
    """Parameters of a test that is slow for some of them."""
    return [pytest.param(value, marks=[pytest.mark.slow] if slow(value) else []) for value in values]
