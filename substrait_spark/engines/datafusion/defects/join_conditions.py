"""Conditions of joins that may raise, which Spark evaluates for those pairs of rows that their keys leave.

`eager_connectives`: DataFusion evaluates all operands of AND, but other conditions than keys for the pairs that have these alone.

`joins_compute_parts`: without keys, it computes parts of a condition below the join, those too that a CASE may not choose.

    SELECT 1 FROM (VALUES (1)) t(k), (VALUES ('a')) u(y) WHERE CASE WHEN k > 5 THEN CAST(y AS int) ELSE k END > 0   -- an error: Cannot cast

What needs the columns of one input is computed for all its rows, unless it may give another value each time. So the columns of parts that
may raise, and that are evaluated for some pairs only, stand behind a condition that DataFusion doesn't know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from ....algebra.expression import Expression, IfThen, Lambda, Literal, ScalarFunction, Shared
from ....algebra.join_columns import LEFT, RIGHT, sides_of
from ....algebra.relation import Join, Relation
from ....algebra.traversal import conjuncts, is_own, rewritten
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered, Joined
from .constants import varying
from .join_keys import EQUALITIES, NULL_SAFE
from .neutral_values import NEUTRAL


def with_late_filters(e: LoweringBuilder, form: Joined) -> Relation | Joined:
    """A join whose conditions other than keys are evaluated later, where one of them may raise: an inner join's in a filter above it."""
    if not any(each.raises for each in form.conditions):
        return form
    width = len(form.left.types)
    form = form._replace(conditions=_in_spark_order(form.conditions, width))
    keys = [each for each in form.conditions if is_key(each, width)]
    if form.join_type != "INNER":
        return _with_keys_apart(e, form, keys)
    early, late = _keys_and_filters(form.conditions, keys)
    if not late:
        return form._replace(conditions=early)
    if not keys:
        late = [in_place(e, each, width) for each in late]
    joined: Relation = e.rewritten(form._replace(conditions=early))
    filtered: Relation = e.over(joined).rewritten(Filtered(joined, late))
    return filtered


def _in_spark_order(conditions: Sequence[Expression], width: int) -> Sequence[Expression]:
    """Conditions with those first that Spark joins by: it computes these for all rows, and raises an error of them whatever the others are.

    It joins nothing where one is false or null.
    """
    return sorted(conditions, key=lambda each: (not isinstance(each, Literal), not _is_joined_by(each, width)))


def _keys_and_filters(
    given: Sequence[Expression], keys: Sequence[Expression]
) -> tuple[Sequence[Expression], Sequence[Expression]]:
    """The conjuncts of an inner join that stay its condition, and those that become a filter above it.

    Keys stay, and so does what stands before the first conjunct that may raise. Spark evaluates the others only for pairs
    of rows that match, which a filter above the join does too. A join keeps them all where nothing else would be left.
    """
    first = next((n for n, each in enumerate(given) if each.raises), len(given))
    early = [*given[:first], *(each for each in given[first:] if each in keys)]
    late = [each for each in given[first:] if each not in keys]
    return (early, late) if early else (late, [])


def _with_keys_apart(e: LoweringBuilder, form: Joined, keys: Sequence[Expression]) -> Relation | Joined:
    """A join of another type, whose keys stay such beside conditions that may raise."""
    others = [each for each in form.conditions if each not in keys]
    if not keys or not any(each.raises for each in others):
        return form
    condition = e.and_(*keys, e.connected("and", others))
    joined: Relation = e.rewritten(Join(form.left, form.right, form.join_type, condition))
    return joined


def in_join(e: LoweringBuilder, join: Join) -> Relation:
    """A join without keys, none of whose parts raises below it where its condition would not evaluate it."""
    left, right = join.inputs
    width = len(left.types)
    if not join.condition.raises or any(is_key(each, width) for each in conjuncts(join.condition)):
        return join
    condition = in_place(e, join.condition, width)
    return join if condition is join.condition else Join(left, right, join.join_type, condition)


def is_key(condition: Expression, width: int) -> bool:
    """Whether a condition equates what two inputs have, of which the first has so many columns: it is a key of a hash table."""
    if not _is_joined_by(condition, width) or condition.raises:
        return False
    operands = condition.children()
    if condition.declaration.name == NULL_SAFE and operands[0].type.kind not in NEUTRAL:
        return False
    return {sides_of(operand, width) for operand in operands} == {LEFT, RIGHT}


def _is_joined_by(condition: Expression, width: int) -> TypeGuard[ScalarFunction]:
    """Whether Spark joins by an equality: it computes each side of it from one input (`ExtractEquiJoinKeys`)."""
    if not isinstance(condition, ScalarFunction) or condition.declaration.name not in EQUALITIES:
        return False
    first, second = (sides_of(operand, width) for operand in condition.children())
    return (first <= LEFT and second <= RIGHT) or (first <= RIGHT and second <= LEFT)


def in_place(e: LoweringBuilder, condition: Expression, width: int) -> Expression:
    """The condition of a join without keys, with its parts where they are."""

    def change(part: Expression) -> Expression | None:
        if not part.raises or isinstance(part, Lambda) or len(sides_of(part, width)) < 2:
            return part  # computed below as a whole, with what guards it
        if isinstance(part, IfThen) or (isinstance(part, ScalarFunction) and part.declaration.name == "coalesce"):
            first, *others = part.children()
            return part.with_children([rewritten(first, change), *(rewritten(other, hidden) for other in others)])
        return None

    def hidden(part: Expression) -> Expression | None:
        if not part.raises or isinstance(part, Lambda):
            return part
        return rewritten(part, varied) if len(sides_of(part, width)) < 2 else None

    def varied(part: Expression) -> Expression | None:
        # What is shared may become a column of an input.
        return varying(e, part) if is_own(part) or isinstance(part, Shared) else None

    return rewritten(condition, change)
