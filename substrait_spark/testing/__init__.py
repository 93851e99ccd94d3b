"""What tests of plans need: the structural rules that every plan keeps, and what a dialect asks of it."""

from __future__ import annotations

from .conformance import Departure, departures
from .structure import assert_well_formed, structural_problems

__all__ = ["Departure", "assert_well_formed", "departures", "structural_problems"]
