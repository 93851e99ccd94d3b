"""Catalyst trees as text: what the pairs of `tests/rewrites/` are written in.

A node is `Class(field=value, …)`, an expression has its type behind it, with `?` where it may be null: `Add(left=a#1: int?, right=…): int?`.
`a#1: int?` is short for an AttributeReference, and `1: int`, `'x': string`, `null: int?` for literals. Values are nodes,
numbers in braces (`{1}`), texts in quotes, `true`, `false`, `none`, and lists in brackets. Fields that no rule looks at are left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from substrait_spark.catalyst.tree import UNTYPED, DataType, Expression, Field, Node, make, make_plan

WIDTH = 100
"""How long a line may be before a node's fields stand on lines of their own."""

SHORT = {"int": "integer", "bigint": "long", "smallint": "short", "tinyint": "byte"}
"""SQL's names of types, by which they are written, and Spark's own."""
LONG = {spark: sql for sql, spark in SHORT.items()}

TOKENS = re.compile(
    r"\s*(?:(?P<attribute>[A-Za-z_]\w*\#-?\d+)|(?P<word>[A-Za-z_]\w*)|(?P<number>-?\d+(?:\.\d+)?(?:e-?\d+)?)"
    r"|(?P<text>'(?:[^'\\]|\\.)*')|(?P<mark>[()\[\]{}<>=,:?]))"
)

CONSTANTS = {"true": True, "false": False, "none": None}


def text(node: Node) -> str:
    """A tree as text."""
    return "\n".join(_lines(node, ""))


def parsed(written: str) -> Node:
    """The tree of a text. Raises ValueError where it is none."""
    reader = _Reader(written)
    node = reader.node()
    reader.end()
    return node


# ---- writing


def _lines(value: Any, indent: str) -> Iterator[str]:
    line = indent + _inline(value)
    if len(line) <= WIDTH or not isinstance(value, Node | tuple) or not _parts(value):
        yield line
        return
    opening, closing = ("[", "]") if isinstance(value, tuple) else (f"{value.name}(", f"){_type_of(value)}")
    yield indent + opening
    for name, part in _parts(value):
        first, *rest = _lines(part, f"{indent}  ")
        *rest, last = [f"{indent}  {name}{first.strip()}", *rest]
        yield from rest
        yield f"{last},"
    yield indent + closing


def _parts(value: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(value, tuple):
        return [("", part) for part in value]
    if _is_short(value):
        return ()
    return [(f"{field}=", part) for field, part in zip(value.cls.fields, value.values, strict=True)]


def _is_short(node: Node) -> bool:
    if node.name == "Literal":
        return isinstance(node["value"], bool | int | float | str | None)
    return (
        node.name == "AttributeReference"
        and set(node.cls.fields) <= {"name", "exprId", "metadata"}
        and not node.get("metadata")
    )


def _inline(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_inline, value))}]"
    if not isinstance(value, Node):
        return _constant(value)
    if value.name == "AttributeReference" and _is_short(value):
        return f"{value['name']}#{value['exprId']}{_type_of(value)}"
    if value.name == "Literal" and _is_short(value):
        return _datum(value["value"]) + _type_of(value)
    return f"{value.name}({', '.join(name + _inline(part) for name, part in _parts(value))}){_type_of(value)}"


