"""Catalyst's optimized plan as immutable Python nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ..errors import Unsupported

if TYPE_CHECKING:
    from typing_extensions import Self


class NodeClass:
    """A Catalyst class as one Spark version declares it: its name and its fields in order."""

    __slots__ = ("fields", "index", "kind", "name")

    def __init__(self, name: str, kind: str, fields: tuple[str, ...]) -> None:
        self.name = name
        self.kind = kind
        self.fields = fields
        self.index = {field: position for position, field in enumerate(fields)}


class DataType(NamedTuple):
    """A Spark type: its name (`integer`, `decimal`, `array`, …) and its parameters.

    Parameters: decimal (precision, scale); array (element, contains null); map (key, value, value contains
    null); struct a tuple of `Field`; daytime and yearmonth intervals (start, end) as Spark numbers them; geometry and geography
    the names of their reference system and, of the second, of what joins points.
    """

    name: str
    parameters: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.parameters[0]},{self.parameters[1]})"
        if self.name == "array":
            return f"array<{self.parameters[0]}>"
        if self.name == "map":
            return f"map<{self.parameters[0]},{self.parameters[1]}>"
        if self.name == "struct":
            return f"struct<{','.join(f'{field.name}:{field.type}' for field in self.parameters)}>"
        return self.name


class Field(NamedTuple):
    """A field of a struct type."""

    name: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """An object that the reader does not look into; its Java class is all that is known."""

    java_class: str


@dataclass(frozen=True, slots=True)
class PythonCode:
    """A function in Python as Spark has it, pickled. It is never looked into: a digest tells functions apart."""

    digest: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Values in Catalyst's internal form: dates in days, timestamps in microseconds, decimals unscaled."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class Folders:
    """Files by the folder that they are in: `[folder, name, length, …]`, or `[folder, pattern]` for all that match."""

    entries: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Options:
    """Options by lower-cased key; None where the value stayed in the JVM because it may hold a secret."""

    entries: dict[str, str | None]


class Node:
    """A Catalyst object: a plan, an expression or a small value object. Fields by name: `node["child"]`."""

    __slots__ = ("_children", "cls", "number", "values")

    def __init__(
        self,
        cls: NodeClass,
        values: tuple[Any, ...],
        number: int | None = None,
        children: Sequence[Node] | None = None,
    ) -> None:
        self.cls = cls
        self.values = values
        self.number = number
        self._children = children

    @property
    def name(self) -> str:
        """The Catalyst class name."""
        return self.cls.name

    def __getitem__(self, field: str) -> Any:
        try:
            return self.values[self.cls.index[field]]
        except KeyError:
            raise Unsupported(
                f"this Spark's {self.cls.name} has no field {field!r} (it has {', '.join(self.cls.fields)})",
                "Check that this Spark version is one that substrait_spark supports.",
            ) from None

    def get(self, field: str, default: Any = None) -> Any:
        """The field's value, or the default on Spark versions whose class has no such field."""
        position = self.cls.index.get(field)
        return default if position is None else self.values[position]

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        values = list(self.values)
        for field, value in changes.items():
            values[self.cls.index[field]] = value
        return self.with_values(tuple(values))

    def with_values(self, values: tuple[Any, ...]) -> Self:
        """A copy with other field values."""
        return type(self)(self.cls, values, self.number)

    def children(self) -> Sequence[Node]:
        """The nodes in this node's fields, also inside sequences, in order."""
        if self._children is None:
            children: list[Node] = []
            _collect(self.values, children)
            self._children = children
        return self._children

    def __repr__(self) -> str:
        return f"<{self.cls.name}>"


def _collect(values: tuple[Any, ...], into: list[Node]) -> None:
    for value in values:
        if isinstance(value, Node):
            into.append(value)
        elif type(value) is tuple:
            _collect(value, into)


class Plan(Node):
    """A logical plan node."""

    __slots__ = ()


class Expression(Node):
    """An expression with the type and nullability that Spark computed."""

    __slots__ = ("nullable", "type")

    def __init__(
        self,
        cls: NodeClass,
        values: tuple[Any, ...],
        number: int | None = None,
        type: DataType | None = None,
        nullable: bool = True,
        children: Sequence[Node] | None = None,
    ) -> None:
        self.cls = cls
        self.values = values
        self.number = number
        self._children = children
        self.type = type or UNTYPED
        self.nullable = nullable

    def with_values(self, values: tuple[Any, ...]) -> Self:
        return type(self)(self.cls, values, self.number, self.type, self.nullable)


UNTYPED = DataType("untyped")
"""The type of an expression that Spark itself can't type outside its context."""

COLUMN = NodeClass("AttributeReference", "e", ("name", "exprId", "metadata"))
"""The class of columns."""


