"""Aggregate relations (https://substrait.io/relations/logical_relations/#aggregate-operation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.relation import Aggregate
from .builder import Columns
from .document import Node
from .expressions import Scope

if TYPE_CHECKING:
    from .relations import RelationBuilder


def aggregate(r: RelationBuilder, relation: Aggregate, outer: Scope | None) -> Columns:
    """Groups by the keys of one grouping set, or of several."""
    if len(relation.sets) > 1:
        return _by_several_sets(r, relation, outer)
    plan, columns = r.input(relation, outer)
    scope = Scope(columns, outer)
    chosen = list(relation.sets[0])
    keys = r.expressions.build_all([relation.groupings[n] for n in chosen], scope)
    measures = [r.expressions.measure(measure, scope) for measure in relation.measures]
    grouped = _grouped(r, plan, keys, measures)
    absent = [r.document.literal(None, types.nullable(key.type)) for key in relation.groupings]
    by_key = [grouped.columns[chosen.index(n)] if n in chosen else absent[n] for n in range(len(relation.groupings))]
    return Columns(grouped.plan, [*by_key, *grouped.columns[len(keys) :]])


def _by_several_sets(r: RelationBuilder, relation: Aggregate, outer: Scope | None) -> Columns:
    """Each row once for each set, with the keys of that set and its number, by which it is grouped too."""
    input = r.input(relation, outer)
    keys = r.expressions.build_all(relation.groupings, Scope(input.columns, outer))
    kinds = [types.nullable(key.type) for key in relation.groupings]
    nulls = [r.document.literal(None, kind) for kind in kinds]
    projections = [
        [
            *input.columns,
            *(keys[n] if n in chosen else nulls[n] for n in range(len(keys))),
            r.document.literal(index, types.I32),
        ]
        for index, chosen in enumerate(relation.sets)
    ]
    passed = [
        r.document.attribute(f"c{n}", types.nullable(kind), True) for n, kind in enumerate(relation.inputs[0].types)
    ]
    grouped = [r.document.attribute(f"k{n}", kind, True) for n, kind in enumerate(kinds)]
    number = r.document.attribute("set", types.I32, False)
    plan = r.document.new("Expand", projections, [*passed, *grouped, number], input.plan)
    measures = [r.expressions.measure(measure, Scope(passed, outer)) for measure in relation.measures]
    by_set = _grouped(r, plan, [*grouped, number], measures)
    *keys_of_set, set_number = by_set.columns[: len(keys) + 1]
    return Columns(by_set.plan, [*keys_of_set, *by_set.columns[len(keys) + 1 :], set_number])


def _grouped(r: RelationBuilder, plan: Node, keys: Sequence[Node], measures: Sequence[Node]) -> Columns:
    """The keys, then the measures, one row for each group."""
    named = [r.document.alias(node, f"c{n}") for n, node in enumerate([*keys, *measures])]
    return r.b.output(r.document.new("Aggregate", list(keys), named, plan), len(named))
