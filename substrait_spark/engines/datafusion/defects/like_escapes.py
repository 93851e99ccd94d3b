r"""`like_escapes`: DataFusion takes a backslash in a pattern of LIKE for an escape; the standard function has none.

SELECT 'a\b' LIKE 'a\b'   -- false
"""

from __future__ import annotations

from ....algebra.expression import Expression, Literal, ScalarFunction
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder

ESCAPE = "\\"


def like(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The call with each backslash of the pattern doubled, since an escaped backslash stands for itself."""
    value, pattern = call.children()
    if not isinstance(pattern, Literal):
        raise NotInDialect(
            f"the dialect {e.dialect.name} may take a backslash in a pattern that is no constant for an escape",
            "Give LIKE a constant pattern.",
        )
    if pattern.value is None or ESCAPE not in pattern.value:
        return call
    doubled = Literal(pattern.value.replace(ESCAPE, 2 * ESCAPE), pattern.type)
    return call.with_children((value, doubled))
