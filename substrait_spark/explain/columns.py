"""Where each column of a relation comes from, and so what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from substrait.algebra_pb2 import Rel
from substrait.type_pb2 import NamedStruct

from ..algebra.enum_names import enum_name
from ..trampoline import Steps


class Origin(NamedTuple):
    """A column of one of a relation's inputs."""

    input: int
    ordinal: int


Origins = Sequence["Origin | None"]
"""For each column, before emit, the input's column that it is; None where the relation computes it."""

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
    found: list[Rel] = []
    for field in INPUTS[kind] if kind is not None else ():
        message: Any = getattr(rel, str(kind))
        if field == "inputs":
            found.extend(message.inputs)
        elif message.HasField(field):
            found.append(getattr(message, field))
    return found


def origins(rel: Rel, widths: Sequence[int]) -> Origins:
    """Where a relation's own columns, before its emit, come from; `widths` counts the columns of each input."""
    kind = rel.WhichOneof("rel_type")
    if kind is None:
        return ()
    message = getattr(rel, kind)
    every = [[Origin(index, ordinal) for ordinal in range(width)] for index, width in enumerate(widths)]
    rule = _RULES.get(kind)
    if rule is not None:
        return rule(message, every)
    return every[0] if every else ()


def _join(message: Any, every: Sequence[Origins]) -> Origins:
    if len(every) < 2:
        return [origin for side in every for origin in side]
    side, _, form = enum_name(message, "type").partition("_")
    if form in ("SEMI", "ANTI", "MARK"):
        kept = every[0 if side == "LEFT" else 1]
        return [*kept, None] if form == "MARK" else kept
    return [*every[0], *every[1]]


def _cross(message: Any, every: Sequence[Origins]) -> Origins:
    return [origin for side in every for origin in side]


def _project(message: Any, every: Sequence[Origins]) -> Origins:
    return [*_first(every), *_referred(message.expressions, every)]


def _aggregate(message: Any, every: Sequence[Origins]) -> Origins:
    keys = _referred(message.grouping_expressions, every)
    number = [None] if len(message.groupings) > 1 else []
    return [*keys, *[None] * len(message.measures), *number]


def _window(message: Any, every: Sequence[Origins]) -> Origins:
    return [*_first(every), *[None] * len(message.window_functions)]


def _expand(message: Any, every: Sequence[Origins]) -> Origins:
    found: list[Origin | None] = []
    for field in message.fields:
        switching = field.WhichOneof("field_type") == "switching_field"
        expressions = field.switching_field.duplicates if switching else [field.consistent_field]
        known = {origin for origin in _referred(expressions, every) if origin is not None}
        found.append(known.pop() if len(known) == 1 else None)
    return [*found, None]


def _first(every: Sequence[Origins]) -> Origins:
    return every[0] if every else ()


def _nothing(message: Any, every: Sequence[Origins]) -> Origins:
    return ()


_RULES: dict[str, Callable[[Any, Sequence[Origins]], Origins]] = {
    **dict.fromkeys(("join", "lateral_join", "hash_join", "merge_join", "nested_loop_join"), _join),
    "cross": _cross,
    "project": _project,
    "aggregate": _aggregate,
    "window": _window,
    "expand": _expand,
    **dict.fromkeys(("write", "ddl", "update", "extension_multi"), _nothing),
}
"""The relations whose columns aren't those of their first input."""


def _referred(expressions: Sequence[Any], every: Sequence[Origins]) -> Origins:
    return [_column(expression, every) for expression in expressions]


def _column(expression: Any, every: Sequence[Origins]) -> Origin | None:
    """The input's column that an expression is, where it is no more than a reference to one."""
    if expression.WhichOneof("rex_type") != "selection":
        return None
    selection = expression.selection
    segment = selection.direct_reference
    if selection.WhichOneof("root_type") != "root_reference" or segment.WhichOneof("reference_type") != "struct_field":
        return None
    ordinal: int = segment.struct_field.field
    columns = _first(every)
    if segment.struct_field.HasField("child") or not 0 <= ordinal < len(columns):
        return None
    return columns[ordinal]


