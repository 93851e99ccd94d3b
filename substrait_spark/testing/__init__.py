"""What tests of plans need: structural rules, what a dialect asks, and what of a plan a snapshot keeps."""

from __future__ import annotations

from .conformance import Departure, departures
from .normalised import normalised
from .structure import assert_well_formed, structural_problems

__all__ = ["Departure", "assert_well_formed", "departures", "normalised", "structural_problems"]
