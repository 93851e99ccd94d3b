"""Whether the slow tests run, too: `pytest --slow`, as continuous integration has it.

Slow are tests with the mark `slow`, which take long beside what they can find: those that start other programs, and those that
try what others show over more queries. A few tests go over more queries themselves where slow ones are asked for.
"""

from __future__ import annotations

import os

_VARIABLE = "SUBSTRAIT_SPARK_SLOW_TESTS"


def ask() -> None:
    """Have this process, and those that it starts, run them."""
    os.environ[_VARIABLE] = "1"


def asked() -> bool:
    """Whether they run."""
    return _VARIABLE in os.environ
