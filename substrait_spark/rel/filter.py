"""FilterRel: https://substrait.io/relations/logical_relations/#filter-operation."""

from __future__ import annotations

from ..algebra.expression import Expression, Literal
from ..algebra.relation import Aggregate, Fetch, Filter, Project, Relation
from ..catalyst import tree
from ..expr.boolean import chain, conjunction
from .builder import RelationBuilder
from .output import Output


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Filter: rows for which the condition is true, neither false nor null."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    condition = node["condition"]
    conjuncts = [c for c in e.emit_all(chain(condition) if condition.name == "And" else [condition]) if not _is_true(c)]
    if not conjuncts:
        return input
    return Output(Filter(filterable(r, input.relation), conjunction(e, conjuncts)), input.ids)


def filterable(r: RelationBuilder, relation: Relation) -> Relation:
    """The relation, below a limit where the dialect would move a filter on constants below it: none passes a limit."""
    return Fetch(relation, 0, 1) if r.dialect.quirks.filters_below_totals and is_total(relation) else relation


def is_total(relation: Relation) -> bool:
    """Whether a relation is one row, of an aggregate without keys."""
    while isinstance(relation, Project):
        (relation,) = relation.inputs
    return isinstance(relation, Aggregate) and not relation.groupings


def _is_true(condition: Expression) -> bool:
    return isinstance(condition, Literal) and condition.value is True


HANDLERS = {"Filter": emit}
