"""Casts: Spark's own, in ANSI mode where a failure is an error, in TRY mode where it gives null.

The specification leaves open how values read as text, and how casts round: Spark's ways are taken, with the time zone UTC.
"""

from __future__ import annotations

from ...algebra.expression import Cast
from ...errors import Unsupported
from .builder import Builder
from .document import Node

_LIMITED = ("varchar", "fixedchar", "fixedbinary")


def cast(builder: Builder, input: Node, expression: Cast) -> Node:
    """The cast of an input that is written already."""
    source, target = expression.input.type, expression.type
    if target.kind in _LIMITED and not (source.kind == target.kind and source.parameters[0] <= target.parameters[0]):
        raise Unsupported(f"what a cast of {source} to {target} does with longer values is not said, and it is not run")
    return builder.cast(input, target, "ANSI" if expression.throws else "TRY")
