"""The text of types: of messages and of derived types alike, with the names of struct fields where they are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.message import Message
from substrait.type_pb2 import Type as TypeMessage

from ..algebra.trampoline import Steps, done, in_turn, run
from ..algebra.types import Type
from ..errors.quotation import identifier, quoted
from .declarations import Declarations
from .text import Text, joined
from .view import View

_NAMES = {"bool": "boolean", "fixed_char": "fixedchar", "fixed_binary": "fixedbinary"}
_NULLABILITY = {
    TypeMessage.NULLABILITY_REQUIRED: "",
    TypeMessage.NULLABILITY_NULLABLE: "?",
    TypeMessage.NULLABILITY_UNSPECIFIED: "!",
}
_COUNTS = {
    **dict.fromkeys(("fixed_char", "varchar", "fixed_binary"), ("length",)),
    **dict.fromkeys(
        ("precision_time", "precision_timestamp", "precision_timestamp_tz", "interval_compound"), ("precision",)
    ),
    "decimal": ("precision", "scale"),
}
"""The parameters that are numbers."""

_INNER = {"list": ("type",), "map": ("key", "value")}
"""The parameters that are types."""


class TypeText:
    """Shows types as `decimal?<38, 2>`: the name, `?` where it is nullable, the parameters."""

    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations

    def of(self, message: TypeMessage, names: Iterator[str] | None = None) -> Steps[Text]:
        """A type message's text; `names` are those of the struct fields in it, depth-first."""
        view = View(message)
        kind = view.chosen("kind")
        if kind is None:
            return ("untyped", view.untaken())
        inner = yield self.kind(kind, view.take(kind), names)
        return (inner, view.untaken())

    def kind(self, kind: str, message: Message, names: Iterator[str] | None = None) -> Steps[Text]:
        """The text of the message of one kind of type."""
        view = View(message)
        parameters = yield self._parameters(kind, view, names)
        name = _NAMES.get(kind, kind)
        if kind == "user_defined":
            name = f"u!{self._declarations.type(view.take('type_reference') or 0)}"
        if kind == "alias":
            name = f"alias@{view.take('type_alias_reference') or 0}"
        shown = ("<", joined(", ", parameters), ">") if parameters or kind == "struct" else ""
        return (name, self.marks(view), shown, view.untaken())

    def marks(self, view: View) -> str:
        """`?` for nullable, `!` where the nullability isn't stated, and the variation in brackets."""
        shown = ""
        if view.has_field("nullability"):
            nullability: Any = view.take("nullability") or 0
            shown = _NULLABILITY.get(nullability, f"!{nullability}")
        variation = view.take("type_variation_reference")
        return shown if variation is None else f"{shown}[{self._declarations.variation(variation)}]"

    def _parameters(self, kind: str, view: View, names: Iterator[str] | None) -> Steps[list[Text]]:
        if kind in _COUNTS:
            return done([str(view.take(field) or 0) for field in _COUNTS[kind]])
        if kind == "interval_day":
            precision = view.take("precision")
            return done([] if precision is None else [str(precision)])
        if kind == "struct":
            return self.fields(view.take_all("types"), names)
        if kind == "func":
            return self._signature(view)
        if kind == "user_defined":
            return in_turn(map(self.parameter, view.take_all("type_parameters")))
        inner = [view.take(field) for field in _INNER.get(kind, ())]
        return in_turn(self.of(message, names) for message in inner if message is not None)

    def _signature(self, view: View) -> Steps[list[Text]]:
        parameters = yield self.fields(view.take_all("parameter_types"), None)
        result = view.take("return_type")
        shown = (yield self.of(result)) if result is not None else "untyped"
        return [("(", joined(", ", parameters), ") -> ", shown)]

    def fields(self, messages: Sequence[TypeMessage], names: Iterator[str] | None) -> Steps[list[Text]]:
        """The types of a struct's fields, each after its name."""
        texts: list[Text] = []
        for message in messages:
            name = next(names, None) if names is not None else None
            inner = yield self.of(message, names)
            texts.append(inner if name is None else (identifier(name), ": ", inner))
        return texts

    def parameter(self, message: TypeMessage.Parameter) -> Steps[Text]:
        """The text of a parameter of a user-defined type."""
        view = View(message)
        kind = view.chosen("parameter")
        value: Any = None if kind is None else view.take(kind)
        shown: Text = "unset"
        if kind == "data_type":
            shown = yield self.of(value)
        elif kind == "null":
            shown = ("null", View(value).untaken())
        elif kind == "enum":
            shown = identifier(value)
        elif kind == "string":
            shown = quoted(value)
        elif kind is not None:
            shown = str(value).lower()
        return (shown, view.untaken())


def type_with_names(type: Type, names: Sequence[str]) -> Text:
    """A derived type's text, with the depth-first names of the struct fields in it, where there are any."""
    return run(_derived(type, iter(names))) if names else str(type)


def _derived(type: Type, names: Iterator[str]) -> Steps[Text]:
    if type.kind not in ("struct", "list", "map"):
        return str(type)
    shown: list[Text] = []
    for parameter in type.parameters:
        name = next(names, None) if type.kind == "struct" else None
        inner = yield _derived(parameter, names)
        shown.append(inner if name is None else (identifier(name), ": ", inner))
    return (f"{type.kind}{'?' if type.nullable else ''}<", joined(", ", shown), ">")
