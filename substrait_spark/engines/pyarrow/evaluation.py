"""What is evaluated for some rows only.

Acero evaluates all of an expression for every row, also what a CASE does not choose. What may raise is therefore computed of
nulls where Spark doesn't compute it: every function that raises gives null for these.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import types
from ...algebra.expression import Cast, Expression, IfThen, ScalarFunction, Shared
from ...algebra.traversal import rebuilt
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ...lowering.expression import redeclared


def chosen(e: LoweringBuilder, choice: IfThen) -> Expression:
    """A choice. Of one condition that is null, Acero makes null; so none is."""
    parts = choice.children()
    conditions: list[Expression] = []
    branches: list[Expression] = []
    for condition, value in zip(parts[:-1:2], parts[1::2], strict=True):
        held = _certain(e, only_where(e, conditions, condition))
        held = e.share(held) if any(part.raises for part in parts) else held
        branches += [held, only_where(e, [*conditions, held], value)]
        conditions.append(e.not_(held))
    return _choice(e, *branches, only_where(e, conditions, parts[-1]))


def _choice(e: LoweringBuilder, *parts: Expression) -> Expression:
    """A choice of conditions that are never null."""
    values = e.alike([*parts[1::2], parts[-1]])
    return IfThen(tuple(zip(parts[:-1:2], values[:-1], strict=True)), values[-1])


def connective(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """And, or; later operands that may raise are computed where the earlier leave it open."""
    name, operands = call.declaration.name, call.children()
    if not any(operand.raises for operand in operands[1:]):
        return e.call(f"boolean:{name}", *operands)
    connected = operands[0]
    for operand in operands[1:]:
        connected = e.share(connected)
        open = _certain(e, connected, unknown=True) if name == "and" else e.not_(_certain(e, connected))
        connected = e.call(f"boolean:{name}", connected, only_where(e, [open], operand))
    return connected


def balanced(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The `and` or `or` of operands, two at a time, so that it nests no deeper than it must."""
    terms = list(call.children())
    if len(terms) <= 2:
        return call
    while len(terms) > 1:
        pairs = [terms[start : start + 2] for start in range(0, len(terms), 2)]
        terms = [pair[0] if len(pair) == 1 else e.call(call.declaration.function, *pair) for pair in pairs]
    return terms[0]


def only_where(e: LoweringBuilder, conditions: Sequence[Expression], value: Expression) -> Expression:
    """A value that is computed where conditions hold, which are never null: elsewhere it is anything, and nothing raises."""
    if not conditions or not value.raises:
        return value
    reached = e.share(e.and_(*conditions))
    done: dict[Expression, Expression] = {}

    def untouched(part: Expression) -> Expression | None:
        return None if part.raises else part

    def over_parts(part: Expression) -> Expression:
        return _reached(e, reached, part, [done[child] for child in part.children()])

    return rebuilt(value, done, untouched, lambda part: part.children(), over_parts)


def _reached(e: LoweringBuilder, reached: Expression, part: Expression, children: list[Expression]) -> Expression:
    """What may raise, over other parts: where it isn't reached, of nulls."""
    if isinstance(part, ScalarFunction):
        if part.raises_itself:
            children[0] = _null_unless(e, reached, children[0])
        if len(children) == len(part.arguments):
            return redeclared(e, part, tuple(children))
    if isinstance(part, Cast):
        input = _null_unless(e, reached, children[0]) if part.input.type.kind == "string" else children[0]
        return Cast(input, types.with_nullable(part.type, input.type.nullable), part.throws, part.checks)
    if isinstance(part, IfThen):
        return _choice(e, *children)
    if isinstance(part, Shared):
        return e.share(children[0])
    raise NotInDialect(
        f"the dialect {e.dialect.name} evaluates all of an expression, and a part of this one must not be for every row"
    )


def _null_unless(e: LoweringBuilder, reached: Expression, value: Expression) -> Expression:
    return _choice(e, reached, value, e.null(value.type))


def _certain(e: LoweringBuilder, condition: Expression, unknown: bool = False) -> Expression:
    """A condition that is never null."""
    if not condition.type.nullable:
        return condition
    return e.call("comparison:coalesce", condition, e.literal(unknown, types.BOOLEAN))
