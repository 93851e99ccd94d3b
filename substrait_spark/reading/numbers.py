"""Numbers of several types, which some producers compare and combine though the standard functions do not."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Cast, Expression
from ..algebra.types import Type
from ..errors import Unsupported


def as_one_type(values: tuple[Expression | str, ...]) -> tuple[Expression, ...]:
    """Numbers in the least type that has the values of all. Raises Unsupported where there is none.

    Of decimals that no 38 digits hold all of, those that don't fit are errors.
    """
    expressions = [value for value in values if isinstance(value, Expression)]
    common: Type | None = expressions[0].type if expressions else None
    for each in expressions[1:]:
        common = None if common is None else _common(common, each.type)
    if common is None or len(expressions) < len(values):
        listed = ", ".join(value if isinstance(value, str) else str(value.type) for value in values)
        raise Unsupported(f"there is no type for values of ({listed})")
    return tuple(
        [
            each
            if types.equal_but_nullability(each.type, common)
            else Cast(each, types.with_nullable(common, each.type.nullable), throws=True)
            for each in expressions
        ]
    )


def _common(left: Type, right: Type) -> Type | None:
    common = types.common_number(left, right)
    if common is None and left.kind == right.kind == "decimal":
        scale = max(left.parameters[1], right.parameters[1])
        return types.of("decimal", 38, scale, nullable=left.nullable or right.nullable)
    return common
