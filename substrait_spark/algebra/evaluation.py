"""Which parts of an expression are evaluated whenever the expression is."""

from __future__ import annotations

from collections.abc import Sequence

from .expression import Expression, IfThen, Lambda, ScalarFunction, SingularOrList

LAZY = ("and", "or", "coalesce")
"""Functions that may evaluate their first argument only."""


def always_evaluated(expression: Expression) -> Sequence[Expression]:
    """The operands of an expression that are evaluated whenever the expression is."""
    if isinstance(expression, Lambda):
        return ()
    lazy = isinstance(expression, IfThen | SingularOrList) or (
        isinstance(expression, ScalarFunction) and expression.declaration.name in LAZY
    )
    return expression.children()[:1] if lazy else expression.children()
