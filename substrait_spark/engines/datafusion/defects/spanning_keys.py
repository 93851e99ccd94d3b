"""`spanning_keys_lost`: DataFusion puts nested joins in another order, and forgets keys that it finds no place for then.

    WITH t AS (SELECT 1 AS n UNION ALL SELECT 2)
    SELECT count(*) FROM t a JOIN (t b JOIN t d ON b.n = d.n) ON a.n = b.n + d.n   -- 4, not 1

A key is a side of an equality, of columns of one input; where that input is a join, the side may need columns of both its
inputs, which are taken up one by one. As a CASE, the equality is no key, and stays a filter. Outer joins may become inner ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import Expression, ScalarFunction
from ....algebra.relation import Cross, Join, Project, Relation
from ....algebra.traversal import conjuncts, of_columns, ordinals
from ....lowering.builder import LoweringBuilder
from .join_keys import EQUALITIES

REORDERED = ("INNER", "LEFT", "RIGHT", "OUTER")


def kept(e: LoweringBuilder, join: Join) -> Relation:
    """A join with its condition in a form that DataFusion keeps, in whatever order it puts the joins."""
    if join.join_type not in REORDERED:
        return join
    given = conjuncts(join.condition)
    if not any(len(set(ordinals(side))) > 1 for each in given for side in _sides(each)):
        return join
    left, right = join.inputs
    inputs = [*sources(left), *sources(right)]
    parts = [e.if_then(each, e.true(), e.false()) if _spans(each, inputs) else each for each in given]
    return join if parts == given else Join(left, right, join.join_type, e.connected("and", parts))


def _spans(condition: Expression, inputs: Sequence[frozenset[Relation]]) -> bool:
    """Whether a side of an equality needs columns of several inputs of the joins below."""
    return any(len(_needed(side, inputs)) > 1 for side in _sides(condition))


def _sides(condition: Expression) -> Sequence[Expression]:
    """The sides of an equality; of any other condition, none."""
    if not isinstance(condition, ScalarFunction) or condition.declaration.name not in EQUALITIES:
        return ()
    return condition.children()


def _needed(side: Expression, inputs: Sequence[frozenset[Relation]]) -> frozenset[Relation]:
    return frozenset().union(*(inputs[column] for column in ordinals(side)))


def sources(root: Relation) -> list[frozenset[Relation]]:
    """For each column of a relation, which inputs of the joins that it consists of have it."""
    return of_columns(root, _own_sources, lambda relation: frozenset([relation]))


def _own_sources(relation: Relation, below: list[list[frozenset[Relation]]]) -> list[frozenset[Relation]]:
    own = relation.passed(below) if isinstance(relation, Join | Cross) or relation.KEEPS_KEYS else []
    if isinstance(relation, Project):
        own += [_needed(expression, below[0]) for expression in relation.computed]
    return own
