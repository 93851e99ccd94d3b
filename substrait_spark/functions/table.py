"""What function tables are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
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


OWNER = {"StaticInvoke": "staticObject", "Invoke": "targetObject"}
"""By the class of a call of a Java method, the field that has the object or class of that method."""

CALL_DETAILS = frozenset(
    "staticObject functionName dataType inputTypes methodInputTypes propagateNull returnNullable isDeterministic scalarFunction".split()
)
"""Fields of such calls that say how Java is called, not what the function means."""


def key_of(node: tree.Expression) -> str:
    """What the tables have a function under: its Catalyst class or, for calls of Java methods, class and method.

    `StaticInvoke(ByteArrayMethods.contains)`; `Invoke(ParseUrlEvaluator.evaluate)` on an object that holds the
    function's constant arguments; `Invoke(string.isValid)` on a value of a Spark type; `TryEval(Unhex)` for a function
    whose errors become null.
    """
    if node.cls.name == "TryEval":
        return f"TryEval({key_of(node['child'])})"
    if node.cls.name not in OWNER:
        return node.cls.name
    owner = node[OWNER[node.cls.name]]
    if isinstance(owner, tree.Expression):
        owner = owner["value"] if owner.cls.name == "Literal" and owner.type.name == "object" else owner.type.name
    if isinstance(owner, tree.Opaque):
        owner = owner.java_class.rsplit(".")[-1].rstrip("$")
    elif isinstance(owner, tree.Node):
        owner = owner.name
    return f"{node.cls.name}({owner}.{node['functionName']})"


def first_type(node: tree.Expression) -> str:
    """The name of the Spark type of a node's first operand, empty where it has none."""
    return next((child.type.name for child in node.children() if isinstance(child, tree.Expression)), "")


def arguments_of(node: tree.Expression, ignoring: frozenset[str] = frozenset()) -> list[tree.Expression]:
    """The expressions in a node's fields. Raises `Unsupported` for state that a plain call would lose."""
    if node.cls.name == "TryEval":
        return arguments_of_try(node, ignoring)
    if node.cls.name in OWNER:
        ignoring |= CALL_DETAILS
    arguments: list[tree.Expression] = []
    for field, value in zip(node.cls.fields, node.values, strict=True):
        if field in ignoring:
            continue
        for part in value if type(value) is tuple else (value,):
            if not isinstance(part, tree.Expression) or part.type.name == "object":
                raise Unsupported(f"{key_of(node)} carries {field}={part!r}, which its Substrait form can't say")
            arguments.append(part)
    return arguments


def arguments_of_try(node: tree.Expression, ignoring: frozenset[str]) -> list[tree.Expression]:
    """The arguments of the function in a TryEval, which makes null of their errors too: they must have none."""
    arguments = arguments_of(node["child"], ignoring)
    for argument in arguments:
        require_no_error(node, argument)
    return arguments


def require_no_error(node: tree.Expression, argument: tree.Expression) -> None:
    """Refuse an argument of the function in a TryEval that may raise. The days of an interval always have a negative."""
    if argument.cls.name == "UnaryMinus" and argument["child"].cls.name == "ExtractANSIIntervalDays":
        argument = argument["child"]
    if argument.cls.name == "ExtractANSIIntervalDays":
        argument = argument["child"]
    if argument.cls.name not in ("AttributeReference", "Literal"):
        raise Unsupported(
            f"{key_of(node)} gives null also where its argument raises",
            "Compute the argument of the try_ function before the exported part of the query.",
        )


NANOSECONDS = 9
"""How many digits the times of functions of ours have: as many as any of Spark's. Readers know no functions of any digits."""


def in_nanos(e: ExpressionBuilder, value: Expression) -> Expression:
    """A value that, if it is a time of day, has nine digits."""
    if value.type.kind != "precision_time" or value.type.parameters[0] == NANOSECONDS:
        return value
    return e.cast(value, types.of("precision_time", NANOSECONDS, nullable=value.type.nullable))


def lossless(e: ExpressionBuilder, call: Expression, node: tree.Expression) -> Expression:
    """The call in Spark's type. Raises `Unsupported` where a cast to that could lose something."""
    wanted = e.type_of(node, call.type.nullable)
    if types.equal_but_nullability(call.type, wanted):
        return call
    if not types.widens(call.type, wanted):
        raise Unsupported(f"the function returns {call.type} where Spark has {wanted}")
    return e.cast(call, wanted)
