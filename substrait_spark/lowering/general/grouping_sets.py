"""Several groupings as one, over rows that are repeated for each, where the dialect has but one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from ...algebra import types
from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ...algebra.feature import AGGREGATE
from ...algebra.relation import Aggregate, Expand, Filter, Relation, Set
from ...algebra.traversal import columns, conjuncts, transformed

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Aggregate by several sets as one by all keys and the set's number, with null in place of keys not in a set.

    Of no rows such an Aggregate has none, but a set without keys has one all the same: a union adds it, unless a filter
    above drops it.
    """
    if lowering.dialect.abilities.grouping_sets:
        return root
    e = CallBuilder(lowering.traits)

    def filtered(relation: Relation) -> Relation:
        if not isinstance(relation, Filter):
            return relation
        (aggregate,) = relation.inputs
        if not _has_several(aggregate) or not _drops_empty(relation, aggregate):
            return relation
        return relation.with_inputs((_repeated(e, aggregate, aggregate.sets),))

    def rule(relation: Relation) -> Relation:
        return _united(e, relation) if _has_several(relation) else relation

    return transformed(transformed(root, filtered, _has_several, AGGREGATE), rule, _has_several, AGGREGATE)


def _has_several(relation: Relation) -> TypeGuard[Aggregate]:
    return isinstance(relation, Aggregate) and len(relation.sets) > 1


def _drops_empty(filter: Filter, aggregate: Aggregate) -> bool:
    """Whether a filter wants a count of all rows of the aggregate below it to be above 0."""
    return any(_is_positive_count(condition, aggregate) for condition in conjuncts(filter.condition))


def _is_positive_count(condition: Expression, aggregate: Aggregate) -> bool:
    if not isinstance(condition, ScalarFunction) or condition.declaration.name != "gt":
        return False
    count, zero = condition.children()
    if not isinstance(count, FieldReference) or not isinstance(zero, Literal) or zero.value != 0:
        return False
    own = count.ordinal if aggregate.emit is None else aggregate.emit[count.ordinal]
    position = own - len(aggregate.groupings)
    if not 0 <= position < len(aggregate.measures):
        return False
    measure = aggregate.measures[position]
    return measure.declaration.name == "count" and not measure.arguments and measure.filter is None


def _united(e: CallBuilder, relation: Aggregate) -> Relation:
    """The sets with keys, and the one row of those without."""
    sets = list(enumerate(relation.sets))
    with_keys = [number for number, chosen in sets if chosen]
    if len(with_keys) == len(sets):
        return _repeated(e, relation, relation.sets)
    branches = [_total(e, relation, number) for number, chosen in sets if not chosen]
    if with_keys:
        branches.insert(0, _repeated(e, relation, [relation.sets[n] for n in with_keys], with_keys, picked=False))
    union = branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL")
    return union.emitting_as(relation)


def _total(e: CallBuilder, relation: Aggregate, number: int) -> Relation:
    """One row of all rows, with nulls for the keys."""
    made = Aggregate(relation.inputs[0], [], relation.measures)
    keys = [Literal(None, types.nullable(key.type)) for key in relation.groupings]
    measures = [FieldReference(n, kind) for n, kind in enumerate(made.types)]
    return columns(made, [*keys, *measures, Literal(number, types.I32)])


def _repeated(
    e: CallBuilder,
    relation: Aggregate,
    sets: Sequence[tuple[int, ...]],
    numbers: Sequence[int] | None = None,
    picked: bool = True,
) -> Relation:
    """The Aggregate over rows that are there once for each set; `picked`: with the columns that it emits."""
    (input,) = relation.inputs
    width, keys = len(input.types), relation.groupings
    passed = [FieldReference(n, kind) for n, kind in enumerate(input.types)]
    projections = []
    for number, chosen in zip(numbers or range(len(sets)), sets, strict=True):
        of_set = [
            e.as_type(key, types.nullable(key.type)) if n in chosen else Literal(None, types.nullable(key.type))
            for n, key in enumerate(keys)
        ]
        projections.append((*passed, *of_set, Literal(number, types.I32)))
    expanded = Expand(input, projections).select(range(width + len(keys) + 1))
    groupings = [FieldReference(width + n, expanded.types[width + n]) for n in range(len(keys) + 1)]
    made = Aggregate(expanded, groupings, relation.measures)
    last = len(keys)
    own = made.select([*range(last), *range(last + 1, len(made.types)), last])
    return own.emitting_as(relation) if picked else own
