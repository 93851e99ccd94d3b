"""Lowering one relation over its lowered inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.relation import Fetch, Filter, Join, Project, Read, Relation, Set, Sort, VirtualTable
from ..algebra.traversal import conjuncts, is_true
from .expression import ExpressionLowering
from .results import lowered_results
from .text_length import read_without_lengths

if TYPE_CHECKING:
    from .lowering import Lowering


def lowered_relation(lowering: Lowering, relation: Relation) -> Relation:
    """The relation in the dialect's forms, with the columns that it had, in types that may differ in nullability."""
    lowering.results.pop(relation, None)
    results = lowered_results(lowering, relation)
    if results is not None and not isinstance(relation, Project):
        lowering.results[relation] = results
    found = results.relation() if results is not None else _lowered(lowering, relation)
    found = lowering.builder(*found.inputs).finished(found)
    if found is not relation and found.place is None:
        found.place = relation.place
    return found


def _lowered(lowering: Lowering, relation: Relation) -> Relation:
    inputs = tuple([lowering.lowered(input) for input in relation.inputs])
    if isinstance(relation, Read):
        relation = read_without_lengths(lowering.dialect, relation)
    e = lowering.builder(*inputs)
    expressions = ExpressionLowering(e)
    if isinstance(relation, Filter):
        conditions = expressions.lower_all(conjuncts(relation.condition))
        return _emitted(relation, e.filtered(inputs[0], conditions))
    if isinstance(relation, Join):
        given = [part for part in conjuncts(relation.condition) if not is_true(part)]
        made = e.joined(inputs[0], inputs[1], relation.join_type, expressions.lower_all(given))
        return _emitted(relation, made)
    if isinstance(relation, Sort):
        sorts = [e.sort_key(expressions.sort(sort)) for sort in relation.sorts]
        return _emitted(relation, e.sorted(inputs[0], sorts))
    if isinstance(relation, Fetch):
        return _emitted(relation, e.fetched(inputs[0], relation.offset, relation.count))
    if isinstance(relation, Set):
        return _emitted(relation, e.united(inputs, relation.operation))
    if isinstance(relation, VirtualTable):
        return e.table(relation, expressions)
    changed = expressions.lower_all(relation.expressions())
    same = all(new is old for new, old in zip(changed, relation.expressions(), strict=True))
    if same and all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.over(inputs, changed)


def _emitted(relation: Relation, made: Relation) -> Relation:
    return made if relation.emit is None else made.select(relation.emit)
