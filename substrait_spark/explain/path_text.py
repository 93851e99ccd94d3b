"""The text of paths into values, `.1:age[0]`, and of masks, `{0, 2{1}}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrait.algebra_pb2 import Expression

from ..algebra.trampoline import Steps
from ..algebra.types import Type, field_count
from ..errors.quotation import identifier, quoted
from .literal_text import LiteralText
from .text import Text, joined
from .view import View


class PathText:
    """Shows reference segments and masks."""

    def __init__(self, literals: LiteralText) -> None:
        self._literals = literals

    def segments(
        self, message: Expression.ReferenceSegment | None, type: Type | None, names: Sequence[str]
    ) -> Steps[Text]:
        """The segments from this one on, into a value of a type, whose struct fields have these names, depth-first."""
        texts: list[Text] = []
        while message is not None:
            view = View(message)
            kind = view.chosen("reference_type")
            segment = View(view.take(kind)) if kind is not None else view
            if kind == "struct_field":
                ordinal = segment.take("field") or 0
                name, type, names = struct_field(ordinal, type, names)
                texts.append(f".{ordinal}" if name is None else f".{ordinal}:{identifier(name)}")
            elif kind == "list_element":
                texts.append(f"[{segment.take('offset') or 0}]")
                type, names = _element(type, 0, names)
            elif kind == "map_key":
                key = segment.take("map_key")
                texts.append(("[", (yield self._literals.of(key)) if key is not None else "no key", "]"))
                type, names = _element(type, 1, names)
            else:
                texts.append(".empty_segment")
            message = segment.take("child") if kind is not None else None
            texts += [segment.untaken(), view.untaken() if kind is not None else ""]
        return tuple(texts)

    def mask(self, message: Expression.MaskExpression) -> Steps[Text]:
        """What a mask keeps of a row."""
        view = View(message)
        select = view.take("select")
        singular = " maintain_singular_struct" if view.take("maintain_singular_struct") else ""
        return ((yield self._struct(select)) if select is not None else "{}", singular, view.untaken())

    def _struct(self, message: Any) -> Steps[Text]:
        view = View(message)
        items: list[Text] = []
        for item in view.take_all("struct_items"):
            inner = View(item)
            ordinal = str(inner.take("field") or 0)
            items.append((ordinal, (yield self._child(inner)), inner.untaken()))
        return ("{", joined(", ", items), "}", view.untaken())

    def _child(self, parent: View) -> Steps[Text]:
        message = parent.take("child")
        if message is None:
            return ""
        view = View(message)
        kind = view.chosen("type")
        rules = {"struct": self._struct, "list": self._list, "map": self._map}
        return ((yield rules[kind](view.take(kind))) if kind is not None else "{}", view.untaken())

    def _list(self, message: Any) -> Steps[Text]:
        view = View(message)
        items: list[Text] = []
        for item in view.take_all("selection"):
            outer = View(item)
            kind = outer.chosen("type")
            inner = View(outer.take(kind)) if kind is not None else outer
            if kind == "slice":
                shown = f"{inner.take('start') or 0}:{inner.take('end') or 0}"
            else:
                shown = str(inner.take("field") or 0) if kind is not None else "empty"
            items.append((shown, inner.untaken(), outer.untaken() if kind is not None else ""))
        return ("[", joined(", ", items), "]", (yield self._child(view)), view.untaken())

    def _map(self, message: Any) -> Steps[Text]:
        view = View(message)
        kind = view.chosen("select")
        inner = View(view.take(kind)) if kind is not None else view
        if kind == "key":
            shown = quoted(inner.take("map_key") or "")
        elif kind == "expression":
            shown = f"~{quoted(inner.take('map_key_expression') or '')}"
        else:
            shown = "every key"
        end = inner.untaken() if kind is not None else ""
        return ("[", shown, end, "]", (yield self._child(view)), view.untaken())


def struct_field(
    ordinal: int, type: Type | None, names: Sequence[str]
) -> tuple[str | None, Type | None, Sequence[str]]:
    """A struct field's name and type, and the names of what is inside it."""
    if type is None or type.kind != "struct" or not 0 <= ordinal < len(type.parameters):
        return None, None, ()
    before = ordinal + sum(field_count(parameter) for parameter in type.parameters[:ordinal])
    field = type.parameters[ordinal]
    inner = names[before + 1 : before + 1 + field_count(field)]
    return (names[before] if before < len(names) else None), field, inner


def _element(type: Type | None, parameter: int, names: Sequence[str]) -> tuple[Type | None, Sequence[str]]:
    """The type of a list's elements or a map's values, and the names inside them."""
    if type is None or type.kind not in ("list", "map") or parameter >= len(type.parameters):
        return None, ()
    before = sum(field_count(earlier) for earlier in type.parameters[:parameter])
    return type.parameters[parameter], names[before:]
