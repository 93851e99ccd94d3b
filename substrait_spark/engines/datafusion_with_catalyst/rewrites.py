"""All that plans for DataFusion beside Spark are rewritten by."""

from __future__ import annotations

from ..catalyst import handed_over
from ..datafusion import rewrites as datafusion

REWRITES = [*datafusion.REWRITES, *handed_over.REWRITES]
