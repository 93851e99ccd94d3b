"""Whether a plan, whoever made it, keeps to what a dialect supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from google.protobuf.message import Message
from substrait.algebra_pb2 import AggregateFunction, Expression, ReadRel, Rel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import NamedStruct
from substrait.type_pb2 import Type as TypeMessage

from ..algebra.extension_messages import unpacked_format
from ..algebra.type_messages import read_type
from ..dialects.dialect import Dialect


class Departure(NamedTuple):
    """Something in a plan that a dialect lacks."""

    place: str
    """The relations around it, from the root: `project / filter / read`."""
    what: str
    """`the function string:regexp_replace:str_str_str`."""

    def __str__(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what


def departures(plan: Plan, dialect: Dialect) -> list[Departure]:
    """Every relation, expression, function and type of a plan that the dialect doesn't support, each once a place.

    The lists of the dialect file decide, and the limits that its functions' metadata set. Whether the engine
    computes right what it has listed, casts and the cases of its defects included, is not looked at.
    """
    declared = _declared(plan)
    departing: dict[Departure, None] = {}
    for message, place in _placed(plan):
        rule = _RULES.get(message.DESCRIPTOR.full_name)
        for what in rule(message, dialect, declared) if rule else ():
            departing[Departure(place, what)] = None
    return list(departing)


class _Declared(NamedTuple):
    """A function as a plan declares it."""

    urn: str
    name: str
    signature: str

    def __str__(self) -> str:
        return f"{self.name}:{self.signature} of {self.urn}" if self.urn else f"{self.name}:{self.signature}"


def _declared(plan: Plan) -> dict[int, _Declared]:
    urns = {entry.extension_urn_anchor: entry.urn for entry in plan.extension_urns}
    functions = [entry.extension_function for entry in plan.extensions if entry.HasField("extension_function")]
    return {
        function.function_anchor: _Declared(
            urns.get(function.extension_urn_reference, ""), *_two(function.name.partition(":"))
        )
        for function in functions
    }


def _two(parts: tuple[str, str, str]) -> tuple[str, str]:
    return parts[0], parts[2]


def _placed(plan: Plan) -> Iterator[tuple[Message, str]]:
    """Every message, with the relations that it is in."""
    stack: list[tuple[Message, str]] = [(plan, "")]
    while stack:
        message, place = stack.pop()
        if isinstance(message, Rel) and message.WhichOneof("rel_type"):
            place = f"{place} / {message.WhichOneof('rel_type')}".removeprefix(" / ")
        yield message, place
        below: list[tuple[Message, str]] = []
        for field, value in message.ListFields():
            if field.message_type is not None and not field.message_type.GetOptions().map_entry:
                below += [(inner, place) for inner in ([value] if isinstance(value, Message) else value)]
        stack.extend(reversed(below))


RELATION_NAMES = {"window": "CONSISTENT_PARTITION_WINDOW"}
"""The dialect schema's names of relations that aren't the message field's name in capitals."""

EXPRESSION_NAMES = {"switch_expression": "SWITCH"}
"""The same of expressions."""

VARIANTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "READ": ("read_types", lambda read: (read.WhichOneof("read_type") or "").upper()),
    "SET": ("operations", lambda relation: _enum(relation, "op", "SET_OP_")),
    "WRITE": ("write_types", lambda write: (write.WhichOneof("write_type") or "").upper()),
    "DDL": ("write_types", lambda ddl: (ddl.WhichOneof("write_type") or "").upper()),
    **{
        name: ("join_types", lambda join: _enum(join, "type", "JOIN_TYPE_"))
        for name in ("JOIN", "LATERAL_JOIN", "HASH_JOIN", "MERGE_JOIN", "NESTED_LOOP_JOIN")
    },
    **{
        name: ("message_types", lambda extension: str(extension.detail.type_url))
        for name in ("EXTENSION_SINGLE", "EXTENSION_MULTI", "EXTENSION_LEAF")
    },
    "EXCHANGE": ("kinds", lambda exchange: (exchange.WhichOneof("exchange_kind") or "").upper()),
    "SUBQUERY": ("subquery_types", lambda subquery: (subquery.WhichOneof("subquery_type") or "").upper()),
    "NESTED": ("nested_types", lambda nested: (nested.WhichOneof("nested_type") or "").upper()),
    "CAST": ("failure_options", lambda cast: _enum(cast, "failure_behavior", "FAILURE_BEHAVIOR_")),
}
"""What dialects tell apart in relations and expressions: the schema's key, and its value for a message."""


