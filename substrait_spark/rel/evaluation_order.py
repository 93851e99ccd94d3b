"""Keeps expressions that may raise away from rows that a filter below them drops.

Some engines move projections below filters. A filter on a column that is computed with a random number stays where
it is, and so does what is above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import FieldReference
from ..algebra.relation import Fetch, Filter, Project, Relation, Set, Sort
from ..expr.scope import Scope

if TYPE_CHECKING:
    from .builder import RelationBuilder


def keep(r: RelationBuilder, relation: Relation, raising_above: bool = False) -> Relation:
    """The relation with every filter fixed in place that an expression above it, which may raise, relies on."""
    if not r.dialect.quirks.projects_below_filters:
        return relation
    raising = (raising_above and isinstance(relation, Fetch | Filter | Project | Set | Sort)) or any(
        expression.raises for expression in relation.expressions()
    )
    inputs = tuple(keep(r, input, raising) for input in relation.inputs)
    if inputs != relation.inputs:
        relation = relation.with_inputs(inputs)
    return _fixed(r, relation) if raising_above and isinstance(relation, Filter) else relation


def _fixed(r: RelationBuilder, filter: Filter) -> Relation:
    (input,) = filter.inputs
    e = r.expressions(Scope((), input.types))
    always = e.call("comparison:gte", e.call("datafusion:random"), e.fp64(0.0))
    marked = Project(input, [e.and_(filter.condition, always)])
    mark = FieldReference(len(input.types), marked.types[-1])
    columns = range(len(input.types)) if filter.emit is None else filter.emit
    return Filter(marked, mark).select(columns)


