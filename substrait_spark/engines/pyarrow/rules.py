"""All rules for Acero, as PyArrow has it."""

from __future__ import annotations

from ...lowering.rules import Rules
from . import arithmetic, calendar, cast, comparison, leaves, mathematics, text
from .builder import PyArrowBuilder

RULES = Rules(
    calls={
        **arithmetic.CALLS,
        **calendar.CALLS,
        **cast.CALLS,
        **comparison.CALLS,
        **mathematics.CALLS,
        **text.CALLS,
    },
    casts={**calendar.CASTS, **cast.CASTS},
    guards={**arithmetic.GUARDS, **comparison.GUARDS, **text.GUARDS},
    kinds=leaves.KINDS,
    builder=PyArrowBuilder,
    defects=frozenset({"decimal_digits", "evaluates_all", "null_patterns", "unordered_nan"}),
)
