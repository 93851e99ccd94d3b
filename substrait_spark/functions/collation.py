"""Collated strings: a user-defined type of ours, whose values compare by their collation wherever they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra import types
from ..catalyst import tree
from ..catalyst.tree import DataType, make
from ..catalyst.types import COLLATED, holds_collation, refusal
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

KIND = "u!collated_string"
STRING = DataType("string")

COMPARING = frozenset(
    """ArrayContains ArrayDistinct ArrayPosition Collate CollationKey EqualNullSafe EqualTo GreaterThan GreaterThanOrEqual Greatest IsNotNull IsNull KnownNotNull
    KnownNullable Least LessThan LessThanOrEqual Size""".split()
)
"""Functions that take values of any type, and compare them as their type says."""

OF_TEXTS = frozenset(
    "Ascii BitLength Concat Length OctetLength Reverse StringLPad StringRPad StringRepeat Substring".split()
)
"""Functions that look at no more than the text, whatever its collation."""

AGGREGATES = frozenset("CollectList Count First Last Max MaxBy Min MinBy".split())
"""Aggregate functions that take values of any type, and compare them as their type says."""


def special_rule(node: tree.Expression) -> Rule | None:
    """The rule for a scalar function where an operand is collated, None where its own does.

    Raises `Unsupported` where it may compare strings by their bytes.
    """
    collated = _collated(node)
    if not collated or node.name in COMPARING:
        return None
    if node.name in OF_TEXTS and all(type.name.startswith(COLLATED) for type in collated):
        return over_texts
    raise refusal(collated[0])


def require_aggregate(function: tree.Expression) -> None:
    """Refuse an aggregate function of collated strings that may compare them by their bytes."""
    collated = _collated(function)
    if collated and function.name not in AGGREGATES:
        raise refusal(collated[0])


def _collated(node: tree.Expression) -> list[DataType]:
    """The types of a node's operands that hold collated strings."""
    if KIND not in types.made:
        return []
    operands = [child for child in node.children() if isinstance(child, tree.Expression)]
    return [operand.type for operand in operands if holds_collation(operand.type)]


def over_texts(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A function of the texts, and its result in Spark's collation."""
    collated = node.type.name.startswith(COLLATED)
    values = tuple([_as_text(value) for value in node.values])
    result = e.emit(tree.Expression(node.cls, values, None, STRING if collated else node.type, node.nullable))
    return e.call("spark:collate", result, e.null(e.type_of(node))) if collated else result


def _as_text(value: Any) -> Any:
    """A field of a function, with casts around what is collated."""
    if type(value) is tuple:
        return tuple([_as_text(part) for part in value])
    if isinstance(value, tree.Expression) and value.type.name.startswith(COLLATED):
        return make("Cast", STRING, value.nullable, child=value)
    return value


def text_of(e: ExpressionBuilder, value: Expression) -> Expression:
    """The text of a value that is a text, or a collated one."""
    return e.call("spark:uncollated", value) if value.type.kind == KIND else value


def collated(e: ExpressionBuilder, text: Expression, type: types.Type) -> Expression:
    """A text in a type of collated strings."""
    return e.call("spark:collate", text, e.null(type))


def collate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Collate: the same text in another type."""
    value, target = e.emit(node["child"]), e.type_of(node)
    if types.equal_but_nullability(value.type, target):
        return value
    text = text_of(e, value)
    return collated(e, text, target) if target.kind == KIND else text


SCALAR: dict[str, Plain | Rule] = {"Collate": collate, "CollationKey": plain("spark:collation_key")}
