"""Decoding the document that PlanReader.java writes.

A JSON object: `spark` (version), `streaming`, `cached`, `configuration`, `statistics` (rows and bytes of plan nodes), `names`
(root names), `shown` (their types, where these differ from those of the output), `output` (root attributes), `root` (a node number) and four tables, `classes`, `types`, `columns` and `nodes`, whose entries refer to earlier entries by number.

* class: `[name, kind, field…]`; kind `e` expression, `p` plan, `v` value object
* type: `[name, parameter…]`; of a struct three for each field, which are its name, type and nullability
* node: `[class, field value…]`; an expression's class is followed by its head
* columns are nodes, too, the attributes: one list of four values for each, which are head, name, id, and the keys of its
  metadata that say where values come from, with spaces between them. Their numbers are -1, -2, … Those of a source without such
  keys are one row: four values for all of them, which are the struct type, how many they are, the first one's id, and null

A head is a number that says what an expression gives: twice its type, and one more if it is nullable; -1 without a type.

A field value is a number (of a node), a string, a boolean, null, a list, or an object that tells what it is:
`i` integer, `d` double, `t` type, `c` the columns of a row by the number of the first, `o` opaque object, `p` digest of a function in Python, `m` options, `x` bytes of a string that is no UTF-8, `row` data in
Catalyst's internal form, `f` files by folder (`[folder, name, length, …]` or `[folder, pattern]`).
"""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from functools import lru_cache
from typing import Any

from ..errors import UNEXPECTED, Unsupported, exception_text
from .tree import (
    COLUMN,
    UNTYPED,
    DataType,
    Document,
    Expression,
    Field,
    Folders,
    Node,
    NodeClass,
    Opaque,
    Options,
    Plan,
    PythonCode,
    Rows,
    SourceColumns,
)


def decode(text: str) -> Document:
    """The tree in a document. Raises `Unsupported` for a document that makes no sense."""
    try:
        return _decode(json.loads(text))
    except UNEXPECTED as error:
        raise Unsupported(
            f"the plan read from Spark has a shape that is not known ({exception_text(error)})"
        ) from error


def _decode(document: dict[str, Any]) -> Document:
    classes = [_class(*entry) for entry in document["classes"]]
    types: list[DataType] = []
    for entry in document["types"]:
        types.append(_type(entry, types))
    nodes = _nodes(document["columns"], document["nodes"], classes, types)
    root = nodes[document["root"]]
    if not isinstance(root, Plan):
        raise TypeError("the root is no plan")
    output = [attribute for number in document["output"] if isinstance(attribute := nodes[number], Expression)]
    if len(output) != len(document["output"]):
        raise TypeError("the output is no list of attributes")
    return Document(
        document["spark"],
        document["streaming"],
        tuple(document["names"]),
        tuple(output),
        tuple(
            [types[number] for number in document["shown"]] if "shown" in document else [each.type for each in output]
        ),
        root,
        tuple(nodes.values()),
        frozenset([COLUMN.name, *[cls.name for cls in classes]]),
        document["configuration"],
        document["cached"],
        {int(number): (rows, size) for number, (rows, size) in document.get("statistics", {}).items()},
    )


@lru_cache(maxsize=1024)
def _class(name: str, kind: str, *fields: str) -> NodeClass:
    return NodeClass(name, kind, fields)


def _type(entry: list[Any], types: list[DataType]) -> DataType:
    name = entry[0]
    if name == "array":
        return DataType(name, (types[entry[1]], bool(entry[2])))
    if name == "map":
        return DataType(name, (types[entry[1]], types[entry[2]], bool(entry[3])))
    if name == "struct":
        return _struct(tuple(entry[1::3]), tuple([types[number] for number in entry[2::3]]), tuple(entry[3::3]))
    return DataType(name, tuple(entry[1:]))


@lru_cache(maxsize=256)
def _struct(names: tuple[str, ...], types: tuple[DataType, ...], nullable: tuple[int, ...]) -> DataType:
    """A struct type. The schemas of a session's tables are in document after document."""
    return DataType("struct", tuple(map(Field, names, types, map(bool, nullable))))


