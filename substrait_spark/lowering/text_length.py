"""Text of a stated length, in dialects that have text of any length only.

The length says which values there are, and nothing of what is done with them: a value is the same text in each of these types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Cast, Literal
from ..algebra.relation import Read, Relation
from ..algebra.types import Type
from ..errors import NotInDialect

if TYPE_CHECKING:
    from ..dialects.dialect import Dialect

KINDS = ("varchar", "fixedchar")


def without_length(dialect: Dialect, kind: Type) -> Type:
    """A type that the dialect has: with text of any length in the place of what it lacks, at every level."""
    if not types.holds(kind, KINDS):
        return kind
    if kind.kind in KINDS:
        return kind if dialect.allows_type(kind) else types.of("string", nullable=kind.nullable)
    parts = [without_length(dialect, part) if isinstance(part, Type) else part for part in kind.parameters]
    return types.of(kind.kind, *parts, nullable=kind.nullable)


def read_without_lengths(dialect: Dialect, read: Read) -> Relation:
    """A read whose columns have types of the dialect."""
    if not any(types.holds(kind, KINDS) for kind in set(read.schema)):
        return read
    schema = [without_length(dialect, kind) for kind in read.schema]
    if all(new is old for new, old in zip(schema, read.schema, strict=True)):
        return read
    changed = read.with_schema(read.names, schema)
    return changed.emitting_as(read)


def literal_without_length(dialect: Dialect, literal: Literal) -> Literal:
    kind = without_length(dialect, literal.type)
    return literal if kind is literal.type else Literal(literal.value, kind)


def require_fitting(cast: Cast) -> None:
    """Refuse a cast to text of a stated length that would cut or pad values: how, the specification leaves open."""
    (length,) = cast.type.parameters
    longest = _longest(cast)
    fits = longest is not None and (longest <= length if cast.type.kind == "varchar" else longest == length)
    if not fits:
        raise NotInDialect(
            f"a cast of {cast.input.type} to {cast.type} may cut or pad text, which the specification does not define",
            "Cast to text of any length.",
        )


def _longest(cast: Cast) -> int | None:
    """The most characters that the text of a cast can have; None where its type doesn't say."""
    if isinstance(cast.input, Literal) and isinstance(cast.input.value, str):
        return len(cast.input.value)
    return cast.input.type.parameters[0] if cast.input.type.kind in KINDS else None
