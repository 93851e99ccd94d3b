"""Plans in older encodings, for engines that don't read today's: removed fields, kept as unknown fields of the messages.

`reading/encodings.py` reads them back.
"""

from __future__ import annotations

from collections.abc import Collection

from google.protobuf.message import Message
from substrait.algebra_pb2 import AggregateRel, Expression, FetchRel, ReadRel
from substrait.extensions.extensions_pb2 import SimpleExtensionURN
from substrait.plan_pb2 import Plan

from ..algebra.message_walk import messages_of
from ..algebra.relation import ALL_ROWS

OFFSET, COUNT = 3, 4
"""The fields of FetchRel that `offset_expr` and `count_expr` have replaced."""

GROUPING_EXPRESSIONS = 1
"""The field of AggregateRel.Grouping that references have replaced."""

VALUES = 1
"""The field of ReadRel.VirtualTable that `expressions` has replaced."""

URIS, URI_REFERENCE = 1, 1
"""The field of Plan that `extension_urns` has replaced, whose messages had the same fields; and that of what is declared of them."""

_STANDARD_URN = "extension:io.substrait:"
_STANDARD_URI = "https://github.com/substrait-io/substrait/blob/main/extensions/{}.yaml"

_VARINT, _BYTES = 0, 2


def with_numbers_in_fetches(plan: Plan) -> Plan:
    """The plan with offsets and counts of fetches as numbers, before 0.63. Of all rows, it is a number that no rows reach: not every
    reader knows -1."""
    new = _copy(plan)
    for fetch in messages_of(new, FetchRel):
        offset = fetch.offset_expr.literal.i64
        count = fetch.count_expr.literal.i64 if fetch.HasField("count_expr") else ALL_ROWS
        fetch.ClearField("offset_expr")
        fetch.ClearField("count_expr")
        fetch.MergeFromString(_number(OFFSET, offset) + _number(COUNT, count))
    return new


def with_keys_in_groupings(plan: Plan) -> Plan:
    """The plan with the expressions of groupings in each of these, in place of references to them."""
    new = _copy(plan)
    for aggregate in messages_of(new, AggregateRel):
        for grouping in aggregate.groupings:
            keys = [aggregate.grouping_expressions[n] for n in grouping.expression_references]
            grouping.ClearField("expression_references")
            grouping.MergeFromString(b"".join(_message(GROUPING_EXPRESSIONS, key) for key in keys))
        aggregate.ClearField("grouping_expressions")
    return new


def with_literals_in_rows(plan: Plan) -> Plan:
    """The plan with the rows of virtual tables as structs of literals, as far as they are such."""
    new = _copy(plan)
    for table in messages_of(new, ReadRel.VirtualTable):
        rows = [[field.literal for field in row.fields if field.HasField("literal")] for row in table.expressions]
        if all(len(literals) == len(row.fields) for literals, row in zip(rows, table.expressions, strict=True)):
            table.ClearField("expressions")
            structs = [Expression.Literal.Struct(fields=literals) for literals in rows]
            table.MergeFromString(b"".join(_message(VALUES, struct) for struct in structs))
    return new


def with_uris(plan: Plan, urns: Collection[str] | None = None) -> Plan:
    """The plan with the URIs of extension files, all or those of some URNs, beside their URNs, before 0.75.

    Files that aren't the specification's have their URN as URI.
    """
    new = _copy(plan)
    files = [file for file in new.extension_urns if urns is None or file.urn in urns]
    for file in files:
        uri = SimpleExtensionURN(extension_urn_anchor=file.extension_urn_anchor, urn=_uri(file.urn))
        new.MergeFromString(_message(URIS, uri))
    for each in new.extensions:
        declared = getattr(each, each.WhichOneof("mapping_type") or "")
        if declared.extension_urn_reference in {file.extension_urn_anchor for file in files}:
            declared.MergeFromString(_number(URI_REFERENCE, declared.extension_urn_reference))
    return new


def _uri(urn: str) -> str:
    is_standard = urn.startswith(_STANDARD_URN)
    return _STANDARD_URI.format(urn.removeprefix(_STANDARD_URN)) if is_standard else urn


def _copy(plan: Plan) -> Plan:
    new = Plan()
    new.CopyFrom(plan)
    return new


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value % 2**64)


def _message(field: int, value: Message) -> bytes:
    written = value.SerializeToString()
    return _varint(field << 3 | _BYTES) + _varint(len(written)) + written


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
