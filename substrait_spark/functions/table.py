"""What function tables are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..errors import Unsupported

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder


class Plain(NamedTuple):
    """A Catalyst class that is a call of one function with the class's children as arguments, in order.

    A class with any field that is no expression is refused, so that no mode or flag is lost; `ignoring` names the
    fields that don't change what the function means.
    """

    function: str
    options: tuple[tuple[str, str], ...] = ()
    ignoring: frozenset[str] = frozenset()

    def emit(self, e: ExpressionBuilder, node: tree.Expression) -> Expression:
        """The call, cast without loss to Spark's type where the function returns another."""
        arguments = e.emit_all(arguments_of(node, self.ignoring))
        return lossless(e, e.call(self.function, *arguments, **dict(self.options)), node)


def plain(function: str, ignoring: str = "", **options: str) -> Plain:
    """`plain("string:upper", char_set="UTF8")`."""
    return Plain(function, tuple(options.items()), frozenset(ignoring.split()))


def arguments_of(node: tree.Expression, ignoring: frozenset[str] = frozenset()) -> list[tree.Expression]:
    """The expressions in a node's fields. Raises `Unsupported` for state that a plain call would lose."""
    found: list[tree.Expression] = []
    for field, value in zip(node.cls.fields, node.values, strict=True):
        if field in ignoring:
            continue
        for part in value if type(value) is tuple else (value,):
            if not isinstance(part, tree.Expression):
                raise Unsupported(f"{node.cls.name} carries {field}={part!r}, which its Substrait form can't say")
            found.append(part)
    return found


def lossless(e: ExpressionBuilder, call: Expression, node: tree.Expression) -> Expression:
    """The call in Spark's type. Raises `Unsupported` where a cast to that could lose something."""
    wanted = e.type_of(node, call.type.nullable)
    if types.equal_but_nullability(call.type, wanted):
        return call
    if not widens(call.type, wanted):
        raise Unsupported(f"the function returns {call.type} where Spark has {wanted}")
    return e.cast(call, wanted)


def widens(source: Type, target: Type) -> bool:
    """Whether every value of a type has the same value in another."""
    if source.kind in INTEGERS and target.kind in INTEGERS:
        return INTEGERS.index(source.kind) <= INTEGERS.index(target.kind)
    if source.kind in FLOATS and target.kind in FLOATS:
        return FLOATS.index(source.kind) <= FLOATS.index(target.kind)
    if source.kind == target.kind == "decimal":
        (precision, scale), (wider, finer) = source.parameters, target.parameters
        return bool(finer >= scale and wider - finer >= precision - scale)
    return False
