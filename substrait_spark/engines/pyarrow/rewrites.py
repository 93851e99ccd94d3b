"""All that expressions for Acero, as PyArrow has it, are rewritten by."""

from __future__ import annotations

from . import arithmetic, calendar, cast, comparison, leaves, mathematics, text

REWRITES = [
    *arithmetic.REWRITES,
    *calendar.REWRITES,
    *cast.REWRITES,
    *comparison.REWRITES,
    *leaves.REWRITES,
    *mathematics.REWRITES,
    *text.REWRITES,
]
