"""`null_filters_estimated`: DataFusion takes a filter by IS NOT NULL to keep a fifth of the rows, and builds on the larger input.

    EXPLAIN SELECT 1 FROM (SELECT x FROM (VALUES (1), (2), (3), (4), (NULL)) t(x) WHERE x IS NOT NULL)
    JOIN (VALUES (1), (2)) u(y) ON x = y   -- a hash table of x

Spark writes such conditions below its joins and beside its comparisons, where they drop what no comparison would keep. So
those are left out that drop no row of the result, unless what may raise would then be evaluated for more rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ....algebra.expression import Cast, Expression, ScalarFunction, SingularOrList
from ....algebra.feature import NOT_DETERMINISTIC, WINDOW_FUNCTION
from ....algebra.relation import Filter, Join, Project, Relation
from ....algebra.traversal import conjuncts, inputs_first, is_column
from ....lowering.builder import LoweringBuilder

Columns = frozenset[int]
NONE: Columns = frozenset()

STRICT = frozenset(
    (
        "add",
        "contains",
        "ends_with",
        "equal",
        "gt",
        "gte",
        "like",
        "lt",
        "lte",
        "multiply",
        "not",
        "starts_with",
        "subtract",
    )
)
"""Functions that are null where an argument is, of those that conditions are made of."""

REJECTING_LEFT = ("INNER", "RIGHT", "LEFT_SEMI")
REJECTING_RIGHT = ("INNER", "LEFT", "LEFT_SEMI", "LEFT_ANTI")
"""Joins that use a row of that side only where the condition holds: a null for which it can't hold drops the row."""

KEPT_LEFT = ("INNER", "LEFT", "LEFT_SEMI", "LEFT_ANTI", "LEFT_MARK")
KEPT_RIGHT = ("INNER", "RIGHT")
"""Joins that pass the columns of that side on as they are: if what is above drops rows with nulls in one of these columns, it drops
all rows that came of such a row, so that an IS NOT NULL below is redundant."""


class Asked(NamedTuple):
    """The conditions of a filter or a join."""

    parts: Sequence[Expression]
    """The conditions, all of which must hold."""
    tested: Columns
    """The columns of which a condition is IS NOT NULL itself."""
    rejected: Columns
    """The columns whose NULL makes one of the other conditions false or null."""


NOTHING = Asked((), NONE, NONE)


