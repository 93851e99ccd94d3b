"""The parts that every relation may have: emit, anchor, hint, extension."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors.quotation import identifier, quoted
from .document import Part
from .parts import advanced, fields, list_part, part, part_text
from .text import Text, joined
from .view import View


class Common(NamedTuple):
    """What a relation has in common with others."""

    parts: tuple[Part, ...] = ()
    emitted: tuple[int, ...] | None = None
    anchor: int | None = None


def common(relation: View, *, verbose: bool) -> Common:
    """The common parts of a relation; hints only where `verbose`."""
    message: Any = relation.take("common") if relation.has_field("common") else None
    if message is None:
        return Common()
    view = View(message)
    parts: list[Part] = []
    emitted = None
    kind = view.chosen("emit_kind")
    if kind is not None:
        chosen = View(view.take(kind))
        if kind == "emit":
            emitted = tuple(chosen.take_all("output_mapping"))
            parts.append(list_part("emit", list(map(str, emitted)), empty=True))
        elif verbose:
            parts.append(part("", "direct"))
        parts.append(part("", chosen.untaken()))
    anchor = view.take("rel_anchor")
    if anchor is not None:
        parts.append(part("anchor", f"@{anchor}"))
    hint = view.take("hint")
    if hint is not None and verbose:
        parts.append(part("hint", _hint(View(hint))))
    return Common((*parts, *advanced(view), part("", view.untaken())), emitted, anchor)


def _hint(view: View) -> Text:
    shown: list[Text] = []
    if (alias := view.take("alias")) is not None:
        shown.append(f"alias {quoted(alias)}")
    if names := view.take_all("output_names"):
        shown.append(f"output_names [{', '.join(map(identifier, names))}]")
    for field in ("stats", "constraint"):
        inner = view.take(field)
        if inner is not None:
            shown.append((f"{field} ", fields(inner)))
    for field in ("saved_computations", "loaded_computations"):
        shown += [(f"{field} ", fields(inner)) for inner in view.take_all(field)]
    return ("{", joined(", ", [*shown, *map(part_text, advanced(view))]), view.untaken(), "}")