def _enum(message: Message, field: str, prefix: str) -> str:
    values: Mapping[int, Any] = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number  # type: ignore[union-attr]
    number = getattr(message, field)
    return str(values[number].name.removeprefix(prefix)) if number in values else str(number)


def _relation(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    kind = message.WhichOneof("rel_type")
    if kind:
        yield from _variant(
            dialect.allows_relation, "relation", RELATION_NAMES.get(kind, kind.upper()), getattr(message, kind)
        )


def _expression(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    kind = message.WhichOneof("rex_type")
    if not kind or kind == "detached_expression_ordinal":  # stands for another, which is looked at itself
        return
    name = EXPRESSION_NAMES.get(kind, kind.upper())
    yield from _variant(dialect.allows_expression, "expression", name, getattr(message, kind))
    if kind == "scalar_function":
        yield from _call("scalar", message.scalar_function, dialect, declared)
    if kind == "window_function":
        yield from _call("window", message.window_function, dialect, declared)


def _variant(allows: Callable[[str, str, str], bool], noun: str, name: str, message: Any) -> Iterator[str]:
    key, value_of = VARIANTS.get(name, ("", lambda _: ""))
    value = value_of(message)
    if not allows(name, "", ""):
        yield f"{noun} {name}"
    elif value and not allows(name, key, value):
        yield f"{noun} {name} of the kind {value}"


def _files(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    for item in message.items:
        ours = unpacked_format(item.extension) if item.HasField("extension") else None
        if ours is not None:
            lacking = dialect.lacks_of_files(ours.format, [option.name for option in ours.options])
            if lacking or lacking is None:
                yield f"{ours.format} files" + (f" with {', '.join(lacking)}" if lacking else "")


def _measure(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    yield from _call("aggregate", message, dialect, declared)


def _window(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    yield from _call("window", message, dialect, declared)


def _call(kind: str, call: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    function = declared.get(call.function_reference)
    if function is None:
        yield f"a function that the plan doesn't declare (anchor {call.function_reference})"
        return
    options = [(option.name, str(option.preference[0])) for option in call.options if option.preference]
    entries = [dialect.function(k, *function, options) for k in _SERVING.get(kind, (kind,))]
    entry = next((listed for listed in entries if listed is not None), None)
    if entry is not None:
        yield from (f"{kind} function {function} {what}" for what in _beyond(call, kind, entry.metadata))
        return
    stated = ", ".join(f"{name}={value}" for name, value in options)
    yield f"{kind} function {function}" + (f" with {stated}" if stated else "")


_SERVING = {"window": ("window", "aggregate")}
"""The kinds of functions that a call of a kind may name."""


def _beyond(call: Any, kind: str, limits: Mapping[str, Any]) -> Iterator[str]:
    """What a call asks of a function beyond the limits in its metadata (`dialects.dialect.Function`)."""
    for position in limits.get("literals", ()):
        if position < len(call.arguments) and not call.arguments[position].value.HasField("literal"):
            yield f"with an argument {position} that is no literal"
    if kind == "scalar":
        return
    if limits.get("distinct") is False and _enum(call, "invocation", "AGGREGATION_INVOCATION_") == "DISTINCT":
        yield "of distinct values"
    if kind == "aggregate" and limits.get("sorts") is False and call.sorts:
        yield "with an order"
    if kind == "window" and limits.get("window") is False:
        yield "over windows"
    if kind == "window" and limits.get("window") == "growing" and call.lower_bound.WhichOneof("kind") != "unbounded":
        yield "over window frames that lose rows"


def _type(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    kind = read_type(message, lambda _: None)
    if kind is not None and not dialect.allows_type(kind) and not dialect.allows_type(kind, column=True):
        yield f"type {kind}"


def _columns(message: Any, dialect: Dialect, declared: dict[int, _Declared]) -> Iterator[str]:
    for column in message.struct.types:
        kind = read_type(column, lambda _: None)
        if kind is not None and dialect.allows_type(kind) and not dialect.allows_type(kind, column=True):
            yield f"type {kind} as a table's column"


_RULES: dict[str, Callable[[Any, Dialect, dict[int, _Declared]], Iterator[str]]] = {
    Rel.DESCRIPTOR.full_name: _relation,
    Expression.DESCRIPTOR.full_name: _expression,
    AggregateFunction.DESCRIPTOR.full_name: _measure,
    "substrait.ConsistentPartitionWindowRel.WindowRelFunction": _window,
    TypeMessage.DESCRIPTOR.full_name: _type,
    NamedStruct.DESCRIPTOR.full_name: _columns,
    ReadRel.LocalFiles.DESCRIPTOR.full_name: _files,
}
