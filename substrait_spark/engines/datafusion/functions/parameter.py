"""Parameters, in whose place `execute` puts literals: those of types whose literals are written as they are."""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import DynamicParameter, Expression
from ....dialects.rewrite import Sees, rewrites
from ....errors import NotInDialect
from ....lowering.expression import ExpressionLowering
from ..defects.struct_names import has_names


def parameter(lowering: ExpressionLowering, original: DynamicParameter) -> Expression | None:
    """The parameter itself. Raises NotInDialect where literals of its type become something else, which hangs on the value."""
    if has_names(original.type) or types.holds(original.type, types.INTERVALS):
        raise NotInDialect(
            f"parameters of {original.type} have no literals in DataFusion",
            "Write the value into the statement, or give its parts as parameters.",
        )
    return None


REWRITES = rewrites({DynamicParameter: parameter}, sees=Sees.BOTH)
