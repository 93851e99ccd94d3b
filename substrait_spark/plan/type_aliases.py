"""Type aliases of a plan: types with parameters that are in it several times, declared once and referred to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message
from substrait.algebra_pb2 import Expression
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from ..algebra import limits
from ..algebra.message_walk import depth, messages
from ..algebra.type_messages import LEVELS, declared_types, read_type
from ..errors import InvalidPlanError

PLAIN = frozenset(
    ("bool", "i8", "i16", "i32", "i64", "fp32", "fp64", "string", "binary", "date", "uuid", "interval_year")
)
"""Types without parameters, which are shorter than a reference to them."""


def declare_aliases(plan: Plan) -> None:
    """Declare each type with parameters that a plan has several times, and refer to it wherever it is.

    A type inside of one that is declared is there once, however often that one is used. Aliases come in the order of first
    use, each after those that it refers to.
    """
    places: dict[bytes, list[Type]] = {}
    for type in list(_types_in(plan)):
        _note(type, places)
    for same in places.values():
        if len(same) > 1 and same[0].WhichOneof("kind") not in PLAIN:
            _declare(plan, same)


def _types_in(root: Message) -> Iterator[Type]:
    """The types in a message, but for those inside of others."""
    stack: list[Message] = [root]
    while stack:
        message = stack.pop()
        if isinstance(message, Type) and message is not root:
            yield message
            continue
        below: list[Message] = []
        for field, value in message.ListFields():
            if field.message_type is not None:
                below.extend([value] if isinstance(value, Message) else value)
        stack.extend(reversed(below))


def _note(type: Type, places: dict[bytes, list[Type]]) -> None:
    """Count a type, nullable or not alike, after the types inside of it, which are counted where it is met first."""
    key = _whether_or_not_nullable(type).SerializeToString()
    if key not in places:
        for inner in _types_in(type):
            _note(inner, places)
    places.setdefault(key, []).append(type)


def _declare(plan: Plan, same: list[Type]) -> None:
    anchor = len(plan.type_aliases) + 1
    declared = _whether_or_not_nullable(same[0])
    plan.type_aliases.add(type_alias_anchor=anchor).type.CopyFrom(declared)
    for type in same:
        nullability = _parameters(type).nullability
        type.alias.type_alias_reference, type.alias.nullability = anchor, nullability


def _whether_or_not_nullable(type: Type) -> Type:
    """The type as REQUIRED, so that both nullabilities share an alias: each reference to it states its own."""
    required = Type()
    required.CopyFrom(type)
    _parameters(required).nullability = Type.NULLABILITY_REQUIRED
    return required


def _parameters(type: Type) -> Any:
    return getattr(type, type.WhichOneof("kind") or "bool")


def without_aliases(plan: Plan) -> Plan:
    """The plan with the types in the place of references to aliases; itself where it declares none.

    Raises InvalidPlanError for aliases that aren't declared, that refer to themselves, or that stand for too many types.
    """
    if not plan.type_aliases:
        return plan
    written_out = Plan()
    written_out.CopyFrom(plan)
    del written_out.type_aliases[:]
    aliases = _Aliases({alias.type_alias_anchor: alias.type for alias in plan.type_aliases})
    aliases.resolve_in(written_out)
    return written_out


def require_few_types(plan: Plan) -> None:
    """Raises InvalidPlanError where what refers to a plan's aliases stands for more types together than may be written out."""
    if not plan.type_aliases:
        return
    declared = declared_types(plan)
    left = limits.COLUMNS
    for message in messages(plan):
        anchor = _alias_of(message)
        if anchor is not None:
            type = read_type(Type(alias=Type.TypeAliasReference(type_alias_reference=anchor)), _ignored, declared)
            left -= 1 if type is None else type.size
        if left < 0:
            raise InvalidPlanError(TOO_MANY)


def _alias_of(message: Message) -> int | None:
    """The alias that a type, or a literal of a user-defined one, refers to."""
    if isinstance(message, Type) and message.WhichOneof("kind") == "alias":
        return message.alias.type_alias_reference
    if (
        isinstance(message, Expression.Literal.UserDefined)
        and message.WhichOneof("type_anchor_type") == "type_alias_reference"
    ):
        return message.type_alias_reference
    return None


def _ignored(complaint: str) -> None:
    """Takes complaints about types here, where they are not told: reading the type itself tells them."""


TOO_MANY = f"The plan's type aliases stand for more than {limits.COLUMNS:,} types together."


class _Aliases:
    """The types that aliases stand for, each resolved once."""

    def __init__(self, declared: dict[int, Type]) -> None:
        self._declared = declared
        self._whole: dict[int, Type | None] = {}
        """None for those that are being resolved."""
        self._left = limits.COLUMNS

    def resolve_in(self, root: Message) -> None:
        """Put the types in the place of the references in a message."""
        for message in messages(root):
            if isinstance(message, Type) and message.WhichOneof("kind") == "alias":
                nullability = message.alias.nullability
                message.CopyFrom(self._type(message.alias.type_alias_reference))
                _parameters(message).nullability = nullability

    def _type(self, anchor: int) -> Type:
        if anchor not in self._whole:
            if anchor not in self._declared:
                raise InvalidPlanError(f"The plan refers to the type alias {anchor}, which it doesn't declare.")
            if sum(each is None for each in self._whole.values()) > LEVELS:
                raise InvalidPlanError(f"The plan's type aliases nest deeper than {LEVELS}.")
            self._whole[anchor] = None
            type = Type()
            type.CopyFrom(self._declared[anchor])
            self.resolve_in(type)
            if depth(type) > LEVELS:
                raise InvalidPlanError(f"The plan's type aliases nest deeper than {LEVELS}.")
            self._whole[anchor] = type
        whole = self._whole[anchor]
        if whole is None:
            raise InvalidPlanError(f"The type alias {anchor} of the plan refers to itself.")
        self._left -= sum(1 for _ in messages(whole))
        if self._left < 0:
            raise InvalidPlanError(TOO_MANY)
        return whole
