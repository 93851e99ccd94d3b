"""`narrows_filters_twice`: DataFusion mistakes columns of a filter that it narrows for the second time. This keeps them in their order.

    SELECT x, z FROM (SELECT * FROM (VALUES (1, 2, 3)) t(x, y, z) ORDER BY y LIMIT 1) WHERE x > 0 ORDER BY y
    -- Input field name y does not match with the projection expression z

Its filters pick columns themselves. Where the sort above is dropped, as the rows come sorted, what is picked above it is picked below the
filter: by the numbers that columns have in what the filter gives, not in what it takes. These are the same as long as columns keep
their order, so that another one is made above the sort.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.feature import SORT, SUBQUERY
from ....algebra.relation import Fetch, Filter, Relation, Sort
from ....algebra.traversal import transformed, with_columns_at
from ....lowering.builder import LoweringBuilder


def reordered_above_sorts(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with no filter below a sort whose columns come in another order than its input's."""
    return transformed(root, _reordered_above, feature=SORT)


def _reordered_above(relation: Relation) -> Relation:
    if not isinstance(relation, Sort):
        return relation
    path: list[Relation] = [relation]
    while isinstance(below := path[-1].inputs[0], Filter | Fetch | Sort):
        path.append(below)
    if not any(isinstance(step, Filter) for step in path) or any(step.own_features & SUBQUERY for step in path):
        return relation
    made, places = _in_order(below)
    for step in reversed(path[1:]):
        made, places = _in_order(_over(step, made, places))
    return relation if made is relation.inputs[0] else _over(relation, made, places)


def _in_order(relation: Relation) -> tuple[Relation, Sequence[int]]:
    """A relation with its columns in the order of its own, and where each of those that it had is."""
    order = sorted(range(len(relation.types)), key=relation.emitted.__getitem__)
    places = sorted(order, key=order.__getitem__)
    return relation.select(order), places


def _over(step: Relation, input: Relation, places: Sequence[int]) -> Relation:
    """A relation over the columns of its input at other places."""
    if input is step.inputs[0]:
        return step
    expressions = [with_columns_at(expression, places.__getitem__) for expression in step.expressions()]
    made = step.with_all_columns().over((input,), expressions)
    return made.select([places[n] for n in step.emitted])
