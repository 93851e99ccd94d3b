"""Where each column of a relation comes from, and so what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from substrait.algebra_pb2 import Rel
from substrait.type_pb2 import NamedStruct

from ..algebra import limits
from ..algebra.enum_names import enum_name
from ..algebra.extension_messages import unpacked
from ..algebra.trampoline import Steps


class Origin(NamedTuple):
    """A column of one of a relation's inputs."""

    input: int
    ordinal: int


class Item(NamedTuple):
    """A column that the relation makes: the part of its text that says how, and which item of that."""

    part: str
    number: int


Source: TypeAlias = "Origin | Item"
Sources = Sequence[Source]


INPUTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("read", "extension_leaf", "reference", "update"), ()),
    **dict.fromkeys(
        ("filter", "fetch", "aggregate", "sort", "project", "extension_single", "write", "window", "exchange"),
        ("input",),
    ),
    **dict.fromkeys(("expand", "top_n"), ("input",)),
    **dict.fromkeys(
        ("join", "lateral_join", "cross", "hash_join", "merge_join", "nested_loop_join"), ("left", "right")
    ),
    "ddl": ("view_definition",),
    **dict.fromkeys(("set", "extension_multi"), ("inputs",)),
}
"""The fields that hold a relation's inputs."""


def inputs(rel: Rel) -> list[Rel]:
    """A relation's inputs, those that there are."""
    kind = rel.WhichOneof("rel_type")
    present: list[Rel] = []
    for field in INPUTS[kind] if kind is not None else ():
        message: Any = getattr(rel, str(kind))
        if field == "inputs":
            present.extend(message.inputs)
        elif message.HasField(field):
            present.append(getattr(message, field))
    return present


def sources(rel: Rel, widths: Sequence[int]) -> Sources:
    """Where a relation's own columns, before its emit, come from; `widths` counts the columns of each input."""
    kind = rel.WhichOneof("rel_type")
    if kind is None:
        return ()
    every = [[Origin(index, ordinal) for ordinal in range(width)] for index, width in enumerate(widths)]
    rule = _RULES.get(kind, _first)
    return rule(getattr(rel, kind), every)


def _first(message: Any, every: Sequence[Sources]) -> Sources:
    return every[0] if every else ()


def _all(message: Any, every: Sequence[Sources]) -> Sources:
    return [origin for side in every for origin in side]


def _none(message: Any, every: Sequence[Sources]) -> Sources:
    return ()


def _read(message: Any, every: Sequence[Sources]) -> Sources:
    ordinals = range(len(message.base_schema.struct.types))
    if message.HasField("projection"):
        return [Item("schema", item.field) for item in message.projection.select.struct_items]
    return [Item("schema", ordinal) for ordinal in ordinals]


def _join(message: Any, every: Sequence[Sources]) -> Sources:
    side, _, form = enum_name(message, "type").partition("_")
    if form in ("SEMI", "ANTI", "MARK") and len(every) > 1:
        kept = every[0 if side == "LEFT" else 1]
        return [*kept, Item("mark", 0)] if form == "MARK" else kept
    return _all(message, every)


def _project(message: Any, every: Sequence[Sources]) -> Sources:
    return [*_first(message, every), *_expressions("", message.expressions, every)]


def _aggregate(message: Any, every: Sequence[Sources]) -> Sources:
    keys = _expressions("by", message.grouping_expressions, every)
    number = [Item("set number", 0)] if len(message.groupings) > 1 else []
    return [*keys, *_items("measures", message.measures), *number]


def _window(message: Any, every: Sequence[Sources]) -> Sources:
    return [*_first(message, every), *_items("", message.window_functions)]


def _expand(message: Any, every: Sequence[Sources]) -> Sources:
    columns: list[Source] = []
    for index, field in enumerate(message.fields):
        switching = field.WhichOneof("field_type") == "switching_field"
        expressions = field.switching_field.duplicates if switching else [field.consistent_field]
        known = {source for source in _expressions("", expressions, every) if isinstance(source, Origin)}
        columns.append(known.pop() if len(known) == 1 else Item("", index))
    return [*columns, *_first(message, every)[len(columns) :], Item("number", 0)]


def _extension(message: Any, every: Sequence[Sources]) -> Sources:
    detail = unpacked(message.detail)
    rule = _EXTENSIONS.get(type(detail).__name__)
    if rule is not None:
        return rule(detail, every)
    return _first(message, every) if len(every) == 1 else ()


def _rows_of_call(detail: Any, every: Sequence[Sources]) -> Sources:
    return [Item("call", n) for n in range(len(detail.call.output_type.list.type.struct.types))]


_EXTENSIONS: dict[str, Callable[[Any, Sequence[Sources]], Sources]] = {
    "FlatMap": _rows_of_call,
    "FlatMapCoGroups": _rows_of_call,
    "Merge": _none,
    "Recursion": lambda detail, every: every[0],
}
"""Extension relations whose columns don't begin with those of their input, by the names of their messages."""


_RULES: dict[str, Callable[[Any, Sequence[Sources]], Sources]] = {
    **dict.fromkeys(("join", "lateral_join", "hash_join", "merge_join", "nested_loop_join"), _join),
    **dict.fromkeys(("write", "ddl", "update", "extension_leaf"), _none),
    **dict.fromkeys(("extension_multi", "extension_single"), _extension),
    "cross": _all,
    "read": _read,
    "project": _project,
    "aggregate": _aggregate,
    "window": _window,
    "expand": _expand,
}
"""The relations whose columns aren't those of their first input."""


def _items(part: str, messages: Sequence[Any]) -> Sources:
    return [Item(part, index) for index in range(len(messages))]


