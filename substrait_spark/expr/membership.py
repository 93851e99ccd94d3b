"""IN lists."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Expression, SingularOrList
from ..catalyst import tree
from .builder import ExpressionBuilder, Rule
from .literal import constant


def in_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """In: a list of expressions."""
    return or_list(e, e.emit(node["value"]), e.emit_all(node["list"]))


def in_set(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """InSet: internal values that mean what the child's type says, in no order; sorted, for stable plans."""
    child = node["child"]
    values = [value for value in node["hset"].values if value is not None]
    ordered = sorted(values, key=lambda value: (str(type(value)), repr(value) if isinstance(value, tuple) else value))
    with_null = [None] if len(ordered) < len(node["hset"].values) else []
    options = tuple(constant(e, value, child.type) for value in [*ordered, *with_null])
    return or_list(e, e.emit(child), options)


def or_list(e: ExpressionBuilder, value: Expression, options: tuple[Expression, ...]) -> Expression:
    """A SingularOrList; the empty one is false, as Spark says by default."""
    if not options:
        return e.false()
    values = [value, *e.alike(options)]
    # Types that differ in the nullability of what is inside them are different ones.
    alike = e.alike(values) if len({types.required(each.type) for each in values}) > 1 else values
    return SingularOrList(alike[0], tuple(alike[1:]))


RULES: dict[str, Rule] = {"In": in_, "InSet": in_set}
