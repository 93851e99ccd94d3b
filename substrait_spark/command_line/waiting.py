"""Saying on stderr what the command is waiting for, once that takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

PATIENCE = 1.0
"""Seconds without a word."""


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Within it something may take long: `waiting("starting Spark")`."""
    timer = threading.Timer(PATIENCE, lambda: click.echo(f"substrait-spark: {what} …", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