def _expressions(part: str, expressions: Sequence[Any], every: Sequence[Sources]) -> Sources:
    """Expressions as columns: one that is no more than a reference to an input's column is that one."""
    columns = _first(None, every)
    ordinals = map(_referred, expressions)
    return [
        columns[ordinal] if ordinal is not None and 0 <= ordinal < len(columns) else Item(part, index)
        for index, ordinal in enumerate(ordinals)
    ]


def _referred(expression: Any) -> int | None:
    """The ordinal of the column that an expression is, where it is no more than a reference to one."""
    selection = expression.selection
    field = selection.direct_reference.struct_field
    plain = (
        expression.WhichOneof("rex_type") == "selection"
        and selection.WhichOneof("root_type") == "root_reference"
        and selection.direct_reference.WhichOneof("reference_type") == "struct_field"
        and not field.HasField("child")
    )
    return int(field.field) if plain else None


# ---- names


class Name(NamedTuple):
    """A column's name, None where it has none, and the depth-first names of what is inside it."""

    name: str | None
    inner: tuple[str, ...] = ()


UNNAMED = Name(None)
Names = tuple[Name, ...]


class ColumnNames:
    """The names of every relation's output columns.

    A column is called what the read calls it that it comes from. One that is computed is called what the plan's root,
    or a hint, calls it.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[Rel, Names]] = {}
        self._roots: list[Names] = []
        self._columns = limits.Columns()

    def of(self, rel: Rel) -> Names:
        return self._names.get(id(rel), (rel, ()))[1]

    def add_root(self, rel: Rel, names: Sequence[str] | None) -> Steps[None]:
        """Name the columns in one of the plan's trees."""
        yield self.add(rel)
        if names is not None and len(names) == len(self.of(rel)):
            self._pass_down(rel, [Name(name) for name in names])
        self._roots.append(self.of(rel))

    def add(self, rel: Rel) -> Steps[None]:
        """Name the columns in a tree from its leaves up."""
        below = inputs(rel)
        for input in below:
            yield self.add(input)
        kind = rel.WhichOneof("rel_type")
        self._names[id(rel)] = (rel, () if kind is None else self._named(rel, kind, [self.of(i) for i in below]))

    def _named(self, rel: Rel, kind: str, below: Sequence[Names]) -> Names:
        message = getattr(rel, kind)
        if kind == "read":
            schema = list(schema_names(message.base_schema))
            direct = [
                schema[source.number] if isinstance(source, Item) and source.number in range(len(schema)) else UNNAMED
                for source in sources(rel, ())
            ]
        elif kind == "reference":
            ordinal = message.subtree_ordinal
            direct = list(self._roots[ordinal] if 0 <= ordinal < len(self._roots) else ())
        else:
            direct = [
                below[source.input][source.ordinal] if isinstance(source, Origin) else UNNAMED
                for source in sources(rel, [len(names) for names in below])
            ]
        emitted = [direct[o] if 0 <= o < len(direct) else UNNAMED for o in emit(rel, len(direct))]
        hinted = list(message.common.hint.output_names) if hasattr(message, "common") else []
        if len(hinted) == len(emitted):
            emitted = [own if own.name else Name(hint) for own, hint in zip(emitted, hinted, strict=True)]
        self._columns.take(sum(1 + len(name.inner) for name in emitted))
        return tuple(emitted)

    def _pass_down(self, root: Rel, wanted: Sequence[Name]) -> None:
        """Give columns without a name the one that the relation above has for them."""
        stack: list[tuple[Rel, Sequence[Name]]] = [(root, wanted)]
        while stack:
            rel, wanted = stack.pop()
            own = self.of(rel)
            named = tuple(known if known.name else wish for known, wish in zip(own, wanted, strict=True))
            self._names[id(rel)] = (rel, named)
            if rel.WhichOneof("rel_type") == "reference":
                continue  # what it refers to has its own names
            below = inputs(rel)
            wishes = [[UNNAMED] * len(self.of(input)) for input in below]
            direct = sources(rel, [len(wish) for wish in wishes])
            for name, ordinal in zip(named, emit(rel, len(direct)), strict=True):
                source = direct[ordinal] if 0 <= ordinal < len(direct) else None
                if isinstance(source, Origin):
                    wishes[source.input][source.ordinal] = name
                    # The inputs of a set operation have the same columns, or a plan is wrong that is shown all the same.
                    for other in wishes if rel.WhichOneof("rel_type") == "set" else ():
                        if source.ordinal < len(other):
                            other[source.ordinal] = name
            stack.extend(zip(below, wishes, strict=True))


def emit(rel: Rel, width: int) -> Sequence[int]:
    """Which of its own columns a relation puts out."""
    kind = rel.WhichOneof("rel_type")
    message: Any = getattr(rel, kind) if kind is not None else None
    if hasattr(message, "common") and message.common.WhichOneof("emit_kind") == "emit":
        return list(message.common.emit.output_mapping)
    return range(width)


def schema_names(schema: NamedStruct) -> Iterator[Name]:
    """The names of a schema's columns."""
    names = iter(schema.names)
    for type in schema.struct.types:
        name = next(names, None)
        yield Name(name, tuple(inner for inner in (next(names, None) for _ in range(_count(type))) if inner))


def _count(type: Any) -> int:
    """How many names the depth-first list has for what is inside a type."""
    count, stack = 0, [type]
    while stack:
        message = stack.pop()
        kind = message.WhichOneof("kind")
        if kind == "struct":
            count += len(message.struct.types)
            stack.extend(message.struct.types)
        elif kind == "list":
            stack.append(message.list.type)
        elif kind == "map":
            stack += [message.map.key, message.map.value]
    return count
