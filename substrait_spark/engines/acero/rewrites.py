"""All that plans for Acero are rewritten by."""

from __future__ import annotations

from ..datafusion.functions.by_value import with_values
from ..pyarrow import rewrites as pyarrow
from . import aggregates, decimals, relations, text

REWRITES = with_values(
    [*aggregates.REWRITES, *decimals.REWRITES, *relations.REWRITES, *text.REWRITES, *pyarrow.REWRITES]
)
