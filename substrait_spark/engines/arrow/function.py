"""What a function is that Python computes over Arrow, for whatever engine calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from ...algebra.types import Type

Compute = Callable[[Sequence[pa.Array], int], Any]
"""From the arguments as arrays of so many rows to the result: of a scalar function an array of as many rows, of an
aggregate function, which gets all rows of a group at once, one value."""


class Signature(NamedTuple):
    """How a plan calls a function: the types of the arguments and of the result, and the options that it states."""

    name: str
    arguments: tuple[Type, ...]
    result: Type
    arrow_arguments: tuple[pa.DataType, ...]
    arrow_result: pa.DataType
    options: tuple[tuple[str, str], ...] = ()
    constants: tuple[Any, ...] = ()
    """The values of the first arguments, where the function says that these are literals. They are no arrays."""


@dataclass(frozen=True)
class PythonFunction:
    """A function that Python computes. `compute` makes what computes it for one signature, once for each plan.

    `deterministic` functions may be computed once where a plan calls them several times with the same arguments. The result has
    the type `Signature.arrow_result`; `field_names` are the depth-first names of the struct fields in it, where it has other ones than
    an argument of the same type.
    """

    compute: Callable[[Signature], Compute]
    deterministic: bool = True
    field_names: tuple[str | None, ...] = ()
    constants: int = 0
    """How many of the first arguments are literals, which `compute` gets by `Signature.constants` and not as arrays."""


def over_arrays(function: Callable[..., Any]) -> Callable[[Signature], Compute]:
    """What makes `compute` of a function that takes the arrays as its arguments, as those of `pyarrow.compute` do."""
    return lambda signature: lambda arrays, rows: function(*arrays)
