"""Plans in the encodings of older releases, from 0.57 on, put into those of this release.

Fields that were removed arrive as unknown fields. A removed field that says something is written in today's form; any other
field that this release doesn't know is a problem, because a plan without it would mean something else.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from substrait.algebra_pb2 import AggregateRel, Expression, FetchRel, ReadRel, Rel
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.extensions.extensions_pb2 import AdvancedExtension, SimpleExtensionURN
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from ..algebra.extension_messages import unpacked_write
from ..algebra.message_walk import within
from ..errors import Unsupported
from .place import Unreadable, relation_name

M = TypeVar("M", bound=Message)

Fields = dict[int, list[Any]]
"""What unknown fields of a message hold, by their numbers: numbers, or bytes of messages and texts."""

MICROSECONDS = 6

COUNT_OF_ALL = -1
"""The count of a fetch that limits nothing."""

_COUNT_MAY_BE_UNSET = 63
"""The release, 0.63, from which a fetch without a count is one of all rows; before, an absent count is 0."""


class Around(NamedTuple):
    """What a rule needs to know of the plan: the URN anchors for its URI anchors, and the release it was written in."""

    urns: Mapping[int, int]
    minor_version: int


def in_force(plan: Plan | ExtendedExpression) -> Plan | ExtendedExpression:
    """The plan itself where it is in today's encodings, as an expression by itself always is; else in these."""
    return up_to_date(plan)[0] if isinstance(plan, Plan) and has_unknown_fields(plan) else plan


def up_to_date(plan: Plan) -> tuple[Plan, list[Unreadable]]:
    """The plan in today's encodings, and what in it this release does not know. The plan given stays as it is."""
    new = Plan()
    new.CopyFrom(plan)
    try:
        urns = _urns_of_uris(new)
    except Unsupported as problem:
        return new, [Unreadable("", None, problem.reason)]
    around = Around(urns, plan.version.minor_number)
    has_unknown = has_unknown_fields(new)
    problems = []
    for message, path in _with_places(new):
        try:
            if isinstance(message, AdvancedExtension):
                _require_known_meaning(message, path)
            if has_unknown or _rule_of(message.DESCRIPTOR) is not None:
                _bring_up_to_date(message, unknown_fields(message) if has_unknown else {}, around)
        except Unsupported as problem:
            problems.append(Unreadable(path, None, problem.reason))
    new.DiscardUnknownFields()
    return new, problems


def _with_places(plan: Plan) -> Iterator[tuple[Message, str]]:
    """Every message, each before those in it, with the way to its relation."""
    stack: list[tuple[Message, str]] = [(plan, "")]
    while stack:
        message, path = stack.pop()
        if isinstance(message, Rel):
            name = relation_name(message)
            path = f"{path} / {name}" if path else name
        yield message, path
        stack.extend((inner, path) for inner in within(message))


def _require_known_meaning(message: AdvancedExtension, path: str) -> None:
    """Refuse enhancements but those of ours that say what a statement does, which its reader looks at (`write.py`)."""
    if not message.HasField("enhancement"):
        return
    in_statement = path.rpartition(" / ")[2] in ("Write", "Ddl")
    if not in_statement or unpacked_write(message.enhancement) is None:
        raise Unsupported("an enhancement changes what a part of the plan means, and it is not known")


def _bring_up_to_date(message: Message, unknown: Fields, around: Around) -> None:
    rule = _rule_of(message.DESCRIPTOR)
    if rule is not None:
        rule(message, unknown, around)
    if unknown:
        raise Unsupported(f"Substrait 0.106 has no field {min(unknown)} of the message {_name(message)}")


def has_unknown_fields(plan: Plan) -> bool:
    """Whether any message of a plan has fields that this release doesn't know: to leave them out makes it smaller."""
    known = Plan()
    known.CopyFrom(plan)
    known.DiscardUnknownFields()
    return known.ByteSize() != plan.ByteSize()


def unknown_fields(message: Message) -> Fields:
    by_number: Fields = defaultdict(list)
    fields = UnknownFieldSet(message)
    for n in range(len(fields)):
        field = fields[n]
        by_number[field.field_number].append(field.data)
    return by_number


def _number(unknown: Fields, field: int) -> int | None:
    """The number in a removed field, which is taken out; None where there is none."""
    values = unknown.pop(field, [None])
    if not isinstance(values[-1], int | None):
        raise Unsupported(f"the removed field {field} holds no number")
    return values[-1]


def _message(kind: type[M], data: Any) -> M:
    """The message in a removed field."""
    try:
        return kind.FromString(data)
    except (DecodeError, TypeError) as error:
        raise Unsupported(f"a removed field holds no {kind.DESCRIPTOR.name}") from error


# ---- extension files


def _urns_of_uris(plan: Plan) -> dict[int, int]:
    """The anchors of URNs for a plan's URIs: a file's URN has its name in the place of its address, unless that is one."""
    anchors = {entry.urn: entry.extension_urn_anchor for entry in plan.extension_urns}
    taken = set(anchors.values())
    free = (anchor for anchor in itertools.count(1) if anchor not in taken)
    urn_anchors = {}
    for data in unknown_fields(plan).get(1, ()):
        # The message of a URI had the fields that the message of a URN has.
        uri = _message(SimpleExtensionURN, data)
        name = PurePosixPath(uri.urn).name.partition(".")[0]
        urn = uri.urn if uri.urn.startswith("extension:") else f"extension:io.substrait:{name}"
        if urn not in anchors:
            anchors[urn] = next(free)
            plan.extension_urns.add(extension_urn_anchor=anchors[urn], urn=urn)
        urn_anchors[uri.extension_urn_anchor] = anchors[urn]
    return urn_anchors


