"""Where the reader is in a plan's messages, and what it could not read there."""

from __future__ import annotations

from typing import NamedTuple

from substrait.algebra_pb2 import Rel

NAMES = {
    "read": "Read", "filter": "Filter", "fetch": "Fetch", "aggregate": "Aggregate", "sort": "Sort", "join": "Join",
    "project": "Project", "set": "Set", "cross": "Cross", "expand": "Expand", "window": "Window",
    "extension_single": "ExtensionSingle", "lateral_join": "LateralJoin", "reference": "Reference", "top_n": "TopN",
    "exchange": "Exchange", "write": "Write", "ddl": "Ddl", "update": "Update", "hash_join": "HashJoin",
    "merge_join": "MergeJoin", "nested_loop_join": "NestedLoopJoin", "extension_leaf": "ExtensionLeaf",
    "extension_multi": "ExtensionMulti",
}  # fmt: skip
"""What problems call relations."""


def relation_name(message: Rel) -> str:
    """What problems call a relation."""
    kind = message.WhichOneof("rel_type") or "empty relation"
    return NAMES.get(kind, kind)


class MessagePart(NamedTuple):
    """What a relation or an expression was read from: what problems with it call it, and its text."""

    name: str
    text: str
    number: None = None


class Unreadable(NamedTuple):
    """A part of a plan that the tree has nothing for, and where it is."""

    path: str
    part: MessagePart | None
    reason: str
