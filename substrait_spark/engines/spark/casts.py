"""Casts: Spark's own, in ANSI mode where a failure is an error, in TRY mode where it gives null.

The specification leaves open how values read as text, and how casts round: Spark's ways are taken, with the time zone UTC.
"""

from __future__ import annotations

from ...algebra.expression import Cast, Literal
from ...errors import Unsupported
from .builder import Builder
from .document import Node

_LIMITED = ("varchar", "fixedchar", "fixedbinary")


def cast(builder: Builder, input: Node, expression: Cast) -> Node:
    """The cast of an input that is written already."""
    source, target = expression.input.type, expression.type
    if target.kind in _LIMITED and not _fits(expression):
        raise Unsupported(f"what a cast of {source} to {target} does with longer values is not said, and it is not run")
    if source.kind == "list" and target.kind == "string":
        # Spark's optimizer takes the text of several joined lists for the texts of each, joined (CombineConcats).
        input = builder.document.new("KnownFloatingPointNormalized", input)
    return builder.cast(input, target, "ANSI" if expression.throws else "TRY")


def _fits(expression: Cast) -> bool:
    """Whether no value is longer than the type that it is cast to says, or shorter where it says how long each is."""
    source, target = expression.input.type, expression.type
    if isinstance(expression.input, Literal) and isinstance(expression.input.value, str | bytes):
        length = len(expression.input.value)
    elif source.kind in _LIMITED:
        length = source.parameters[0]
    else:
        return False
    limit: int = target.parameters[0]
    return length <= limit if target.kind == "varchar" else length == limit