# ---- names


class Name(NamedTuple):
    """A column's name, None where it has none, and the depth-first names of what is inside it."""

    name: str | None
    inner: tuple[str, ...] = ()


_UNNAMED = Name(None)
Names = tuple[Name, ...]


class ColumnNames:
    """The names of every relation's output columns.

    A column is called what the read calls it that it comes from. One that is computed is called what the plan's root,
    or a hint, calls it.
    """

    def __init__(self) -> None:
        self._names: dict[int, tuple[Rel, Names]] = {}
        self._roots: list[Names] = []

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
            direct = list(read_names(message))
        elif kind == "reference":
            ordinal = message.subtree_ordinal
            direct = list(self._roots[ordinal] if 0 <= ordinal < len(self._roots) else ())
        else:
            direct = [
                _UNNAMED if origin is None else below[origin.input][origin.ordinal]
                for origin in origins(rel, [len(names) for names in below])
            ]
        emitted = [direct[o] if 0 <= o < len(direct) else _UNNAMED for o in emit(rel, len(direct))]
        hinted = list(message.common.hint.output_names) if hasattr(message, "common") else []
        if len(hinted) == len(emitted):
            emitted = [found if found.name else Name(hint) for found, hint in zip(emitted, hinted, strict=True)]
        return tuple(emitted)

    def _pass_down(self, root: Rel, wanted: Sequence[Name]) -> None:
        """Give columns without a name the one that the relation above has for them."""
        stack: list[tuple[Rel, Sequence[Name]]] = [(root, wanted)]
        while stack:
            rel, wanted = stack.pop()
            own = self.of(rel)
            if all(found.name for found in own):
                continue
            named = tuple(found if found.name else wish for found, wish in zip(own, wanted, strict=True))
            self._names[id(rel)] = (rel, named)
            below = inputs(rel)
            wishes = [[_UNNAMED] * len(self.of(input)) for input in below]
            found_at = origins(rel, [len(wish) for wish in wishes])
            for name, ordinal in zip(named, emit(rel, len(found_at)), strict=True):
                origin = found_at[ordinal] if 0 <= ordinal < len(found_at) else None
                if origin is not None:
                    wishes[origin.input][origin.ordinal] = name
            stack.extend(zip(below, wishes, strict=True))


def emit(rel: Rel, width: int) -> Sequence[int]:
    """Which of its own columns a relation puts out."""
    kind = rel.WhichOneof("rel_type")
    message: Any = getattr(rel, kind) if kind is not None else None
    if hasattr(message, "common") and message.common.WhichOneof("emit_kind") == "emit":
        return list(message.common.emit.output_mapping)
    return range(width)


def read_names(read: Any) -> Iterator[Name]:
    """The names of a read's columns, after its projection."""
    schema = list(schema_names(read.base_schema))
    if not read.HasField("projection"):
        yield from schema
        return
    for item in read.projection.select.struct_items:
        known = 0 <= item.field < len(schema)
        yield schema[item.field] if known else _UNNAMED


def schema_names(schema: NamedStruct) -> Iterator[Name]:
    """The names of a schema's columns."""
    names = iter(schema.names)
    for type in schema.struct.types:
        name = next(names, None)
        yield Name(name, tuple(found for found in (next(names, None) for _ in range(_count(type))) if found))


def _count(type: Any) -> int:
    """How many names the depth-first list has for what is inside a type."""
    found, stack = 0, [type]
    while stack:
        message = stack.pop()
        kind = message.WhichOneof("kind")
        if kind == "struct":
            found += len(message.struct.types)
            stack.extend(message.struct.types)
        elif kind == "list":
            stack.append(message.list.type)
        elif kind == "map":
            stack += [message.map.key, message.map.value]
    return found
