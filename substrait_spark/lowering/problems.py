"""Where lowering is in a plan, and what it has found that the dialect can't say."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import Origin, Unsupported

Report = Callable[[str, "Origin | None", Unsupported], None]
"""Takes a problem: the way from the root, what it was made from, and why."""
