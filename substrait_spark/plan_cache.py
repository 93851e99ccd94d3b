"""The plans that were made last, as bytes: to convert the same query again costs its reading.

What is kept goes by a digest of the document, so that the document itself is not kept. A plan is a function of its document
and settings where the dialect is one that comes with the package; what rules of others hang on is not known.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import replace

from substrait.plan_pb2 import Plan

from .context import Settings
from .dialects.file import is_built_in

MOST_BYTES = 8_000_000
"""How much is kept. A plan of a TPC-DS query has 10,000 bytes."""

OF_EACH = 500
"""How many bytes it takes to keep a plan, beside those of the plan."""

Key = tuple[bytes, Settings]


class RecentPlans:
    """Plans by what they were made of, up to a number of bytes; those that were asked for longest ago go first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._plans: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key | None) -> Plan | None:
        """A message of the caller's own, or None."""
        if key is None:
            return None
        with self._lock:
            content = self._plans.get(key)
            if content is None:
                return None
            self._plans.move_to_end(key)
        return Plan.FromString(content)

    def put(self, key: Key | None, plan: Plan) -> None:
        """Keep a plan as it is now. None is the key of what is not kept."""
        if key is None:
            return
        content = plan.SerializeToString(deterministic=True)
        if _size(content) > self._most_bytes:
            return
        with self._lock:
            before = self._plans.pop(key, None)
            self._bytes += _size(content) - (0 if before is None else _size(before))
            self._plans[key] = content
            while self._bytes > self._most_bytes:
                self._bytes -= _size(self._plans.popitem(last=False)[1])

    def clear(self) -> None:
        """Keep nothing of what was made so far."""
        with self._lock:
            self._plans.clear()
            self._bytes = 0


def _size(content: bytes) -> int:
    return len(content) + OF_EACH


def key(text: str, settings: Settings) -> Key | None:
    """What a plan is kept by that has no files beside it; None where it isn't kept."""
    if settings.functions or not is_built_in(settings.dialect):
        return None
    # Of the same document, a report and a plan are made alike, and so are plans that have no use for a folder of local data.
    return hashlib.blake2b(text.encode(), digest_size=32).digest(), replace(settings, writes=True, local_data=None)
