"""Intermediate forms: targets of rewrites that are no part of a plan, such as the rows that fulfil several conditions. Lowering makes
them, and turns them into relations and expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..algebra.expression import Expression, SortField, WindowCall
from ..algebra.relation import Relation
from ..algebra.types import Type


class Filtered(NamedTuple):
    """The rows of a relation for which all conditions are true. Rewrites give a relation, or other rows to filter so."""

    input: Relation
    conditions: Sequence[Expression]


class Joined(NamedTuple):
    """The rows of two relations for which all conditions are true. Rewrites give a relation, or others to join so."""

    left: Relation
    right: Relation
    join_type: str
    conditions: Sequence[Expression]


class Windowed(NamedTuple):
    """The columns of a relation, then those of window calls. Rewrites give a relation."""

    input: Relation
    calls: Sequence[WindowCall]
    partition: tuple[Expression, ...]
    sorts: tuple[SortField, ...]


class Conjunction(NamedTuple):
    """The AND of a filter's conditions, which is false where it is null. Rewrites give one expression."""

    conditions: Sequence[Expression]


class Key(NamedTuple):
    """A value that rows are grouped, partitioned or told apart by. Rewrites give the expression to do that by."""

    value: Expression


class Alike(NamedTuple):
    """Values that meet, as in the branches of a choice, and are of one type but for nullability. Rewrites give others such."""

    values: Sequence[Expression]


class Raised(NamedTuple):
    """An error that is raised where it is evaluated, in a type. Rewrites give one expression.

    `witness` is a value of the row, so that engines don't evaluate the expression before they must. A message that begins as
    `plan.unread_values.UNREAD` says that Spark raises nothing there, but has a value that the form around the error doesn't give.
    """

    message: str
    type: Type
    witness: Expression


class Root(NamedTuple):
    """A plan's root with the depth-first names of its columns and of the struct fields in them. Rewrites give a relation."""

    relation: Relation
    names: Sequence[str]


BECOMES: Mapping[type[Any], type[Any]] = {
    Filtered: Relation,
    Joined: Relation,
    Windowed: Relation,
    Conjunction: Expression,
    Key: Expression,
    Raised: Expression,
    Root: Relation,
}
"""What a rewrite may make of a form, if not another of the same kind."""