def _plan(message: Message, unknown: Fields, plan: Around) -> None:
    unknown.pop(1, None)


def _declaration(entry: Any, unknown: Fields, plan: Around) -> None:
    """A declared function or type, whose URI counts where no URN is named."""
    anchor = _number(unknown, 1)
    if not entry.extension_urn_reference and anchor is not None:
        entry.extension_urn_reference = plan.urns.get(anchor, 0)


# ---- relations


def _virtual_table(table: Any, unknown: Fields, plan: Around) -> None:
    """Rows of literals. Plans that say them in both forms say them once."""
    rows = unknown.pop(1, [])
    if table.expressions:
        return
    for data in rows:
        row = table.expressions.add()
        for literal in _message(Expression.Literal.Struct, data).fields:
            row.fields.add().literal.CopyFrom(literal)


def _file(file: ReadRel.LocalFiles.FileOrFiles, unknown: Fields, plan: Around) -> None:
    """A file whose format was the number of one."""
    number = _number(unknown, 5)
    if number and file.WhichOneof("file_format") is None:
        if number != 1:
            raise Unsupported(f"the file format {number} is not known")
        file.parquet.SetInParent()


def _fetch(fetch: FetchRel, unknown: Fields, plan: Around) -> None:
    """Numbers of rows that were no expressions."""
    offset, count = _number(unknown, 3), _number(unknown, 4)
    if count is None and 0 < plan.minor_version < _COUNT_MAY_BE_UNSET:
        count = 0
    if offset and not fetch.HasField("offset_expr"):
        fetch.offset_expr.literal.i64 = _signed(offset)
    if not fetch.HasField("count_expr") and count is not None and _signed(count) != COUNT_OF_ALL:
        fetch.count_expr.literal.i64 = _signed(count)


def _signed(value: int) -> int:
    """An int64 as unknown fields hold it: its bits as a number without a sign."""
    return value - 2**64 if value >= 2**63 else value


def _aggregate(aggregate: AggregateRel, unknown: Fields, plan: Around) -> None:
    """Groupings with their own expressions. Plans that say them in both forms say them once."""
    if aggregate.grouping_expressions:
        return
    ordinals: dict[bytes, int] = {}
    for grouping in aggregate.groupings:
        for data in unknown_fields(grouping).get(1, ()):
            if data not in ordinals:
                ordinals[data] = len(ordinals)
                aggregate.grouping_expressions.add().CopyFrom(_message(Expression, data))
            grouping.expression_references.append(ordinals[data])


def _grouping(grouping: Message, unknown: Fields, plan: Around) -> None:
    unknown.pop(1, None)


# ---- types and literals

_OLD_TYPES = {14: "precision_timestamp", 17: "precision_time", 29: "precision_timestamp_tz"}
_OLD_LITERALS = {14: "precision_timestamp", 17: "precision_time", 27: "precision_timestamp_tz"}


def _type(message: Type, unknown: Fields, plan: Around) -> None:
    """Times in microseconds that had types of their own."""
    for number in _OLD_TYPES.keys() & unknown.keys():
        old = _message(Type.Boolean, unknown.pop(number)[-1])
        kind = getattr(message, _OLD_TYPES[number])
        kind.precision, kind.nullability = MICROSECONDS, old.nullability
        kind.type_variation_reference = old.type_variation_reference


def _literal(literal: Expression.Literal, unknown: Fields, plan: Around) -> None:
    for number in _OLD_LITERALS.keys() & unknown.keys():
        time = getattr(literal, _OLD_LITERALS[number])
        time.precision, time.value = MICROSECONDS, _signed(_number(unknown, number) or 0)


def _interval_day(interval: Type.IntervalDay, unknown: Fields, plan: Around) -> None:
    if not interval.HasField("precision"):
        interval.precision = MICROSECONDS


def _interval_day_literal(interval: Any, unknown: Fields, plan: Around) -> None:
    microseconds = _number(unknown, 3)
    if microseconds is not None:
        interval.precision, interval.subseconds = MICROSECONDS, _signed(microseconds)


_RULES: Mapping[str, Callable[[Any, Fields, Around], None]] = {
    "Plan": _plan,
    "extensions.SimpleExtensionDeclaration.ExtensionFunction": _declaration,
    "extensions.SimpleExtensionDeclaration.ExtensionType": _declaration,
    "extensions.SimpleExtensionDeclaration.ExtensionTypeVariation": _declaration,
    "ReadRel.VirtualTable": _virtual_table,
    "ReadRel.LocalFiles.FileOrFiles": _file,
    "FetchRel": _fetch,
    "AggregateRel": _aggregate,
    "AggregateRel.Grouping": _grouping,
    "Type": _type,
    "Type.IntervalDay": _interval_day,
    "Expression.Literal": _literal,
    "Expression.Literal.IntervalDayToSecond": _interval_day_literal,
}
"""Rules by the message that has lost a field. Each moves what it reads from the unknown fields into today's."""


@cache
def _rule_of(kind: Descriptor) -> Callable[[Any, Fields, Around], None] | None:
    return _RULES.get(kind.full_name.removeprefix("substrait."))


def _name(message: Message) -> str:
    return message.DESCRIPTOR.full_name.removeprefix("substrait.")
