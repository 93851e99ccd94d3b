"""`lambdas_in_joins`: DataFusion moves the conditions of joins about, and loses what lambdas in them refer to.

    SELECT count(*) FROM (VALUES ([1])) a(l) JOIN (VALUES (1)) b(c) ON array_any_match(l, x -> x = c)
    -- ProjectionPushdown … unable to unwrap lambda

So it does without keys to join by, and with a lambda in another one. An inner join has a filter above it in their place. DataFusion would move that into the join, but moves none below a limit,
so a limit that no rows reach stands between. Other joins take what hangs on one of their inputs as a column of that input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....algebra.expression import Expression, FieldReference, Lambda, ScalarFunction
from ....algebra.relation import Project, Relation
from ....algebra.traversal import subexpressions, with_right_side_moved
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder

EQUALITIES = ("equal", "is_not_distinct_from")
"""Functions that DataFusion joins by."""


def loses_lambdas(conditions: Sequence[Expression], width: int) -> bool:
    """Whether DataFusion would lose what a lambda in the conditions of a join refers to."""
    lambdas = [part for each in conditions for part in subexpressions(each) if isinstance(part, Lambda)]
    if not lambdas:
        return False
    return not any(_is_key(each, width) for each in conditions) or any(holds_lambda(each.body) for each in lambdas)


def holds_lambda(expression: Expression) -> bool:
    return any(isinstance(part, Lambda) for part in subexpressions(expression))


def _is_key(condition: Expression, width: int) -> bool:
    if not isinstance(condition, ScalarFunction) or condition.declaration.name not in EQUALITIES:
        return False
    sides = [operand.ordinal < width for operand in condition.children() if isinstance(operand, FieldReference)]
    return sorted(sides) == [False, True]


class Sides(NamedTuple):
    """The inputs of a join, and its conditions over them."""

    left: Relation
    right: Relation
    conditions: list[Expression]


def with_computed_sides(
    e: LoweringBuilder, left: Relation, right: Relation, join_type: str, conditions: Sequence[Expression]
) -> Sides:
    """A join whose inputs have the conditions with lambdas as columns behind their own."""
    width = len(left.types)
    of_left = [each for each in conditions if holds_lambda(each) and _side(e, each, width, join_type) == 0]
    of_right = [each for each in conditions if holds_lambda(each) and each not in of_left]
    computed = {each: width + n for n, each in enumerate(of_left)}
    computed |= {each: width + len(of_left) + len(right.types) + n for n, each in enumerate(of_right)}
    return Sides(
        Project(left, of_left) if of_left else left,
        Project(right, [with_right_side_moved(each, width, -width) for each in of_right]) if of_right else right,
        [
            FieldReference(computed[each], each.type)
            if each in computed
            else with_right_side_moved(each, width, len(of_left))
            for each in conditions
        ],
    )


def _side(e: LoweringBuilder, condition: Expression, width: int, join_type: str) -> int:
    """Which input a condition hangs on: 0 or 1."""
    columns = [
        part for part in subexpressions(condition) if isinstance(part, FieldReference) and part.parameter is None
    ]
    sides = {int(column.ordinal >= width) for column in columns if not column.outer}
    if len(sides) > 1 or condition.raises:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no anonymous functions in the condition of a {join_type} join "
            "that use columns of both of its inputs, or may raise",
            "Compute what they give before the join, and join by the result.",
        )
    return max(sides, default=0)
