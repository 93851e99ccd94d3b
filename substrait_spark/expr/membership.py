"""IN lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ..algebra.expression import Expression, Literal, SingularOrList
from ..catalyst import tree
from ..functions.comparison import alike_inside
from ..functions.floating import groupable
from .boolean import connected
from .builder import ExpressionBuilder, Rule
from .literal import typed_literal


def in_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """In: a list of expressions."""
    return or_list(e, e.emit(node["value"]), e.emit_all(node["list"]))


def in_set(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """InSet: internal values that mean what the child's type says, in no order; sorted, for stable plans."""
    child = node["child"]
    values = [value for value in node["hset"].values if value is not None]
    ordered = sorted(values, key=lambda value: (str(type(value)), repr(value) if isinstance(value, tuple) else value))
    with_null = [None] if len(ordered) < len(node["hset"].values) else []
    options = tuple(typed_literal(e, value, child.type) for value in [*ordered, *with_null])
    return or_list(e, e.emit(child), options)


def or_list(e: ExpressionBuilder, value: Expression, options: tuple[Expression, ...]) -> Expression:
    """A SingularOrList; the empty one is false, as Spark says by default."""
    if not options:
        return e.false()
    alike = e.alike([groupable(e, option) for option in options])
    needle, *others = alike_inside(e, [groupable(e, value), *alike])
    if e.dialect.quirks.literal_options and not all(map(_is_literal, others)):
        return _by_equalities(e, e.share(needle), others)
    return SingularOrList(needle, tuple(others))


def _by_equalities(e: ExpressionBuilder, needle: Expression, options: Sequence[Expression]) -> Expression:
    """Lists of the options that are literals, and equalities with the others, in the same order."""
    parts: list[Expression] = []
    for are_literals, group in groupby(options, key=_is_literal):
        some = tuple(group)
        parts += [SingularOrList(needle, some)] if are_literals else [e.equal(needle, option) for option in some]
    return connected(e, "or", parts)


def _is_literal(expression: Expression) -> bool:
    return isinstance(expression, Literal)


RULES: dict[str, Rule] = {"In": in_, "InSet": in_set}
