"""Users' own functions in Spark: calls of the objects that the caller gives, by the names that a plan has for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...algebra.expression import Expression, ScalarFunction
from ...algebra.types import field_count
from ...catalyst.versions import running
from ...errors import Unsupported
from ...user_functions.declared import ARGUMENT_FIELDS, HANDED_ON, RELEASE, TIME_ZONE, field_names
from ...user_functions.spark_function import AGGREGATES, SparkFunction
from .calls import Call
from .document import Node
from .types import spark_columns

if TYPE_CHECKING:
    from .builder import Builder


def called(call: Call, function: SparkFunction) -> Node:
    """Spark's expression of a call. Raises Unsupported where this session would convert for the function in another way."""
    require_same_conversions(call.function.declaration.name, call.function.options, call.builder.time_zone)
    made = call.builder.document.python(function.unwrapped, _arguments(call))
    return call.over_rows(made) if function.eval_type in AGGREGATES else made


def _arguments(call: Call) -> list[Node]:
    """The arguments, structs with the names that the function knows their fields by."""
    names = iter(field_names(call.function.options, ARGUMENT_FIELDS))
    arguments: list[Node] = []
    for node, value in zip(call.values, call.expressions, strict=True):
        inside = [name for _, name in zip(range(field_count(value.type)), names, strict=False)]
        if inside and _is_handed_on(value):
            raise Unsupported(
                f"{call.key} gets structs as another function has returned them, and here they get names between the two"
            )
        arguments.append(_named(call.builder, node, call, inside, len(arguments)) if inside else node)
    return arguments


def _is_handed_on(value: Expression) -> bool:
    """Whether it is the result of another function as that has returned it: nothing may be between the two."""
    return isinstance(value, ScalarFunction) and HANDED_ON in dict(value.options)


def _named(builder: Builder, node: Node, call: Call, names: list[str], position: int) -> Node:
    ((_, kind),) = spark_columns([call.types[position]], ["argument", *names])
    return builder.document.typed(node, kind)


def require_same_conversions(name: str, options: Iterable[tuple[str, str]], session: str) -> None:
    """Refuse a call whose arguments and results this Spark, or a session of this time zone, may convert in another way."""
    stated = dict(options)
    here = ".".join(map(str, running()[:2]))
    if stated.get(RELEASE) != here:
        raise Unsupported(
            f"{name} is called as Spark {stated.get(RELEASE)} does, and this is Spark {here}, which may convert arguments and results "
            "otherwise",
            f"Make the plan with Spark {here}.",
        )
    zone = stated.get(TIME_ZONE)
    if zone is not None and zone != session:
        raise Unsupported(
            f"{name} sees instants in the time zone {zone}, and the session's is {session}",
            f"Set spark.sql.session.timeZone to {zone}.",
        )
