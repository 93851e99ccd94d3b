"""Calls that a dialect lacks, in terms of other standard functions: the forms that serve any engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import comparison, connective, raise_error, random_values, variadic

if TYPE_CHECKING:
    from .rules import CallRule, UnloweredRule

GENERAL: Mapping[str, CallRule] = {
    **comparison.CALLS,
    **connective.CALLS,
    **random_values.CALLS,
    **variadic.CALLS,
}
"""By `alias:name`, of calls whose arguments are lowered."""

UNLOWERED: Mapping[str, UnloweredRule] = {"spark:raise_error": raise_error.rule}
"""By `alias:name`, of calls whose arguments are lowered by the rule."""
