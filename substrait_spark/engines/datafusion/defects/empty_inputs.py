"""`unions_lose_names`: DataFusion leaves out the inputs of a union that it finds empty as it plans. Where one is left, it looks for the first's names there.

    SELECT 1 AS v FROM t WHERE 1 > 2 UNION ALL SELECT DISTINCT b FROM t   -- No field named v

It finds that by conditions on constants alone, which this keeps it from computing, and by what has no rows in the plan
itself, which comes last in a union: the names are those of an input that is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import Expression
from ....algebra.feature import COLUMN, SUBQUERY
from ....algebra.relation import Cross, Fetch, Join, Relation, Set, VirtualTable
from ....algebra.subqueries import is_total
from ....algebra.traversal import inputs_first, is_true
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered, Joined
from ....lowering.lowering import Lowering
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


def at_the_end(e: LoweringBuilder, union: Set) -> Relation:
    """A union whose inputs that have no rows come last."""
    if not union.operation.startswith("UNION"):
        return union
    known = e.lowering.memory(_none_known)
    inputs = tuple(sorted(union.inputs, key=lambda input: _is_empty(input, known)))
    return union if inputs == union.inputs else Set(inputs, union.operation).emitting_as(union)


def _none_known(lowering: Lowering) -> dict[Relation, bool]:
    """A memory of which relations have no rows: those below several unions are asked for as often."""
    return {}


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
