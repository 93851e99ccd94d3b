"""How great the values of an integer or decimal expression are at most, as far as its form tells.

A magnitude is an absolute value in units of the type's last digit: 199 for a decimal of scale 2 that is within -1.99 and 1.99.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...algebra.builder import is_at_hand
from ...algebra.expression import Cast, Expression, IfThen, Literal, ScalarFunction, Shared
from ...algebra.types import INTEGERS, Type

MOST_PARTS = 64
"""How many parts of an expression are looked at."""

BITS = {"i8": 7, "i16": 15, "i32": 31, "i64": 63}
"""Of the values of integers, but for the sign."""

MOST_LEAVES = 8
"""How many values are looked at to tell the magnitude of an expression over them."""

Magnitudes = list[int]
Rule = Callable[[ScalarFunction, Magnitudes], int]
"""The magnitude of a call, by those of its operands."""


NOTHING: Mapping[Expression, int] = {}


def of_type(type: Type) -> int:
    """The magnitude of all values of a type: integers or decimals."""
    return 2 ** BITS[type.kind] if type.kind in INTEGERS else int(10 ** type.parameters[0] - 1)


def magnitude(root: Expression, known: Mapping[Expression, int] = NOTHING) -> int:
    """The magnitude of a lowered expression's values, of some of whose parts it may be known.

    That of its type where it is large, so that long chains take no longer each.
    """
    magnitudes = dict(known)
    stack = [root]
    while stack:
        if len(magnitudes) + len(stack) > MOST_PARTS:
            return of_type(root.type)
        expression = stack[-1]
        parts = _parts(expression)
        pending = [part for part in parts if part not in magnitudes]
        if pending:
            stack.extend(pending)
            continue
        stack.pop()
        magnitudes[expression] = min(_own(expression, [magnitudes[part] for part in parts]), of_type(expression.type))
    return magnitudes[root]


def of_call(call: ScalarFunction, known: Mapping[Expression, int] = NOTHING) -> int:
    """The magnitude of a call's exact results, whether or not its type holds them."""
    return RULES[call.declaration.function](call, [magnitude(part, known) for part in call.children()])


def hanging_on(root: Expression) -> list[Expression] | None:
    """The values at hand that an expression's magnitude hangs on; None where it hangs on others, or on many."""
    leaves: list[Expression] = []
    stack = [root]
    while stack:
        expression = stack.pop()
        parts = _parts(expression)
        if is_at_hand(expression) and not isinstance(expression, Literal):
            leaves.append(expression)
        elif not parts and not isinstance(expression, Literal):
            return None
        else:
            stack.extend(reversed(parts))
        if len(leaves) + len(stack) > MOST_LEAVES:
            return None
    return leaves


def _parts(expression: Expression) -> list[Expression]:
    """The numbers that an expression's magnitude hangs on."""
    if isinstance(expression, IfThen):
        parts = [*(value for _, value in expression.clauses), expression.otherwise]
    elif isinstance(expression, Cast) and not expression.checks:  # in wider types than are declared, it says nothing
        parts = [expression.input]
    elif isinstance(expression, Shared):
        parts = [expression.value]
    elif isinstance(expression, ScalarFunction) and expression.declaration.function in RULES:
        parts = list(expression.children())
    else:
        return []
    return parts if all(_is_exact(part.type) for part in parts) else []


def _is_exact(type: Type) -> bool:
    return type.kind in INTEGERS or type.kind == "decimal"


def _own(expression: Expression, parts: Magnitudes) -> int:
    if isinstance(expression, Literal):
        return abs(int(expression.value or 0))
    if not parts:
        return of_type(expression.type)
    if isinstance(expression, Cast):
        return _rescaled(parts[0], scale(expression.type) - scale(expression.input.type))
    if isinstance(expression, ScalarFunction):
        return RULES[expression.declaration.function](expression, parts)
    return max(parts)


def scale(type: Type) -> int:
    """How many digits there are behind the point."""
    return int(type.parameters[1]) if type.kind == "decimal" else 0


def _rescaled(value: int, digits: int) -> int:
    """A magnitude in units that are smaller by so many digits; rounded up, as the values may be."""
    return value * int(10**digits) if digits >= 0 else value // int(10**-digits) + 1


def _added(call: ScalarFunction, parts: Magnitudes) -> int:
    scales = [scale(part.type) for part in call.children()]
    if max(scales) != scale(call.type):
        return of_type(call.type)
    return sum(_rescaled(part, max(scales) - digits) for part, digits in zip(parts, scales, strict=True))


def _multiplied(call: ScalarFunction, parts: Magnitudes) -> int:
    left, right = parts
    exact = sum(scale(part.type) for part in call.children()) == scale(call.type)
    return left * right if exact else of_type(call.type)


def _of_any(call: ScalarFunction, parts: Magnitudes) -> int:
    del call
    return max(parts)


RULES: Mapping[str, Rule] = {
    "arithmetic_decimal:abs": _of_any,
    "arithmetic_decimal:add": _added,
    "arithmetic_decimal:multiply": _multiplied,
    "arithmetic_decimal:negate": _of_any,
    "arithmetic_decimal:subtract": _added,
    "comparison:coalesce": _of_any,
    "datafusion:greatest": _of_any,
}
"""Calls whose results are as great as their operands let them be; integers that may wrap around aren't among them."""
