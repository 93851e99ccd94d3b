"""`unions_lose_names`: DataFusion leaves out the inputs of a union that it finds empty as it plans. Where one is left, it looks for the first's names there.

    SELECT 1 AS v FROM t WHERE 1 > 2 UNION ALL SELECT DISTINCT b FROM t   -- No field named v

It finds that by conditions on constants alone, which this keeps it from computing, and by what has no rows in the plan
itself, which comes last in a union: the names are those of an input that is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import Expression
from ....algebra.feature import COLUMN, SET, SUBQUERY
from ....algebra.relation import Cross, Fetch, Join, Relation, Set, VirtualTable
from ....algebra.subqueries import is_total
from ....algebra.traversal import inputs_first, is_true, transformed
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered, Joined
from .constants import always


def in_filter(e: LoweringBuilder, form: Filtered) -> Filtered:
    """The conditions of a filter, those on constants alone behind one that always holds, which DataFusion doesn't know."""
    return form._replace(conditions=_unknown(e, form.conditions))


def in_join(e: LoweringBuilder, form: Joined) -> Joined:
    """The same of a join's conditions."""
    return form._replace(conditions=_unknown(e, form.conditions))


def _unknown(e: LoweringBuilder, conditions: Sequence[Expression]) -> list[Expression]:
    # DataFusion would simplify a choice between a constant condition and itself.
    return [e.if_then(always(e), each, e.true()) if _is_constant(each) else each for each in conditions]


def _is_constant(condition: Expression) -> bool:
    return not is_true(condition) and not condition.features & (COLUMN | SUBQUERY)


def at_the_end(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with the inputs that have no rows last in each union.

    Once columns have their names: what gives them new ones adds a row that a filter drops, of which DataFusion doesn't know that.
    """
    known: dict[Relation, bool] = {}
    return transformed(root, lambda relation: _reordered(relation, known), feature=SET)


def _reordered(relation: Relation, known: dict[Relation, bool]) -> Relation:
    if not isinstance(relation, Set) or not relation.operation.startswith("UNION"):
        return relation
    inputs = tuple(sorted(relation.inputs, key=lambda input: _is_empty(input, known)))
    return relation if inputs == relation.inputs else Set(inputs, relation.operation).emitting_as(relation)


def _is_empty(root: Relation, known: dict[Relation, bool]) -> bool:
    """Whether a relation has no rows, as its plan alone tells."""
    for relation in inputs_first(root, known=known):
        known[relation] = _is_empty_over(relation, [known[input] for input in relation.inputs])
    return known[root]


def _is_empty_over(relation: Relation, below: Sequence[bool]) -> bool:
    if isinstance(relation, VirtualTable):
        return not relation.rows
    if isinstance(relation, Fetch) and relation.count == 0:
        return True
    if is_total(relation):
        return False
    if isinstance(relation, Join):
        return _is_empty_join(relation.join_type, *below)
    if isinstance(relation, Set) and relation.operation.startswith("MINUS"):
        return below[0]
    if isinstance(relation, Cross) or (isinstance(relation, Set) and relation.operation.startswith("INTERSECTION")):
        return any(below)
    return bool(below) and all(below)


def _is_empty_join(join_type: str, left: bool, right: bool) -> bool:
    if join_type in ("INNER", "LEFT_SEMI"):
        return left or right
    if join_type == "RIGHT":
        return right
    return left if join_type.startswith("LEFT") else left and right
