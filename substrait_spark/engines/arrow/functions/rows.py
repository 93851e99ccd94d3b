"""Functions that are computed row by row, from Python's values to Python's values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from ..function import Compute, PythonFunction, Signature

Function = Callable[..., Any]


def of_rows(function: Function) -> PythonFunction:
    """A function of the values of a row, null where one of these is null."""
    return of_all_rows(lambda *values: None if None in values else function(*values))


def of_all_rows(function: Function) -> PythonFunction:
    """A function of the values of a row, nulls among them."""
    return of_typed_rows(lambda _: function)


def of_typed_rows(made: Callable[[Signature], Function]) -> PythonFunction:
    """A function of the values of a row that hangs on the types of a call, or on its options; nulls are among the values."""

    def compute(signature: Signature) -> Compute:
        function, result = made(signature), signature.arrow_result
        return lambda arrays, rows: pa.array(_results(function, arrays), result)

    return PythonFunction(compute)


def _results(function: Function, arrays: Sequence[pa.Array]) -> Iterable[Any]:
    return map(function, *(array.to_pylist() for array in arrays))


def or_null(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with null where it raises ValueError."""

    def call(*values: Any) -> Any:
        try:
            return function(*values)
        except ValueError:
            return None

    return call
