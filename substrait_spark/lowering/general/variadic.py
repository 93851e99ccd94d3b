"""Calls of associative functions with more arguments than the dialect's function takes, as calls of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.expression import Expression, ScalarFunction
from ...dialects.rewrite import rewrites

if TYPE_CHECKING:
    from ..builder import LoweringBuilder


def balanced(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The call as a balanced tree of calls, so that it nests no deeper than it must."""
    declaration = call.declaration
    name = declaration.function
    most = e.dialect.most_arguments("scalar", declaration, call.options)
    arguments = list(call.children())
    if most is None or most < 2 or len(arguments) <= most:
        raise e.lacks(call)
    while len(arguments) > 1:
        groups = [arguments[start : start + most] for start in range(0, len(arguments), most)]
        arguments = [
            group[0] if len(group) == 1 else e.native_call(name, *group, **dict(call.options)) for group in groups
        ]
    return arguments[0]


def concat(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Texts put together, in fewer at a time, or by a function that leaves nulls out, and null where any is."""
    return e.instead(call, lambda: balanced(e, call), lambda: _null_with_any(e, call))


def _null_with_any(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    if dict(call.options).get("null_handling") != "ACCEPT_NULLS":
        raise e.lacks(call)
    operands = [e.share(operand) for operand in call.children()]
    joined = e.native_call("string:concat", *operands, null_handling="IGNORE_NULLS")
    nulls = [e.is_null(operand) for operand in operands if operand.type.nullable]
    return e.if_then(e.connected("or", nulls), e.null(call.type), joined) if nulls else joined


REWRITES = rewrites({"string:concat": concat})
