"""AND, OR and NOT: three-valued, as in Substrait's boolean functions."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Expression
from ..catalyst import tree
from .builder import ExpressionBuilder, Rule
from .operands import Operands, operands
from .subquery import known, membership

VARIADIC = {"And": "and", "Or": "or"}


def chain(node: tree.Expression) -> list[tree.Expression]:
    """The operands of a chain of the same connective, in order; the node itself where it is none."""
    name = node.cls.name
    if name not in VARIADIC:
        return [node]
    joined: list[tree.Expression] = []
    stack: list[tree.Expression] = [node]
    while stack:
        current = stack.pop()
        if current.cls.name == name:
            stack.append(current["right"])
            stack.append(current["left"])
        else:
            joined.append(current)
    return joined


def conjuncts(e: ExpressionBuilder, filter: tree.Expression) -> Sequence[Expression]:
    """The operands of a condition's AND, or the condition alone."""
    return e.emit_all(chain(filter) if filter.name == "And" else [filter])


def connective(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """And, Or: one call for a whole chain, because messages nest only so deep."""
    return e.call(f"boolean:{VARIADIC[node.cls.name]}", *e.emit_all(chain(node)))


def negation(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Not: also of an equality, because `not_equal` says no more than that.

    NOT IN of a subquery is false where it isn't known, as IN is.
    """
    child = node["child"]
    if child.name == "InSubquery":
        return known(e, e.not_(membership(e, child)))
    return e.not_(e.emit(child))


def drop_unknown(e: ExpressionBuilder, filter: tree.Expression) -> None:
    """Let IN subqueries be unknown where a filter takes that for false."""
    stack = [filter]
    while stack:
        node = stack.pop()
        if node.name in VARIADIC:
            stack += chain(node)
        elif node.name == "InSubquery":
            e.let(node, membership(e, node))
        elif node.name == "Not" and node["child"].name == "InSubquery":
            e.let(node, e.not_(membership(e, node["child"])))


RULES: dict[str, Rule] = {"And": connective, "Or": connective, "Not": negation}


def _negated(node: tree.Expression) -> list[tree.Expression]:
    return [] if node["child"].cls.name == "InSubquery" else operands(node)


OPERANDS: dict[str, Operands] = {**dict.fromkeys(VARIADIC, chain), "Not": _negated}
"""A chain of AND or OR counts as one call, and IN of a subquery as one with the NOT before it."""
