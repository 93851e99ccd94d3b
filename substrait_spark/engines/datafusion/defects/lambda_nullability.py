"""`lambdas_keep_nullability`: DataFusion's optimizer rewrites what a lambda gives, and a lambda that gets it doesn't follow.

    SELECT array_transform(array_transform(l, x -> nullif(1, 2)), y -> y) FROM (VALUES ([1])) t(l)   -- an error: LambdaVariable field and schema field mismatch

`nullif(1, 2)` may be null for DataFusion, and so may `y`; the 1 that comes of it may not. So the list is cast to one whose elements
may be null. `array_concat` of it alone would do as well, but for a batch of nulls, for which that gives the type of its argument.
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Cast, Expression, FieldReference, IfThen, ScalarFunction, Shared
from ....algebra.traversal import is_null, subexpressions
from ....lowering.builder import LoweringBuilder
from .struct_names import has_names

DEEP = 60
"""How deep a list nests that stays as it is: with a call more, readers might not take the plan, whether or not a lambda gets the list."""


def in_call(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A list of what a lambda gives, as one whose elements may be null."""
    if is_null(_bare(call.children()[0])):
        # Of a null that isn't called anything, the type of its elements is lost with the lambda.
        return call if has_names(call.type) else e.call("datafusion:array_concat", e.null(call.type))
    body = call.children()[1].children()[0]
    # No lambda gets structs: those of their positions do.
    if _may_be_null(body) or has_names(body.type) or call.height > DEEP:
        return call
    element = types.nullable(call.type.parameters[0])
    return Cast(e.native_form(call), types.of("list", element, nullable=call.type.nullable), throws=True)


def _may_be_null(body: Expression) -> bool:
    """Whether a value may be null for DataFusion before and after it is optimized."""
    body = _bare(body)
    if isinstance(body, ScalarFunction) and body.declaration.name == "greatest":
        return any(isinstance(part, FieldReference) for part in subexpressions(body))
    return isinstance(body, FieldReference) or _has_null(body)


def _has_null(value: Expression) -> bool:
    """Whether a value is null, or a CASE of which some branch is."""
    value = _bare(value)
    if isinstance(value, IfThen):
        return any(map(_has_null, (*[each for _, each in value.clauses], value.otherwise)))
    return is_null(value)


def _bare(value: Expression) -> Expression:
    while isinstance(value, Cast | Shared):
        (value,) = value.children()
    return value
