"""`filters_below_totals`: DataFusion moves a filter on constants below an aggregate without keys.

    SELECT n FROM (SELECT 1 AS o, count(*) AS n) WHERE o > 2   -- one row
    SELECT n FROM (SELECT count(*) AS n FROM t) JOIN u ON n = y % nullif(0, 0)   -- a row for each of u, since the condition becomes null

The aggregate still yields its one row then, of no rows. DataFusion moves no filter below a limit, so such an aggregate gets a
limit of one row.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.constants import is_constant
from ....algebra.expression import Expression, FieldReference, Literal
from ....algebra.feature import AGGREGATE
from ....algebra.relation import Fetch, Join, Relation
from ....algebra.subqueries import is_total
from ....algebra.traversal import conjuncts, inputs_first, is_true, relations_below, subexpressions
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered
from .constants import constants


def in_filter(e: LoweringBuilder, form: Filtered) -> Filtered:
    """The rows to filter, with limits on aggregates without keys."""
    return Filtered(_with_limits(e, form.input, form.conditions), form.conditions)


def in_join(e: LoweringBuilder, join: Join) -> Relation:
    """A join whose inputs have limits on aggregates without keys."""
    left, right = join.inputs
    parts = conjuncts(join.condition)
    inputs = (_with_limits(e, left, parts), _with_limits(e, right, parts, len(left.types)))
    return join.with_inputs(inputs)


def _with_limits(e: LoweringBuilder, relation: Relation, conditions: Sequence[Expression], first: int = 0) -> Relation:
    """The input of a filter or a join, with limits on its aggregates without keys where a condition may move below them.

    The conditions refer to its columns by numbers from `first` on.
    """
    if not relation.features & AGGREGATE or not any(map(is_total, relations_below(relation))):
        return relation
    known = [False] * first + constants(e, relation)
    if any(is_constant(each, known) or _may_become_constant(each, known) for each in conditions if not is_true(each)):
        return _limited(relation)
    return relation


def _may_become_constant(condition: Expression, known: list[bool]) -> bool:
    """Whether a condition has a null or a boolean in it, or what may become one: DataFusion simplifies `NULL = x` to null."""
    return any(_may_become_null_or_boolean(part, known) for part in subexpressions(condition))


def _may_become_null_or_boolean(part: Expression, known: list[bool]) -> bool:
    if isinstance(part, Literal):
        return part.value is None or isinstance(part.value, bool)
    return not isinstance(part, FieldReference) and is_constant(part, known)


def _limited(root: Relation) -> Relation:
    """The relation, with limits on the aggregates without keys in it that no limit is above already."""
    limited: dict[Relation, Relation] = {}
    for relation in inputs_first(root):
        if is_total(relation):
            limited[relation] = Fetch(relation, 0, 1)
        elif isinstance(relation, Fetch) or not relation.inputs:
            limited[relation] = relation
        else:
            limited[relation] = relation.with_inputs(tuple([limited[input] for input in relation.inputs]))
    return limited[root]
