"""Recursion without Python's stack: generators that yield the generators whose results they need."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

Steps = Generator["Steps[Any]", Any, T]
"""What returns a T in the end, and on the way yields others like it and is sent what they return."""


def run(steps: Steps[T]) -> T:
    """What the generator returns, however deep those that it waits for are nested."""
    waiting: list[Steps[Any]] = [steps]
    result: Any = None
    while waiting:
        try:
            needed = waiting[-1].send(result)
        except StopIteration as finished:
            waiting.pop()
            result = finished.value
        else:
            waiting.append(needed)
            result = None
    return result  # type: ignore[no-any-return]


def in_turn(steps: Iterable[Steps[T]]) -> Steps[list[T]]:
    """What each of several generators returns."""
    results: list[T] = []
    for each in steps:
        results.append((yield each))  # noqa: PERF401 - a comprehension can't wait
    return results


def done(value: T) -> Steps[T]:
    """A value that needs no steps."""
    return value
    yield
