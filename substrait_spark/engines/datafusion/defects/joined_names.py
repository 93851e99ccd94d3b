"""`filters_go_by_name`: DataFusion moves a filter into an input of a join that has a column of that name.

    WITH t(x) AS (VALUES (1)) SELECT r.x AS y FROM t l RIGHT JOIN (SELECT x FROM t WHERE x > 0) r ON l.x = r.x + 1 WHERE l.x IS NULL
    -- no row, and 1 is right

The filter is on a column of the side that is null in rows without a match, and lands in the other side. A filter that DataFusion
makes of the keys of a join, as it runs, lands in another column of that name below a group of the rows of a join, of any kind
(https://github.com/apache/datafusion/issues/25264). So a column of one side is computed anew if the other side may have one of its name:
by a condition that always holds, with a number that makes its text, which becomes the name, unlike any other. DataFusion computes the
condition as it plans, and keeps the name.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....algebra.expression import Cast, Expression, FieldReference, ScalarFunction
from ....algebra.feature import JOIN
from ....algebra.relation import Aggregate, Cross, Join, Project, Read, Relation, Set, Window
from ....algebra.traversal import columns, inputs_first
from ....algebra.types import column_names
from ....lowering.builder import LoweringBuilder

RENAMED_SIDE = {"INNER": 1, "LEFT": 1, "OUTER": 1, "RIGHT": 0}
"""The side of a join, left or right, whose columns get names of their own: one that is null in rows without a match, or else any."""


class Named(NamedTuple):
    """A relation, and for each of its columns what decides its name: two columns can only have the same name if that is equal."""

    relation: Relation
    names: list[Hashable]


def with_different_names(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with columns of different names in both inputs of joins that have the columns of both."""
    if not root.features & JOIN:
        return root
    numbers = itertools.count(1)
    done: dict[Relation, Named] = {}
    for relation in inputs_first(root):
        inputs = [done[input] for input in relation.inputs]
        side = _renamed_side(relation)
        if side is not None:
            inputs[side] = _named_apart(e, inputs[side], set(inputs[1 - side].names), numbers)
        if any(new.relation is not old for new, old in zip(inputs, relation.inputs, strict=True)):
            made = relation.with_inputs(tuple([input.relation for input in inputs]))
        else:
            made = relation
        done[relation] = Named(made, _names(relation, [input.names for input in inputs]))
    return done[root].relation


def _renamed_side(relation: Relation) -> int | None:
    if isinstance(relation, Cross):
        return 1
    return RENAMED_SIDE.get(relation.join_type) if isinstance(relation, Join) else None


def _named_apart(e: LoweringBuilder, input: Named, others: set[Hashable], numbers: Iterator[int]) -> Named:
    """A relation over this one whose columns have new names where they could have those of the other side."""
    if others.isdisjoint(input.names):
        return input
    kept: list[Expression] = [FieldReference(n, type) for n, type in enumerate(input.relation.types)]
    names = list(input.names)
    for n, name in enumerate(input.names):
        if name in others:
            number = e.i64(next(numbers))
            kept[n] = e.if_then(e.equal(number, number), kept[n], kept[n])
            names[n] = object()
    return Named(columns(input.relation, kept), names)


def _names(relation: Relation, below: Sequence[list[Hashable]]) -> list[Hashable]:
    """What decides the name of each of a relation's columns, given the same of its inputs' columns."""
    own = NAMES.get(type(relation), _passed_names)(relation, below)
    return [own[n] if n < len(own) else relation.NAME for n in relation.emitted]


def _passed_names(relation: Relation, below: Sequence[list[Hashable]]) -> list[Hashable]:
    if isinstance(relation, Read):
        return list(column_names(relation.schema, relation.names))
    return relation.passed(below)


def _project_names(relation: Project, below: Sequence[list[Hashable]]) -> list[Hashable]:
    return below[0] + [_text(each, below[0]) for each in relation.computed]


def _aggregate_names(relation: Aggregate, below: Sequence[list[Hashable]]) -> list[Hashable]:
    keys = [_text(key, below[0]) for key in relation.groupings]
    return keys + [measure.declaration.name for measure in relation.measures]


def _window_names(relation: Window, below: Sequence[list[Hashable]]) -> list[Hashable]:
    return below[0] + [call.declaration.name for call in relation.calls]


def _set_names(relation: Set, below: Sequence[list[Hashable]]) -> list[Hashable]:
    return below[0]


NAMES: Mapping[type[Relation], Callable[[Any, Sequence[list[Hashable]]], list[Hashable]]] = {
    Aggregate: _aggregate_names,
    Project: _project_names,
    Set: _set_names,
    Window: _window_names,
}
"""Relations whose columns' names are not just those of their inputs' columns."""


def _text(expression: Expression, names: Sequence[Hashable]) -> Hashable:
    """What decides the text of an expression, which DataFusion names it by: casts don't show in it, a function's name does."""
    while isinstance(expression, Cast):
        expression = expression.input
    if isinstance(expression, FieldReference) and not expression.path and not expression.outer:
        return names[expression.ordinal]
    return expression.declaration.name if isinstance(expression, ScalarFunction) else expression.NAME
