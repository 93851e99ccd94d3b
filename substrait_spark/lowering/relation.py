"""Lowering one relation over its lowered inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..algebra.relation import Fetch, Filter, Join, Project, Read, Relation, Set, Sort, VirtualTable
from ..algebra.traversal import conjuncts, is_true
from ..algebra.write import Update
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
    if lowering.finishes:
        found = lowering.builder(*found.inputs).finished(found)
    if found is not relation and found.place is None:
        found.place = relation.place
    return found.with_hint(relation.hint) if type(found) is type(relation) else found


def _lowered(lowering: Lowering, relation: Relation) -> Relation:
    inputs = tuple([lowering.lowered(input) for input in relation.inputs])
    over = (relation.rows(),) if isinstance(relation, Update) else inputs
    expressions = ExpressionLowering(lowering.builder(*over))
    if isinstance(relation, Read):
        relation = read_without_lengths(lowering.dialect, relation)
        if not relation.holds and not isinstance(relation, VirtualTable):
            return relation
    return FORMS.get(type(relation), _over)(expressions, relation, inputs)


Inputs = tuple[Relation, ...]


def _filter(expressions: ExpressionLowering, relation: Filter, inputs: Inputs) -> Relation:
    conditions = expressions.lower_all(conjuncts(relation.condition))
    return expressions.e.filtered(inputs[0], conditions).emitting_as(relation)


def _join(expressions: ExpressionLowering, relation: Join, inputs: Inputs) -> Relation:
    left, right = inputs
    conditions = expressions.lower_all([part for part in conjuncts(relation.condition) if not is_true(part)])
    return expressions.e.joined(left, right, relation.join_type, conditions).emitting_as(relation)


def _sort(expressions: ExpressionLowering, relation: Sort, inputs: Inputs) -> Relation:
    e = expressions.e
    sorts = [e.sort_key(expressions.sort(sort)) for sort in relation.sorts]
    return e.sorted(inputs[0], sorts).emitting_as(relation)


def _fetch(expressions: ExpressionLowering, relation: Fetch, inputs: Inputs) -> Relation:
    return expressions.e.fetched(inputs[0], relation.offset, relation.count).emitting_as(relation)


def _set(expressions: ExpressionLowering, relation: Set, inputs: Inputs) -> Relation:
    return expressions.e.united(inputs, relation.operation).emitting_as(relation)


def _table(expressions: ExpressionLowering, relation: VirtualTable, inputs: Inputs) -> Relation:
    return expressions.e.table(relation, expressions)


def _over(expressions: ExpressionLowering, relation: Relation, inputs: Inputs) -> Relation:
    """The relation itself over lowered inputs and expressions."""
    changed = expressions.lower_all(relation.expressions())
    if inputs == relation.inputs and changed == list(relation.expressions()):
        return relation
    return relation.over(inputs, changed)


FORMS: Mapping[type[Relation], Callable[[ExpressionLowering, Any, Inputs], Relation]] = {
    Fetch: _fetch,
    Filter: _filter,
    Join: _join,
    Set: _set,
    Sort: _sort,
    VirtualTable: _table,
}
"""Relations that the engine's builder makes; others are over what is lowered as they were over what was not."""
