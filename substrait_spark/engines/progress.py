"""Telling how far a long run has come: rows so far and seconds, on a terminal or in a notebook."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol

PATIENCE = 1.0
"""Seconds before the first word."""

PACE = 0.5
"""Seconds between two words."""


class Place(Protocol):
    """Where progress is told."""

    def tell(self, text: str) -> None:
        """Put a text in the place of the one before."""

    def clear(self) -> None:
        """Leave nothing of it."""


class Terminal:
    """The last line of stderr, which is written anew. What others print meanwhile begins where it does."""

    def tell(self, text: str) -> None:
        sys.stderr.write(f"\x1b[K{text}\r")
        sys.stderr.flush()

    def clear(self) -> None:
        self.tell("")


class Notebook:
    """A text below the cell, which stays."""

    def __init__(self, shell: Any) -> None:
        self._publish = shell.display_pub.publish
        self._id = f"substrait-spark-{id(self)}"
        self._is_shown = False

    def tell(self, text: str) -> None:
        self._publish({"text/plain": text}, transient={"display_id": self._id}, update=self._is_shown)
        self._is_shown = True

    def clear(self) -> None:
        """What was told last stays, which is how long it took."""


def place() -> Place | None:
    """Where progress is told here; None where nobody would see it."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    if getattr(shell, "kernel", None) is not None:
        return Notebook(shell)
    try:
        return Terminal() if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None


class Progress:
    """Rows and seconds of one run. `wanted` says whether they are told; None where somebody sees them."""

    def __init__(self, wanted: bool | None) -> None:
        self._place = None if wanted is False else place() or (Terminal() if wanted else None)
        self._rows = 0
        self._seconds = 0.0
        self._since: float | None = None
        self._told = False
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within it the run goes on. Between, the caller has the floor, and nothing is told."""
        if self._place is None:
            yield
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._tell_on, name="substrait-spark-progress", daemon=True)
            self._thread.start()
        self._since = monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._seconds += monotonic() - self._since
                self._since = None

    def add(self, rows: int) -> None:
        """So many rows have come."""
        self._rows += rows

    def end(self) -> None:
        """The run is over. Where it was told of, the last word is what it came to; a terminal's line is cleared."""
        self._ended.set()
        if self._thread is None or self._place is None:
            return
        self._thread.join()
        if self._told:
            self._place.tell(self._text())
            self._place.clear()

    def _tell_on(self) -> None:
        pause = PATIENCE
        while not self._ended.wait(pause):
            pause = PACE
            with self._lock:
                if self._since is not None and self._place is not None:
                    self._place.tell(self._text())
                    self._told = True

    def _text(self) -> str:
        since = self._since
        seconds = self._seconds + (0.0 if since is None else monotonic() - since)
        return f"{self._rows:,} row{'' if self._rows == 1 else 's'}, {seconds:.1f} s"
