"""Canonical functions that DataFusion has under a name of its own."""

from __future__ import annotations

from ....algebra.expression import Expression, ScalarFunction
from ....dialects.rewrite import Apply, rewrites
from ....extensions import registry
from ....lowering.builder import LoweringBuilder


def named(function: str) -> Apply:
    """A function that has the same arguments, where it takes their types."""
    alias, _, name = function.partition(":")

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        kinds = tuple([argument if isinstance(argument, str) else argument.type for argument in call.arguments])
        if registry.resolve("scalar", alias, name, kinds) is None:
            raise e.lacks(call)
        return e.call(function, *call.arguments)

    return lower


REWRITES = rewrites(
    {
        **{
            f"spark:spark_{name}": named(f"datafusion:{name}")
            for name in ("concat_ws", "factorial", "repeat", "replace", "substring")
        },
        "arithmetic:shift_left": named("spark:shiftleft"),
        "arithmetic:shift_right": named("spark:shiftright"),
        "arithmetic:shift_right_unsigned": named("spark:shiftrightunsigned"),
    }
)
