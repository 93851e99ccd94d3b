"""Text: patterns that Acero has functions for."""

from __future__ import annotations

from ...algebra.expression import Expression, Literal, ScalarFunction
from ...algebra.like_pattern import ANY, parts_of
from ...algebra.traversal import is_null
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder

SEARCHES = {(False, True): "starts_with", (True, False): "ends_with", (True, True): "contains"}
"""By whether anything may be before and behind a text, what finds it."""


def like(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """LIKE a text with % before or behind it."""
    text, pattern = call.children()
    parts = None
    if isinstance(pattern, Literal) and pattern.value is not None:
        parts = parts_of(pattern.value, "")
    if parts is None:
        raise NotInDialect(f"the dialect {e.dialect.name} takes only literals as patterns")
    before, behind = parts[:1] == [ANY], parts[1:][-1:] == [ANY]
    inner = parts[before : len(parts) - behind]
    if not all(isinstance(part, str) for part in inner):
        raise NotInDialect(
            f"the dialect {e.dialect.name} has wildcards at the ends of a pattern only", "Use several conditions."
        )
    wanted = e.text("".join(map(str, inner)))
    if not before and not behind:
        return e.lowered("comparison:equal", text, wanted)
    return e.call(f"string:{SEARCHES[before, behind]}", text, wanted, case_sensitivity="CASE_SENSITIVE")


def searched(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """starts_with, ends_with, contains: null for a pattern that is null."""
    pattern = call.children()[1]
    return e.null(call.type) if is_null(pattern) else call


REWRITES = [
    *rewrites({"string:like": like}),
    *rewrites({f"string:{name}": searched for name in SEARCHES.values()}, defect="null_patterns"),
]
