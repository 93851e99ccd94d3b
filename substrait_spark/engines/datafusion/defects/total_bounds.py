"""`bounds_of_totals`: DataFusion skips files that change no `min` or `max` of which it has a bound, though another beside it has none yet.

    SELECT min(p), max(q) FROM 'folder/'   -- NULL, 3 where p is null and q is 3 in its first files, p is 1 and q is 2 in its last

Nor has it one of an argument that is no column, such as that of `min(p + 1)`. It skips so where all calls of an aggregate
without keys are of these two functions. So they get a count beside them, on which the results depend, lest it be left out.
"""

from __future__ import annotations

from typing import TypeGuard

from ....algebra.expression import FieldReference, IfThen
from ....algebra.feature import AGGREGATE
from ....algebra.relation import Aggregate, Relation
from ....algebra.subqueries import is_total
from ....algebra.traversal import columns, transformed
from ....lowering.builder import LoweringBuilder

EXTREMES = ("min", "max")


def with_counts(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with a count beside the calls of each aggregate that has several extremes and nothing else."""

    def rule(relation: Relation) -> Relation:
        return _with_count(e, relation) if _has_extremes_alone(relation) else relation

    return transformed(root, rule, _has_extremes_alone, AGGREGATE)


def _with_count(e: LoweringBuilder, relation: Aggregate) -> Relation:
    counted, count = beside_count(e, relation)
    always = e.call("comparison:gte", FieldReference(count, counted.types[count]), e.i64(0))
    extremes = [FieldReference(n, type) for n, type in enumerate(counted.types[:count])]
    return columns(counted, [IfThen(((always, each),), e.null(each.type)) for each in extremes]).emitting_as(relation)


def beside_count(e: LoweringBuilder, relation: Aggregate) -> tuple[Aggregate, int]:
    """An aggregate of one grouping set with all of its own columns and a count of rows behind them; and which column that is."""
    count = e.aggregate("aggregate_generic:count")
    counted = Aggregate(relation.inputs[0], relation.groupings, [*relation.measures, count], relation.sets)
    return counted, len(counted.types) - 1


def _has_extremes_alone(relation: Relation) -> TypeGuard[Aggregate]:
    if not is_total(relation) or len(relation.sets) > 1 or len(relation.measures) < 2:
        return False
    return all(measure.declaration.name in EXTREMES for measure in relation.measures)
