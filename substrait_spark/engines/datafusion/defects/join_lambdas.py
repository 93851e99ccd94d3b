"""`lambdas_in_joins`: DataFusion computes parts of a join's condition below the join, parts of lambdas too. This keeps lambdas out.

    SELECT 1 FROM (VALUES ([1])) t(l), (VALUES (1)) u(c)
    WHERE array_any_match(l, x -> x > c)   -- unable to unwrap lambda from array_any_match

A lambda can't be taken apart, and one that is moved looks for its parameter where it was. What needs columns of one input is
computed below the join; what needs columns of both, above the pairs of rows that the join's other conditions leave.
Joins that have a key are spared, unless a lambda is in another one: DataFusion takes apart the conditions of nested loops
alone, but loses the parameters of outer lambdas wherever a condition holds one in another.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Lambda, ScalarFunction, WindowCall
from ....algebra.feature import LAMBDA, OUTER_COLUMN
from ....algebra.frame import WHOLE, over
from ....algebra.join_columns import right_side_moved, with_columns_of, with_right_side_moved
from ....algebra.relation import (
    ALL_ROWS,
    LEFT_ONLY,
    Aggregate,
    Cross,
    Fetch,
    Filter,
    Join,
    Project,
    Relation,
    Set,
    Sort,
)
from ....algebra.traversal import (
    columns,
    conjuncts,
    is_column,
    is_true,
    ordinals,
    rewritten,
    subexpressions,
    transformed,
)
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Windowed
from ....lowering.general.left_join import mirrored
from .filter_growth import can_limit


def without_lambdas(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with no lambda in the condition of a join without keys, nor in a filter that would become one."""

    def rule(relation: Relation) -> Relation:
        if isinstance(relation, Join) and _has_lambda(relation.condition) and not _is_kept(relation):
            return _without_lambdas(e, relation)
        if isinstance(relation, Filter) and _would_join(relation):
            (input,) = relation.inputs
            return relation.with_inputs((_limited(e, input),))
        return relation

    return transformed(root, rule, feature=LAMBDA)


def _has_lambda(expression: Expression) -> bool:
    return bool(expression.features & LAMBDA)


def _is_kept(join: Join) -> bool:
    """Whether DataFusion leaves the condition as it is, and finds all parameters."""
    lambdas = [part for part in subexpressions(join.condition) if isinstance(part, Lambda)]
    return _has_key(join) and not any(_has_lambda(each.body) for each in lambdas)


def _has_key(join: Join) -> bool:
    """Whether DataFusion joins by a hash table, whose other conditions it leaves as they are."""
    width = len(join.inputs[0].types)
    for condition in conjuncts(join.condition):
        if isinstance(condition, ScalarFunction) and condition.declaration.name == "equal":
            sides = {side.ordinal < width for side in condition.children() if is_column(side)}
            if len(sides) == 2:
                return True
    return False


def _limited(e: LoweringBuilder, relation: Relation) -> Relation:
    """The relation below a limit that no rows reach, below which DataFusion moves no filter."""
    if not can_limit(relation):
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no lambdas over both sides of a join above a sort, or in a correlated subquery",
            "Join by a column that is equal on both sides too, or sort above the join.",
        )
    return Fetch(relation, 0, ALL_ROWS)


# ---- filters


def _would_join(relation: Filter) -> bool:
    """Whether DataFusion would move a condition with a lambda into a join below."""
    return any(
        _has_lambda(condition) and _reaches_both_sides(relation.inputs[0], set(ordinals(condition)))
        for condition in conjuncts(relation.condition)
    )


def _reaches_both_sides(root: Relation, used: set[int]) -> bool:
    """Whether the columns that a condition uses are of both sides of a join, down to which filters are moved."""
    stack = [(root, used)]
    while stack:
        relation, used = stack.pop()
        if relation.emit is not None:
            used = {relation.emit[n] for n in used}
        if isinstance(relation, Join | Cross):
            left, right = relation.inputs
            sides = [
                {n for n in used if n < len(left.types)},
                {n - len(left.types) for n in used if n >= len(left.types)},
            ]
            if all(sides):
                return True
            stack.extend((input, side) for input, side in zip((left, right), sides, strict=True) if side)
        elif isinstance(relation, Project | Aggregate):
            (input,) = relation.inputs
            made = relation.computed if isinstance(relation, Project) else relation.groupings
            passed = len(input.types) if isinstance(relation, Project) else 0
            if all(n < passed + len(made) for n in used):
                below = {n for n in used if n < passed}
                stack.append((input, below.union(*(ordinals(made[n - passed]) for n in used if n >= passed))))
        elif isinstance(relation, Filter | Sort | Set):
            stack.extend((input, used) for input in relation.inputs)
    return False


# ---- joins

MATCHED = ("LEFT", "LEFT_SEMI", "LEFT_ANTI", "LEFT_MARK")
"""The joins for which a row on the left has a match or none, whatever the others have."""