class Nodes(dict[int, Node]):
    """Nodes by number. Most columns of a source are used by nothing, and are made when something refers to them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, SourceColumns] = {}
        """Columns of sources by the number of the first, from -1 down."""
        self._places: list[int] = []

    def add_row(self, row: SourceColumns) -> None:
        """Note the columns of a source, whose numbers follow those of all before."""
        self.rows[row.first_number] = row
        self._places.append(-row.first_number)

    def __missing__(self, number: int) -> Node:
        found = bisect_right(self._places, -number)
        if not found:
            raise KeyError(number)
        first = -self._places[found - 1]
        self[number] = column = self.rows[first][first - number]
        return column


def _nodes(columns: list[Any], entries: list[list[Any]], classes: list[NodeClass], types: list[DataType]) -> Nodes:
    """The nodes by number: columns, which are most of them, and the others after those that they refer to."""
    # The type and nullability of expressions by the number that tells both.
    heads = [(type, nullable) for type in types for nullable in (False, True)]
    nodes = Nodes()
    number = -1
    for head, name, id, marks in zip(columns[::4], columns[1::4], columns[2::4], columns[3::4], strict=True):
        if marks is None:
            row = SourceColumns(types[head], id, number)
            if len(row) != name:
                raise ValueError(f"a row has {name} columns, and its type {len(row)}")
            nodes.add_row(row)
            number -= name
        else:
            type, nullable = heads[head]
            nodes[number] = Expression(COLUMN, (name, id, tuple(marks.split())), number, type, nullable, ())
            number -= 1
    heads.append((UNTYPED, True))  # the last one, since untyped expressions have the index -1
    for number, entry in enumerate(entries):
        nodes[number] = _node(classes[entry[0]], entry, number, heads, types, nodes)
    return nodes


def _node(
    cls: NodeClass,
    entry: list[Any],
    number: int,
    heads: list[tuple[DataType, bool]],
    types: list[DataType],
    nodes: Nodes,
) -> Node:
    children: list[Node] = []
    if cls.kind == "e":
        type, nullable = heads[entry[1]]
        if cls.name == "Literal" and type.name != "object":
            values: tuple[Any, ...] = (datum(entry[2]),)
        else:
            values = _values(entry[2:], types, nodes, children)
        node: Node = Expression(cls, values, number, type, nullable, children)
    else:
        values = _values(entry[1:], types, nodes, children)
        node = (Plan if cls.kind == "p" else Node)(cls, values, number, children)
    if len(values) != len(cls.fields):
        raise ValueError(f"{cls.name} has {len(values)} values for {len(cls.fields)} fields")
    return node


def _values(written: list[Any], types: list[DataType], nodes: Nodes, children: list[Node]) -> tuple[Any, ...]:
    """Field values as they are written; the nodes among them are also added to `children`."""
    values: list[Any] = []
    for value in written:
        kind = type(value)
        if kind is int:
            node = nodes[value]
            children.append(node)
            values.append(node)
        elif kind is list:
            values.append(_values(value, types, nodes, children) if value else ())
        elif kind is dict:
            values.append(
                value["i"] if "i" in value else nodes.rows[value["c"]] if "c" in value else _tagged(value, types)
            )
        else:
            values.append(value)
    return tuple(values)


def _tagged(value: dict[str, Any], types: list[DataType]) -> Any:
    ((tag, content),) = value.items()
    if tag == "d":
        return content
    if tag == "t":
        return types[content]
    if tag == "o":
        return Opaque(content)
    if tag == "p":
        return PythonCode(content)
    if tag == "m":
        return Options(dict(content))
    if tag == "x":
        return base64.b64decode(content, validate=True)
    if tag == "row":
        return Rows([datum(element) for element in content])
    if tag == "f":
        return Folders(content)
    raise ValueError(f"unknown tag {tag!r}")


def datum(value: Any) -> Any:
    """A value in Catalyst's internal form; bytes and opaque objects come tagged."""
    kind = type(value)
    if kind is list:
        return tuple([datum(element) for element in value])
    if kind is dict:
        ((tag, content),) = value.items()
        return base64.b64decode(content, validate=True) if tag == "x" else Opaque(content)
    return value