class SourceColumns(Sequence[Expression]):
    """The columns of a source as one row: a struct type, whose fields they are. An attribute is made when it is asked for.

    Their ids follow that of the first, and their numbers go down from its number. They are no children of the source: most are used
    by nothing.
    """

    __slots__ = ("_made", "first_id", "first_number", "type")

    def __init__(self, type: DataType, first_id: int, first_number: int) -> None:
        self.type = type
        self.first_id = first_id
        self.first_number = first_number
        self._made: dict[int, Expression] = {}

    @property
    def ids(self) -> range:
        """Their ids, in order."""
        return range(self.first_id, self.first_id + len(self))

    def __len__(self) -> int:
        return len(self.type.parameters)

    @overload
    def __getitem__(self, position: int) -> Expression: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Expression]: ...

    def __getitem__(self, position: int | slice) -> Expression | Sequence[Expression]:
        place = range(len(self))[position]
        if isinstance(place, range):
            return [self[n] for n in place]
        column = self._made.get(place)
        if column is None:
            name, type, nullable = self.type.parameters[place]
            values = name, self.first_id + place, ()
            column = self._made[place] = Expression(COLUMN, values, self.first_number - place, type, nullable, ())
        return column


class Document(NamedTuple):
    """A plan as it was read: the tree, the names a user sees, and the output attributes they belong to.

    `nodes` are all of the tree's, each once, children before parents.
    """

    spark: str
    streaming: bool
    names: tuple[str, ...]
    output: tuple[Expression, ...]
    shown: tuple[DataType, ...]
    """The types a user sees, whose struct fields may have other names than those of the output."""
    root: Plan
    nodes: Sequence[Node]
    classes: frozenset[str]
    """The names of all Catalyst classes in the plan."""
    configuration: Mapping[str, str] = {}
    """Settings of the Spark session that functions read when they run, and so are in no node of the plan."""
    cached: bool = False
    """Whether Spark reads some of it from its cache, which does not tell of files."""
    statistics: Mapping[int, tuple[int, int]] = {}
    """By number, how many rows and bytes Spark knows plan nodes to have; empty where nobody asked."""


# What is given by position has names that no field has: compiled functions don't tell the two apart.


def make(class_name: str, data_type: DataType, is_nullable: bool = True, /, **fields: Any) -> Expression:
    """An expression of our own making, as rewrites need them."""
    return Expression(NodeClass(class_name, "e", tuple(fields)), tuple(fields.values()), None, data_type, is_nullable)


def make_plan(class_name: str, /, **fields: Any) -> Plan:
    """A plan node of our own making, as rewrites need them."""
    return Plan(NodeClass(class_name, "p", tuple(fields)), tuple(fields.values()))


# A node may be in many places of a tree: each is looked at once.


def children_first(root: Node) -> Sequence[Node]:
    """All nodes of a tree, each once, after those in its fields."""
    in_order: dict[Node, None] = {}
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            in_order.setdefault(node)
        elif node not in in_order:
            stack += [(node, True), *((child, False) for child in node.children())]
    return list(in_order)


def own_columns(node: Node) -> Sequence[Expression]:
    """The columns that a leaf has, or a node makes."""
    for value in node.values:
        if isinstance(value, SourceColumns):
            return value
    return [child for child in node.children() if isinstance(child, Expression) and "exprId" in child.cls.index]


def attributes(root: Node) -> Sequence[Node]:
    """The attributes in an expression, without those of the plans of its subqueries."""
    columns: list[Node] = []
    seen: set[Node] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.name == "AttributeReference":
            columns.append(node)
        stack.extend(child for child in node.children() if not isinstance(child, Plan))
    return columns


def outermost(expressions: Iterable[Node], name: str) -> list[Expression]:
    """The expressions of a class in some others, each once, in order; none inside another, or in a subquery's plan.

    The reader shares equal ones.
    """
    topmost: list[Expression] = []
    seen: set[Node] = set()
    stack: list[Node] = list(reversed(list(expressions)))
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Plan):
            continue
        seen.add(node)
        if node.name == name and isinstance(node, Expression):
            topmost.append(node)
        else:
            stack.extend(reversed(node.children()))
    return topmost


def words(root: Node) -> frozenset[object]:
    """The classes, names and numbers in an expression: equal for nodes that are `same`, to look them up by."""
    collected: set[object] = set()
    seen: set[Node] = set()
    stack: list[Any] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, Node):
            if value not in seen:
                seen.add(value)
                collected.add(value.cls.name)
                stack.extend(value.values)
        elif type(value) is tuple:
            stack.extend(value)
        elif isinstance(value, str | int):
            collected.add(value)
    return frozenset(collected)


def same(left: Any, right: Any) -> bool:
    """Whether two field values are equal in structure, nullability aside.

    The reader shares equal entries, so that this mostly ends at the first comparison of identities.
    """
    compared: set[tuple[Node, Node]] = set()
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if isinstance(a, Node) and isinstance(b, Node):
            if (a, b) in compared:
                continue
            compared.add((a, b))
            if a.cls.name != b.cls.name or len(a.values) != len(b.values):
                return False
            if isinstance(a, Expression) and isinstance(b, Expression) and a.type != b.type:
                return False
            stack.extend(zip(a.values, b.values, strict=True))
        elif type(a) is tuple and type(b) is tuple:
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b, strict=True))
        elif type(a) is not type(b) or a != b:
            return False
    return True
