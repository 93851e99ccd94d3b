"""Names of struct fields, for engines that match structs by them where Spark goes by position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..algebra import types
from ..catalyst import tree
from ..catalyst.tree import DataType
from ..catalyst.types import nested_names, to_substrait
from ..errors import NotInDialect

FREE = ("ArrayTransform", "CreateNamedStruct", "LambdaFunction")
"""Classes whose operands have nothing to do with each other, or with the result."""


def require_same_names(node: tree.Expression) -> None:
    """Refuse an expression over values of the same type but for the names in it, as casts and branches may be.

    Refuse empty names as well: the function that builds structs takes none.
    """
    if node.cls.name == "CreateNamedStruct" and any(not field.name for field in node.type.parameters):
        raise NotInDialect("a field of the struct has an empty name", "Give the field a name.")
    if node.cls.name not in FREE:
        operands = [child.type for child in node.children() if isinstance(child, tree.Expression)]
        require_one_naming([node.type, *operands])


def require_one_naming(kinds: Iterable[DataType]) -> None:
    """Refuse types that are the same but for the names of struct fields."""
    named = list(dict.fromkeys(kind for kind in kinds if _names(kind)))
    for n, kind in enumerate(named):
        for other in named[:n]:
            if _names(kind) != _names(other) and types.equal_but_nullability(_shape(kind), _shape(other)):
                raise NotInDialect(
                    f"it brings {other} and {kind} together, whose fields Spark matches by position",
                    "Give the fields of both structs the same names.",
                )


@lru_cache(maxsize=65536)
def _names(type: DataType) -> tuple[str, ...]:
    return tuple(nested_names(type))


def _shape(type: DataType) -> types.Type:
    return to_substrait(type, True)


def columns_of(plan: tree.Plan) -> dict[int, DataType]:
    """The Spark types of the columns that a plan node, or one below it, defines or passes on, by exprId."""
    found: dict[int, DataType] = {}
    for node in _nodes(plan):
        if isinstance(node, tree.Expression) and "exprId" in node.cls.index:
            found[node["exprId"]] = node.type
    return found


def _nodes(root: tree.Node) -> Iterator[tree.Node]:
    seen: set[int] = set()
    stack: list[tree.Node] = [root]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(node.children())
