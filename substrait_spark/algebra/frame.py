"""Window frames: https://substrait.io/expressions/window_functions/#window-bounds."""

from __future__ import annotations

from typing import NamedTuple

from .expression import AggregateFunction, Bound, WindowCall


class Frame(NamedTuple):
    """A window frame: by rows or by range, and its ends."""

    rows: bool
    lower: Bound
    upper: Bound

    @property
    def grows(self) -> bool:
        """Whether the frame only ever gains rows from one row of the partition to the next."""
        return self.lower.kind == "unbounded"

    @property
    def holds_current_row(self) -> bool:
        """Whether the current row is in its own frame, which then is never empty."""
        return self.lower.kind in ("unbounded", "current", "preceding") and self.upper.kind in (
            "unbounded",
            "current",
            "following",
        )

    @property
    def never_holds_a_row(self) -> bool:
        """Whether the frame ends before it begins."""
        ends = (self.lower.kind, self.upper.kind)
        return ends in (("current", "preceding"), ("following", "current"), ("following", "preceding"))


WHOLE = Frame(True, Bound("unbounded"), Bound("unbounded"))


def frame_of_call(call: WindowCall) -> Frame:
    """The frame that a window call is over."""
    return Frame(call.rows, call.lower, call.upper)


def over(call: AggregateFunction | WindowCall, frame: Frame) -> WindowCall:
    """The function of a call, over a frame."""
    return WindowCall(call.declaration, call.arguments, frame.rows, frame.lower, frame.upper, call.options)
