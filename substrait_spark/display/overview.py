"""A plan's tree as a map that fits on a screen, whatever its size: a mark for each relation, a line to what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ..errors.quotation import shortened
from .figures import family
from .node_summary import summary
from .outline import Entry, Outline

_LEVEL, _HIGHEST = 16, 340
"""How many pixels a level is high, and the map at most."""
_TITLE = 90


def overview(shown: Outline) -> Iterator[str]:
    """The map; each mark leads to its relation."""
    levels = 1 + max((entry.level for entry in shown.entries), default=0)
    height = min(levels * _LEVEL, _HIGHEST)
    places = _places(shown, levels)
    lines = "".join(_line(places, entry, inner) for entry in shown.entries for inner in entry.below)
    yield f"<div class='map' role='img' aria-label='the relations as a tree' style='height:{height}px'>"
    yield f"<svg viewBox='0 0 1000 1000' preserveAspectRatio='none' aria-hidden='true'><path d='{lines}'></path></svg>"
    for entry in shown.entries:
        x, y = places[entry.number]
        to = entry if entry.same_as is None else entry.same_as
        kind = f"{family(entry.relation.kind)}{'' if entry.same_as is None else ' again'}"
        title = shortened(f"{entry.relation.kind} {summary(entry.relation, _TITLE)}", _TITLE)
        yield f"<a class='{kind}' href='#{link(shown, to)}' tabindex='-1' title='{escape(title, quote=True)}'"
        yield f" style='left:{x / 10:g}%;top:{y / 10:g}%'></a>"
    yield "</div>"


def link(shown: Outline, entry: Entry) -> str:
    """The id of an entry's element, which other plans on the page don't have."""
    return f"substrait-{shown.digest}-{entry.number}"


def _places(shown: Outline, levels: int) -> list[tuple[int, int]]:
    """Where each entry is, in thousandths: leaves side by side, others in the middle above what they read."""
    leaves = max(1, sum(not entry.below for entry in shown.entries))
    across: list[float] = [0.0] * len(shown.entries)
    left = leaves
    for entry in reversed(shown.entries):  # from below, and from the right
        if entry.below:
            across[entry.number] = sum(across[inner.number] for inner in entry.below) / len(entry.below)
        else:
            left -= 1
            across[entry.number] = (left + 0.5) / leaves
    return [
        (round(1000 * x), round(1000 * (entry.level + 0.5) / levels))
        for x, entry in zip(across, shown.entries, strict=True)
    ]


def _line(places: list[tuple[int, int]], above: Entry, below: Entry) -> str:
    return "M{} {}L{} {}".format(*places[above.number], *places[below.number])
