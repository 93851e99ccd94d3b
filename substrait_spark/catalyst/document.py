"""Decoding the document that PlanReader.java writes.

A JSON object: `spark` (version), `streaming`, `cached`, `configuration`, `statistics` (rows and bytes of plan
nodes), `names` (root names), `output` (root attributes), `root` (a node number) and three tables, `classes`, `types` and `nodes`, whose entries refer to earlier entries by number.

* class: `[name, kind, field…]`; kind `e` expression, `p` plan, `v` value object
* type: `[name, parameter…]`
* node: `[class, field value…]`; an expression's class is followed by its type (-1: none) and nullability

A field value is a number (of a node), a string, a boolean, null, a list, or an object that tells what it is:
`i` integer, `d` double, `t` type, `o` opaque object, `m` options, `x` bytes of a string that is no UTF-8, `row` data in
Catalyst's internal form, `f` files by folder (`[folder, name, length, …]` or `[folder, pattern]`).
"""

from __future__ import annotations

import base64
import json
from typing import Any

from ..errors import UNEXPECTED, Unsupported, said
from .tree import UNTYPED, DataType, Document, Expression, Field, Folders, Node, NodeClass, Opaque, Options, Plan, Rows


def decode(text: str) -> Document:
    """The tree in a document. Raises `Unsupported` for a document that makes no sense."""
    try:
        return _decode(json.loads(text))
    except UNEXPECTED as error:
        raise Unsupported(f"the plan read from Spark has a shape that is not known ({said(error)})") from error


def _decode(document: dict[str, Any]) -> Document:
    classes = [NodeClass(entry[0], entry[1], tuple(entry[2:])) for entry in document["classes"]]
    types: list[DataType] = []
    for entry in document["types"]:
        types.append(_type(entry, types))
    nodes: list[Node] = []
    for number, entry in enumerate(document["nodes"]):
        nodes.append(_node(number, entry, classes, types, nodes))
    root = nodes[document["root"]]
    if not isinstance(root, Plan):
        raise TypeError("the root is no plan")
    output = tuple(nodes[number] for number in document["output"])
    if not all(isinstance(attribute, Expression) for attribute in output):
        raise TypeError("the output is no list of attributes")
    names = frozenset(cls.name for cls in classes)
    return Document(
        document["spark"],
        document["streaming"],
        tuple(document["names"]),
        output,
        root,
        nodes,
        names,
        document["configuration"],
        document["cached"],
        {int(number): (rows, size) for number, (rows, size) in document.get("statistics", {}).items()},
    )


def _type(entry: list[Any], types: list[DataType]) -> DataType:
    name = entry[0]
    if name == "array":
        return DataType(name, (types[entry[1]], bool(entry[2])))
    if name == "map":
        return DataType(name, (types[entry[1]], types[entry[2]], bool(entry[3])))
    if name == "struct":
        return DataType(name, tuple(Field(field[0], types[field[1]], bool(field[2])) for field in entry[1:]))
    return DataType(name, tuple(entry[1:]))


def _node(number: int, entry: list[Any], classes: list[NodeClass], types: list[DataType], nodes: list[Node]) -> Node:
    cls = classes[entry[0]]
    children: list[Node] = []
    is_expression = cls.kind == "e"
    kind = types[entry[1]] if is_expression and entry[1] >= 0 else UNTYPED
    if cls.name == "Literal" and kind.name != "object":
        values: tuple[Any, ...] = (datum(entry[3]),)
    else:
        values = _values(entry[3:] if is_expression else entry[1:], types, nodes, children)
    if len(values) != len(cls.fields):
        raise ValueError(f"{cls.name} has {len(values)} values for {len(cls.fields)} fields")
    if is_expression:
        return Expression(cls, values, number, kind, entry[2] == 1, children)
    return (Plan if cls.kind == "p" else Node)(cls, values, number, children)


def _values(written: list[Any], types: list[DataType], nodes: list[Node], children: list[Node]) -> tuple[Any, ...]:
    """Field values as they are written; the nodes among them are also added to `children`."""
    values: list[Any] = []
    for value in written:
        kind = type(value)
        if kind is int:
            if value < 0:
                raise IndexError(value)
            node = nodes[value]
            children.append(node)
            values.append(node)
        elif kind is list:
            values.append(_values(value, types, nodes, children) if value else ())
        elif kind is dict:
            values.append(value["i"] if "i" in value else _tagged(value, types))
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
