"""What tests of plans need: the structural rules that every plan keeps."""

from __future__ import annotations

from .structure import assert_well_formed, structural_problems

__all__ = ["assert_well_formed", "structural_problems"]
