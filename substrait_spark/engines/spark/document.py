"""What PlanBuilder.java is to build: a list of nodes, each made of nodes before it.

| node | what it makes |
|---|---|
| `["new", class, parts]` | an object of a Catalyst class, of its constructor's first parts; the others have their defaults |
| `["call", mode, name, nodes, zone]` | Spark's function of a name, made in an evaluation mode, with a time zone |
| `["literal", type, value]` | a literal; the value as `literals.py` writes it |
| `["attribute", name, type, nullable]`, `["alias", node, name]` | a column that a plan makes, by a new id |
| `["column", plan, ordinal]` | a column of a plan's output |
| `["typed", node, type]` | the expression, cast where it has another type than this |
| `["window", function, partition, order, frame]` | a window function; the frame is for those that have none of their own |
| `["rows", attributes, rows]` | a table of literal rows |
| `["python", index, nodes]` | a call of one of the functions in Python that come with the document |
| `["dataset", index]` | the plan of one of the Datasets that come with the document |

Nodes and types are written as their numbers. Parts of an object are JSON's plain values and lists, null for None, and
objects of one field, which say what else it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...algebra.types import Type
from .literals import written
from .types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UTC = "UTC"


class Node(NamedTuple):
    """A node of the document, by its number."""

    number: int


class Part(NamedTuple):
    """A part of an object that JSON has no value for."""

    kind: str
    value: Any


def singleton(name: str) -> Part:
    """A Scala object of Catalyst."""
    return Part("object", name)


def some(value: Any) -> Part:
    """A value where there could be none."""
    return Part("some", value)


def pair(first: Any, second: Any) -> Part:
    return Part("pair", [first, second])


NEW_ID = Part("id", True)


class Document:
    """The nodes that have been written."""

    def __init__(self) -> None:
        self._nodes: list[list[Any]] = []
        self._types: dict[str, int] = {}
        self.datasets: list[DataFrame] = []
        self.functions: list[Any] = []
        """Functions in Python, PySpark's objects."""

    def __len__(self) -> int:
        return len(self._nodes)

    def text(self) -> str:
        """The document as JSON."""
        return json.dumps({"types": list(self._types), "nodes": self._nodes}, separators=(",", ":"))

    def new(self, name: str, *parts: Any) -> Node:
        """An object of a Catalyst class."""
        return self._add("new", name, [self._part(part) for part in parts])

    def call(self, name: str, arguments: Sequence[Node], mode: str, zone: str = UTC) -> Node:
        """Spark's function of a name; `mode` is `ANSI` or `LEGACY`."""
        return self._add("call", mode, name, _numbers(arguments), zone)

    def literal(self, value: Any, type: Type) -> Node:
        """A literal of a value in Catalyst's internal form."""
        return self._add("literal", self._type(spark_type(type)), written(value, type))

    def attribute(self, name: str, type: Type, nullable: bool) -> Node:
        return self._add("attribute", name, self._type(spark_type(type)), nullable)

    def alias(self, node: Node, name: str) -> Node:
        return self._add("alias", node.number, name)

    def variable(self, name: str, type: Type) -> Node:
        """A parameter of a lambda."""
        return self.new("NamedLambdaVariable", name, Part("type", spark_type(type)), True, NEW_ID)

    def column(self, plan: Node, ordinal: int) -> Node:
        return self._add("column", plan.number, ordinal)

    def columns(self, plan: Node, count: int) -> list[Node]:
        """The first columns of a plan's output."""
        return [self.column(plan, ordinal) for ordinal in range(count)]

    def typed(self, node: Node, type: str) -> Node:
        """The expression in one of Spark's types, given as JSON."""
        return self._add("typed", node.number, self._type(type))

    def window(self, function: Node, partition: Sequence[Node], order: Sequence[Node], frame: Node) -> Node:
        return self._add("window", function.number, _numbers(partition), _numbers(order), frame.number)

    def rows(self, attributes: Sequence[Node], rows: Sequence[Sequence[Any]]) -> Node:
        """A table of literal rows; their values as `literals.py` writes them."""
        return self._add("rows", _numbers(attributes), rows)

    def python(self, function: Any, arguments: Sequence[Node]) -> Node:
        """A call of a function in Python."""
        self.functions.append(function)
        return self._add("python", len(self.functions) - 1, _numbers(arguments))

    def dataset(self, df: DataFrame) -> Node:
        self.datasets.append(df)
        return self._add("dataset", len(self.datasets) - 1)

    def is_column(self, node: Node) -> bool:
        """Whether a node is a column of some plan's output."""
        return self._nodes[node.number][0] in ("column", "attribute")

    def _add(self, *node: Any) -> Node:
        self._nodes.append(list(node))
        return Node(len(self._nodes) - 1)

    def _type(self, type: str) -> int:
        return self._types.setdefault(type, len(self._types))

    def _part(self, part: Any) -> Any:
        if isinstance(part, Node):
            return {"node": part.number}
        if isinstance(part, Part) and part.kind == "type":
            return {"type": self._type(part.value)}
        if isinstance(part, Part) and isinstance(part.value, Node):
            return {part.kind: part.value.number if part.kind == "outer" else self._part(part.value)}
        if isinstance(part, Part):
            return {part.kind: self._part(part.value)}
        if isinstance(part, list):
            return [self._part(each) for each in part]
        return part


def _numbers(nodes: Sequence[Node]) -> list[int]:
    return [node.number for node in nodes]
