"""`lambdas_keep_nullability`: DataFusion's optimizer rewrites what a lambda gives, and a lambda that gets it doesn't follow.

    SELECT array_transform(array_transform(l, x -> nullif(1, 2)), y -> y) FROM (VALUES ([1])) t(l)   -- an error: LambdaVariable field and schema field mismatch

`nullif(1, 2)` may be null for DataFusion, and so may `y`; the 1 that comes of it may not. `array_concat` of one list is the same list,
whose elements may be null for DataFusion whatever it is of.
"""

from __future__ import annotations

from ....algebra.expression import Cast, Expression, FieldReference, ScalarFunction
from ....algebra.traversal import subexpressions
from ....lowering.builder import LoweringBuilder
from .struct_names import has_names


def in_call(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A list of what a lambda gives, as one whose elements may be null."""
    if call.declaration.name != "array_transform":
        return call
    body = call.children()[1].children()[0]
    # No lambda gets structs: those of their positions do.
    return call if _may_be_null(body) or has_names(body.type) else e.call("datafusion:array_concat", call)


def _may_be_null(body: Expression) -> bool:
    """Whether a value may be null for DataFusion before and after it is optimized."""
    while isinstance(body, Cast):
        body = body.input
    if isinstance(body, ScalarFunction) and body.declaration.name == "greatest":
        return any(isinstance(part, FieldReference) for part in subexpressions(body))
    return isinstance(body, FieldReference)