def _without_lambdas(e: LoweringBuilder, join: Join) -> Relation:
    """The join with the values of lambdas computed below it, or above its pairs of rows where they need both sides."""
    if join.join_type == "RIGHT":
        turned, kept = mirrored(join)
        return _without_lambdas(e, turned).select(kept)
    computed = _with_values(join)
    left, right = computed.inputs
    given = [part for part in conjuncts(computed.condition) if not is_true(part)]
    tested = [part for part in given if _has_lambda(part)]
    plain = [part for part in given if not _has_lambda(part)]
    if not tested:
        made: Relation = computed
    elif join.join_type == "INNER":
        pairs = Join(left, right, "INNER", _all(e, plain))
        made = Filter(_limited(e, pairs), _all(e, tested))
    elif join.join_type in MATCHED:
        made = _matched(e, computed, plain, tested)
    else:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no lambdas over both sides in a join of the type {join.join_type} without a key",
            "Join by a column that is equal on both sides too, or by a left join.",
        )
    return with_columns_of(join, made, left)


def _all(e: LoweringBuilder, conditions: Sequence[Expression]) -> Expression:
    return e.connected("and", conditions) if conditions else e.true()


def _with_values(join: Join) -> Join:
    """The join over inputs with a column, behind their own, for each part of its condition with lambdas that needs one input."""
    left, right = join.inputs
    width = len(left.types)
    added: tuple[list[Expression], list[Expression]] = ([], [])
    numbers: dict[Expression, int] = {}

    def side(part: Expression) -> int | None:
        """The input whose columns a part needs; None for what can't be computed there."""
        sides = {n >= width for n in ordinals(part)}
        return None if len(sides) > 1 or part.features & OUTER_COLUMN or part.raises else int(any(sides))

    def find(part: Expression) -> Expression | None:
        if isinstance(part, Lambda) or not _has_lambda(part):
            return part  # nothing in it is taken out
        input = side(part)
        if input is not None and part not in numbers:
            numbers[part] = len(added[input])
            added[input].append(with_right_side_moved(part, width, -width) if input else part)
        return None if input is None else part

    rewritten(join.condition, find)

    def change(part: Expression) -> Expression | None:
        if part not in numbers:
            return right_side_moved(part, width, len(added[0]))
        before = width + len(added[0]) + len(right.types) if side(part) else width
        return FieldReference(before + numbers[part], part.type)

    first, second = (Project(input, parts) if parts else input for input, parts in zip(join.inputs, added, strict=True))
    return Join(first, second, join.join_type, rewritten(join.condition, change))


def _matched(e: LoweringBuilder, join: Join, plain: Sequence[Expression], tested: Sequence[Expression]) -> Relation:
    """The join by the pairs of rows that its conditions without lambdas leave: a row on the left is known by its number."""
    left, right = join.inputs
    width = len(left.types)
    numbered = e.over(left).rewritten(Windowed(left, [e.window("arithmetic:row_number", frame=WHOLE)], (), ()))
    present = Project(right, [e.true()])
    pairs = Join(numbered, present, "LEFT", with_right_side_moved(_all(e, plain), width, 1))
    flag = len(pairs.types) - 1
    alone = e.is_null(FieldReference(flag, pairs.types[flag]))
    holds = e.if_then(alone, e.false(), with_right_side_moved(_all(e, tested), width, 1))
    tried = Project(_limited(e, pairs), [holds])
    test = FieldReference(flag + 1, holds.type)
    calls = [e.window("arithmetic:row_number", frame=WHOLE), _count(e, test), _count(e, e.is_null(test))]
    counted = e.over(tried).rewritten(Windowed(tried, calls, (FieldReference(width, pairs.types[width]),), ()))
    number, matches, unknown = (FieldReference(flag + 2 + n, counted.types[flag + 2 + n]) for n in range(3))
    one = e.equal(number, e.i64(1))
    some = e.call("comparison:gt", matches, e.i64(0))
    lefts: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(left.types)]
    if join.join_type == "LEFT_MARK":
        doubtful = e.call("comparison:gt", unknown, e.i64(0))
        mark = e.if_then(some, e.true(), doubtful, e.null(types.BOOLEAN), e.false())
        return columns(Filter(counted, one), [*lefts, mark])
    if join.join_type in LEFT_ONLY:
        wanted = some if join.join_type == "LEFT_SEMI" else e.not_(some)
        return columns(Filter(counted, e.and_(one, wanted)), lefts)
    kept = Filter(counted, e.or_(test, e.and_(one, e.not_(some))))
    rights = [FieldReference(width + 1 + n, pairs.types[width + 1 + n]) for n in range(len(right.types))]
    return columns(kept, [*lefts, *(e.if_then(test, value, e.null(value.type)) for value in rights)])


def _count(e: LoweringBuilder, condition: Expression) -> WindowCall:
    """How many rows of a partition fulfil a condition."""
    counted = e.if_then(condition, e.true(), e.null(types.BOOLEAN))
    return over(e.aggregate("aggregate_generic:count", counted), WHOLE)
