"""Joins on any condition as joins on one equality of columns, where the dialect has no others.

What the condition says of one input filters it, or makes its key null where its rows must stay. What it says of both beyond the
equality is a filter above, which only inner joins can have; for others, several equalities are one of a text that has all keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.expression import Expression, FieldReference, ScalarFunction
from ...algebra.join_columns import LEFT, RIGHT, sides_of, with_right_side_moved
from ...algebra.relation import LEFT_ONLY, Join, Project, Relation
from ...algebra.traversal import is_column
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect
from ..forms import Filtered, Joined

if TYPE_CHECKING:
    from ..builder import LoweringBuilder

KEPT = {"LEFT": (True, False), "RIGHT": (False, True), "OUTER": (True, True), "LEFT_ANTI": (True, False)}
"""By the type of a join, whether it has rows of the left and of the right input without a match."""


def on_one_equality(e: LoweringBuilder, form: Joined) -> Relation | Joined:
    """The join on an equality of a column on the left with one on the right. Raises NotInDialect where that can't say it."""
    if e.dialect.abilities.join_conditions or _is_plain(form):
        return form
    about: dict[str, list[Expression]] = {"left": [], "right": [], "keys": [], "pairs": []}
    for condition in form.conditions:
        about[_subject(condition, len(form.left.types))].append(condition)
    keys, pairs = about["keys"], about["pairs"]
    if form.join_type == "INNER":
        keys, pairs = keys[:1], [*keys[1:], *pairs]
    elif pairs:
        raise _on_one_only(e, form)
    elif len(keys) > 1:
        keys = [_equal_texts(e, form, keys)]
    joined = _on_key(e, form, keys[0] if keys else None, about["left"], about["right"])
    filtered: Relation = e.over(joined).rewritten(Filtered(joined, pairs)) if pairs else joined
    return filtered


def _is_plain(form: Joined) -> bool:
    """Whether the one condition is such an equality already."""
    if len(form.conditions) != 1 or _subject(form.conditions[0], len(form.left.types)) != "keys":
        return False
    first, second = form.conditions[0].children()
    return is_column(first) and is_column(second) and first.ordinal < second.ordinal


def _subject(condition: Expression, width: int) -> str:
    """What a condition is about. One that may raise is for pairs alone, since it would be evaluated for more rows below."""
    sides = sides_of(condition, width)
    if condition.raises or not sides:
        return "pairs"
    if len(sides) == 1:
        return "left" if sides == LEFT else "right"
    is_equality = isinstance(condition, ScalarFunction) and condition.declaration.function == "comparison:equal"
    if is_equality and {sides_of(each, width) for each in condition.children()} == {LEFT, RIGHT}:
        return "keys"
    return "pairs"


def _on_key(
    e: LoweringBuilder,
    form: Joined,
    equality: Expression | None,
    of_left: Sequence[Expression],
    of_right: Sequence[Expression],
) -> Relation:
    """The join on an equality, or of all pairs, of those rows of the inputs for which conditions of theirs hold."""
    width = len(form.left.types)
    first, second = _keys(e, equality, width)
    keeps = KEPT.get(form.join_type, (False, False))
    left = _with_key(e, form.left, first, of_left, keeps[0])
    right = _with_key(
        e, form.right, second, [with_right_side_moved(each, width, -width) for each in of_right], keeps[1]
    )
    mine, other = (FieldReference(len(input.types) - 1, input.types[-1]) for input in (left, right))
    there = FieldReference(len(left.types) + other.ordinal, other.type)
    joined: Relation = e.over(left, right).rewritten(
        Join(left, right, form.join_type, e.call("comparison:equal", mine, there))
    )
    own = range(len(form.right.types)) if form.join_type not in LEFT_ONLY else ()
    return joined.select([*range(width), *(len(left.types) + n for n in own)])


def _on_one_only(e: LoweringBuilder, form: Joined) -> NotInDialect:
    return NotInDialect(
        f"the dialect {e.dialect.name} has {form.join_type} joins on one equality only",
        "Join by one column, or make a plan for another dialect.",
    )


def _equal_texts(e: LoweringBuilder, form: Joined, equalities: Sequence[Expression]) -> Expression:
    """Equalities as that of two texts, in which commas part the keys: a text among these is the last, since it may have commas itself."""
    width = len(form.left.types)
    pairs = [_by_side(equality, width) for equality in equalities]
    pairs.sort(key=lambda pair: pair[0].type.kind == "string")
    kinds = [key.type.kind for pair in pairs for key in pair]
    if any(kind not in WITHOUT_COMMAS for kind in kinds[:-2]) or not {*kinds[-2:]} <= {*WITHOUT_COMMAS, "string"}:
        raise _on_one_only(e, form)
    return e.call("comparison:equal", *(_text(e, form, keys) for keys in zip(*pairs, strict=True)))


WITHOUT_COMMAS = (*types.INTEGERS, "boolean")
"""Types of which each value has a text of its own, without a comma in it."""


def _text(e: LoweringBuilder, form: Joined, keys: Sequence[Expression]) -> Expression:
    """The text of several keys: null where one of them is."""
    parts: list[Expression] = []
    for key in keys:
        if key.type.kind != "string" and not e.dialect.allows_cast(key.type, types.STRING, True):
            raise _on_one_only(e, form)
        parts += [e.cast(key, types.STRING), e.text(",")]
    return e.call("string:concat", *parts[:-1], null_handling="ACCEPT_NULLS")


def _by_side(equality: Expression, width: int) -> tuple[Expression, Expression]:
    """Both sides of an equality, that of the left input first."""
    first, second = equality.children()
    return (second, first) if sides_of(first, width) == RIGHT else (first, second)


def _keys(e: LoweringBuilder, equality: Expression | None, width: int) -> tuple[Expression, Expression]:
    """Both sides of an equality, each over its own input; without one, what is equal for all rows."""
    if equality is None:
        return e.literal(0, types.I32), e.literal(0, types.I32)
    first, second = _by_side(equality, width)
    return first, with_right_side_moved(second, width, -width)


def _with_key(
    e: LoweringBuilder, input: Relation, key: Expression, conditions: Sequence[Expression], keeps: bool
) -> Relation:
    """An input whose last column is its key: of the rows for which conditions hold, or null for the others if it `keeps` them."""
    above = e.over(input)
    if not conditions:
        return Project(input, [key])
    if keeps:
        return Project(input, [above.if_then(above.conjunction(conditions), key, above.null(key.type))])
    return Project(above.rewritten(Filtered(input, conditions)), [key])


REWRITES = rewrites({Joined: on_one_equality})
