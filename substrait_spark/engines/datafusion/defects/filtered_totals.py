"""`filtered_totals_lost`: DataFusion takes a total with a filter for the total below it, of which statistics know the values.

    SELECT max(v) FILTER (WHERE v > 7) FROM (SELECT count(*) AS v FROM (VALUES (1)) t(x))   -- 1, and null is right

Looking for an aggregate that needs not be computed, it goes from the upper one down to the lower one, and then puts that one's values in
the place of the upper one. It goes where each relation has one input, so not past the cross join with a row that this puts between them.
"""

from __future__ import annotations

from ....algebra.feature import AGGREGATE
from ....algebra.relation import Aggregate, Relation
from ....algebra.subqueries import is_total
from ....algebra.traversal import transformed
from ....lowering.builder import LoweringBuilder
from .one_row import with_one_row


def apart(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with a cross join below each total with a filter that is above another total."""
    return transformed(root, _apart, _is_above_total, AGGREGATE)


def _apart(relation: Relation) -> Relation:
    if not _is_above_total(relation):
        return relation
    (input,) = relation.inputs
    return relation.with_inputs((with_one_row(input),))


def _is_above_total(relation: Relation) -> bool:
    """Whether a relation is a total with a filter, and there is one without below it."""
    if not is_total(relation) or not _has_filter(relation):
        return False
    below: Relation = relation
    while len(below.inputs) == 1:
        (below,) = below.inputs
        if is_total(below) and not _has_filter(below):
            return True
    return False


def _has_filter(relation: Aggregate) -> bool:
    return any(measure.filter is not None for measure in relation.measures)