def without_implied(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with no IS NOT NULL of a column whose nulls are dropped anyway."""
    order = list(inputs_first(root))
    asked: dict[Relation, Asked] = {
        relation: _asked(relation) for relation in order if isinstance(relation, Filter | Join)
    }
    if not any(asked[relation].tested for relation in asked if isinstance(relation, Filter)):
        return root
    dropped = _dropped(order, asked)
    made: dict[Relation, Relation] = {}
    for relation in order:
        inputs = tuple([made[input] for input in relation.inputs])
        over = relation.with_inputs(inputs)
        if isinstance(over, Filter):
            over = _filtered_by_less(e, over, asked[relation], dropped[relation])
        made[relation] = over
    return made[root]


def _asked(relation: Filter | Join) -> Asked:
    parts = conjuncts(relation.condition)
    tested = frozenset(column for column in map(_tested, parts) if column is not None)
    return Asked(parts, tested, _rejected(parts))


def _tested(condition: Expression) -> int | None:
    """The column of a condition that is just `column IS NOT NULL`; None of other conditions."""
    if isinstance(condition, ScalarFunction) and condition.declaration.name == "is_not_null":
        (value,) = condition.children()
        return value.ordinal if is_column(value) else None
    return None


def _dropped(order: Sequence[Relation], asked: Mapping[Relation, Asked]) -> dict[Relation, Columns]:
    """For each relation of a plan, inputs first, the columns whose nulls are dropped by all that reads it."""
    dropped: dict[Relation, Columns] = {order[-1]: NONE}
    for relation in reversed(order):
        of_inputs = _dropped_of_inputs(relation, asked.get(relation, NOTHING), dropped[relation])
        for input, columns in zip(relation.inputs, of_inputs, strict=True):
            dropped[input] = dropped.get(input, columns) & columns
    return dropped


def _dropped_of_inputs(relation: Relation, asked: Asked, above: Columns) -> Sequence[Columns]:
    """For each input, the columns whose nulls this relation drops; and those that relations above drop, where it passes them on."""
    form = FORMS.get(type(relation))
    if form is None or not all(map(_is_of_its_row, relation.expressions())):
        return [NONE] * len(relation.inputs)
    own = frozenset(relation.emitted[n] for n in above)
    return form(relation, asked, own)


def _is_of_its_row(expression: Expression) -> bool:
    """Whether an expression has a value for each row that no other row changes, and never raises."""
    return not expression.raises and not expression.features & (NOT_DETERMINISTIC | WINDOW_FUNCTION)


def _of_filter(relation: Filter, asked: Asked, own: Columns) -> Sequence[Columns]:
    return [own | asked.rejected | asked.tested]


def _of_project(relation: Project, asked: Asked, own: Columns) -> Sequence[Columns]:
    width = len(relation.inputs[0].types)
    renamed = {n: each.ordinal for n, each in enumerate(relation.computed, width) if is_column(each)}
    return [frozenset(renamed.get(n, n) for n in own if n < width or n in renamed)]


def _of_join(relation: Join, asked: Asked, own: Columns) -> Sequence[Columns]:
    width = len(relation.inputs[0].types)
    left, right = NONE, NONE
    if relation.join_type in KEPT_LEFT:
        left |= {n for n in own if n < width}
    if relation.join_type in KEPT_RIGHT:
        right |= {n - width for n in own if n >= width}
    if relation.join_type in REJECTING_LEFT:
        left |= {n for n in asked.rejected if n < width}
    if relation.join_type in REJECTING_RIGHT:
        right |= {n - width for n in asked.rejected if n >= width}
    return [left, right]


FORMS: Mapping[type[Relation], Callable[[Any, Asked, Columns], Sequence[Columns]]] = {
    Filter: _of_filter,
    Join: _of_join,
    Project: _of_project,
}
"""Of relations that may pass on whose nulls are dropped above them, given by the columns before their emit."""


def _filtered_by_less(e: LoweringBuilder, relation: Filter, asked: Asked, above: Columns) -> Relation:
    """A filter without the tests that are redundant; its input where no other condition is left."""
    if not asked.tested or not all(map(_is_of_its_row, asked.parts)):
        return relation
    own = frozenset(relation.emitted[n] for n in above)
    implied = own | asked.rejected
    kept = [part for part in asked.parts if _tested(part) not in implied]
    if len(kept) == len(asked.parts):
        return relation
    (input,) = relation.inputs
    made = relation.with_all_columns().over((input,), [e.over(input).conjunction(kept)]) if kept else input
    return made.emitting_as(relation)


def _rejected(parts: Iterable[Expression]) -> Columns:
    """The columns whose NULL makes one of some conditions false or null."""
    rejected: set[int] = set()
    for part in parts:
        if isinstance(part, ScalarFunction) and part.declaration.name == "or":
            rejected |= frozenset.intersection(*(_of_conjuncts(operand) for operand in part.children()))
        else:
            rejected |= _strictly_used(part)
    return frozenset(rejected)


def _of_conjuncts(condition: Expression) -> Columns:
    return frozenset(column for part in conjuncts(condition) for column in _strictly_used(part))


def _strictly_used(condition: Expression) -> Columns:
    """The columns whose NULL makes a comparison null."""
    used: set[int] = set()
    stack = [condition]
    while stack:
        part = stack.pop()
        if is_column(part):
            used.add(part.ordinal)
        elif isinstance(part, Cast):
            stack.append(part.input)
        elif isinstance(part, SingularOrList):
            stack.append(part.value)
        elif isinstance(part, ScalarFunction) and part.declaration.name in STRICT:
            stack.extend(part.children())
    return frozenset(used)
