"""FilterRel: https://substrait.io/relations/logical_relations/#filter-operation."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Expression, Literal
from ..algebra.relation import Aggregate, Fetch, Filter, Relation
from ..catalyst import tree
from ..expr.boolean import conjunction, conjuncts
from ..expr.builder import ExpressionBuilder
from .builder import RelationBuilder
from .constants import computable, constants, is_constant
from .filter_growth import whole
from .output import Output


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Filter: rows for which the condition is true, neither false nor null."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    parts = [each for each in conjuncts(e, node["condition"]) if not _is_true(each)]
    return Output(filtered(r, e, input.relation, parts), input.ids) if parts else input


def filtered(r: RelationBuilder, e: ExpressionBuilder, relation: Relation, conditions: Sequence[Expression]) -> Filter:
    """The rows of a relation for which all conditions are true."""
    relation = filterable(r, relation, conditions)
    if r.dialect.quirks.constants_survive:
        relation = computable(e, relation, conditions)
    return Filter(relation, conjunction(e, conditions))


def filterable(r: RelationBuilder, relation: Relation, conditions: Sequence[Expression], first: int = 0) -> Relation:
    """A relation whose columns, from the `first` on, some conditions are about, for a filter or a join.

    There are limits on its aggregates without keys, where the dialect would move a condition on constants below them:
    none passes a limit.
    """
    if not r.dialect.quirks.filters_below_totals or not any(map(_is_total, whole(relation))):
        return relation
    known = [False] * first + constants(relation)
    if any(is_constant(condition, known) for condition in conditions if not _is_true(condition)):
        return _limited(relation)
    return relation


def _limited(relation: Relation) -> Relation:
    """The relation, with limits on the aggregates without keys in it that it takes rows from."""
    if _is_total(relation):
        return Fetch(relation, 0, 1)
    if isinstance(relation, Fetch) or not relation.inputs:
        return relation
    return relation.with_inputs(tuple([_limited(input) for input in relation.inputs]))


def _is_total(relation: Relation) -> bool:
    return isinstance(relation, Aggregate) and not relation.groupings


def _is_true(condition: Expression) -> bool:
    return isinstance(condition, Literal) and condition.value is True


HANDLERS = {"Filter": emit}