def _constant(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{{{value}}}"
    return repr(value) if isinstance(value, str) else {True: "true", False: "false", None: "none"}[value]


def _datum(value: Any) -> str:
    return "null" if value is None else repr(value) if isinstance(value, str) else str(value).lower()


def _type_of(node: Node) -> str:
    if not isinstance(node, Expression) or node.type == UNTYPED:
        return ""
    return f": {_type_text(node.type)}{'?' if node.nullable else ''}"


def _type_text(type: DataType) -> str:
    if type.name == "array":
        return f"array<{_type_text(type.parameters[0])}>"
    if type.name == "struct":
        return f"struct<{', '.join(f'{field.name}: {_type_text(field.type)}' for field in type.parameters)}>"
    name = LONG.get(type.name, type.name)
    return f"{name}({', '.join(map(str, type.parameters))})" if type.parameters else name


# ---- reading


class _Reader:
    """What is left of a text, token by token."""

    def __init__(self, written: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        written = written.rstrip()
        while position < len(written):
            found = TOKENS.match(written, position)
            if found is None:
                raise ValueError(f"no token at {written[position : position + 20]!r}")
            self._tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            position = found.end()
        self._next = 0

    def end(self) -> None:
        if self._next < len(self._tokens):
            raise ValueError(f"{self._tokens[self._next][1]!r} behind the tree")

    def node(self) -> Node:
        value = self._value()
        if not isinstance(value, Node):
            raise ValueError(f"{value!r} is no node")
        return value

    def _value(self) -> Any:
        kind, token = self._take()
        if kind == "attribute":
            name, _, number = token.partition("#")
            type, nullable = self._type()
            return make("AttributeReference", type, nullable, name=name, exprId=int(number), metadata=())
        if token == "[":
            return tuple(self._listed("]"))
        if token == "{":
            _, number = self._take()
            self._expect("}")
            return ast.literal_eval(number)
        if kind == "word" and self._is_next("("):
            return self._made(token)
        value = ast.literal_eval(token) if kind in ("text", "number") else CONSTANTS.get(token)
        if self._is_next(":"):
            return make("Literal", *self._type(), value=value)
        if kind == "number" or (kind == "word" and token not in CONSTANTS):
            raise ValueError(f"{token!r} is no value")
        return value

    def _made(self, name: str) -> Node:
        self._expect("(")
        fields = {}
        while not self._is_next(")"):
            _, field = self._take()
            self._expect("=")
            fields[field] = self._value()
            if not self._is_next(")"):
                self._expect(",")
        self._expect(")")
        if self._is_next(":"):
            return make(name, *self._type(), **fields)
        return make_plan(name, **fields) if name in PLANS else make(name, UNTYPED, True, **fields)

    def _listed(self, end: str) -> Iterator[Any]:
        while not self._is_next(end):
            yield self._value()
            if not self._is_next(end):
                self._expect(",")
        self._expect(end)

    def _type(self) -> tuple[DataType, bool]:
        self._expect(":")
        type = self._bare_type()
        nullable = self._is_next("?")
        if nullable:
            self._take()
        return type, nullable

    def _bare_type(self) -> DataType:
        _, name = self._take()
        if name == "array":
            self._expect("<")
            element = self._bare_type()
            self._expect(">")
            return DataType("array", (element, True))
        if name == "struct":
            return DataType("struct", tuple(self._fields()))
        parameters: list[int] = []
        if self._is_next("("):
            self._take()
            while not self._is_next(")"):
                parameters.append(int(self._take()[1]))
                if self._is_next(","):
                    self._take()
            self._take()
        return DataType(SHORT.get(name, name), tuple(parameters))

    def _fields(self) -> Iterator[Field]:
        self._expect("<")
        while not self._is_next(">"):
            _, name = self._take()
            self._expect(":")
            yield Field(name, self._bare_type(), True)
            if self._is_next(","):
                self._take()
        self._take()

    def _is_next(self, token: str) -> bool:
        return self._next < len(self._tokens) and self._tokens[self._next][1] == token

    def _take(self) -> tuple[str, str]:
        if self._next == len(self._tokens):
            raise ValueError("the text ends too early")
        self._next += 1
        return self._tokens[self._next - 1]

    def _expect(self, token: str) -> None:
        _, found = self._take()
        if found != token:
            raise ValueError(f"{found!r} where {token!r} is wanted")


PLANS = (
    "Aggregate",
    "ArrowEvalPython",
    "BatchEvalPython",
    "Filter",
    "Join",
    "LocalRelation",
    "Project",
    "Sort",
    "SubqueryAlias",
    "Union",
    "Window",
    "Generate",
    "Expand",
    "GlobalLimit",
    "LocalLimit",
    "Range",
)
"""Classes of plan nodes, which have no type."""
