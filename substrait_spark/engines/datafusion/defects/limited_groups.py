"""`limits_cut_groups`: DataFusion moves a limit into groups whose rows come sorted, for a window, a limit or a list.

    SELECT DISTINCT x, count(*) OVER (PARTITION BY x) FROM (VALUES (1)) t(x) LIMIT 1   -- Ordering direction required for DISTINCT with limit

    WITH s(x) AS (VALUES (0), (1), (2) ORDER BY 1 LIMIT 3), t AS (SELECT * FROM s UNION ALL SELECT * FROM s UNION ALL SELECT * FROM s)
    SELECT DISTINCT x FROM t ORDER BY x LIMIT 3   -- 0 and 2, without 1, on two cores

The second limit cuts what each core has of the groups, before they are put together
(https://github.com/apache/datafusion/issues/24927). Such groups get a filter on how many rows they have, below which no limit goes: one
on a random number would itself go below the groups.
"""

from __future__ import annotations

from ....algebra.expression import FieldReference, WindowFunction
from ....algebra.feature import AGGREGATE, FETCH
from ....algebra.relation import Aggregate, Filter, Project, Relation, Sort, Window
from ....algebra.traversal import relations_below, transformed
from ....lowering.builder import LoweringBuilder
from .total_bounds import beside_count


def below_filters(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with a filter that keeps all rows above each group of sorted rows, if there is a limit."""
    if not root.features & FETCH:
        return root

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Aggregate) or not _groups_sorted_rows(relation):
            return relation
        counted, count = beside_count(e, relation)
        filtered = Filter(counted, e.call("comparison:gt", FieldReference(count, counted.types[count]), e.i64(0)))
        return filtered.select(relation.emitted)

    return transformed(root, rule, _groups_sorted_rows, AGGREGATE)


def _groups_sorted_rows(relation: Relation) -> bool:
    if not isinstance(relation, Aggregate) or not relation.groupings or len(relation.sets) > 1:
        return False
    return any(measure.sorts for measure in relation.measures) or any(map(_is_sorted, relations_below(relation)))


def _is_sorted(relation: Relation) -> bool:
    """Whether DataFusion sorts for a relation."""
    if isinstance(relation, Project):
        return any(isinstance(each, WindowFunction) for each in relation.computed)
    return isinstance(relation, Sort | Window)
