"""All that plans for Acero are rewritten by."""

from __future__ import annotations

from ..pyarrow import rewrites as pyarrow
from . import aggregates, relations

REWRITES = [*aggregates.REWRITES, *relations.REWRITES, *pyarrow.REWRITES]
