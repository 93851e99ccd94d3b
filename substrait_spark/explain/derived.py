"""The types that the text shows, derived from the whole plan beforehand."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message
from substrait.plan_pb2 import Plan

from ..algebra.types import Type
from ..inference.complaints import Complaints
from ..inference.expressions import Expressions, Scope, Types
from ..inference.functions import Functions
from ..inference.relations import Relations
from ..inference.type_messages import struct_types


class Derived:
    """Types by message. A message is known by its identity: protobuf gives the same object for it while that is held."""

    def __init__(self, plan: Plan) -> None:
        self._columns: dict[int, tuple[Message, Types | None]] = {}
        self._types: dict[int, tuple[Message, Type | None]] = {}
        complain = Complaints()
        relations = _Relations(Functions(plan, complain), complain, self._columns, self._types)
        for entry in plan.relations:
            rel = entry.root.input if entry.WhichOneof("rel_type") == "root" else entry.rel
            try:
                relations.read_root(rel)
            except Exception:
                pass

    def columns(self, rel: Message) -> Types | None:
        return self._columns.get(id(rel), (rel, None))[1]

    def type(self, expression: Message) -> Type | None:
        return self._types.get(id(expression), (expression, None))[1]

    def schema(self, schema: Any) -> Types:
        """The types of a schema's columns."""
        return struct_types(schema.struct, Complaints())

    def implied(self, call: Message) -> bool:
        """Whether a call states the output type that its declaration derives."""
        return True


class _Expressions(Expressions):
    def type(self, message: Any, scope: Scope) -> Type | None:
        found = super().type(message, scope)
        self.recorded[id(message)] = (message, found)
        return found


class _Relations(Relations):
    def __init__(self, functions: Any, complain: Any, columns: Any, types: Any) -> None:
        super().__init__(functions, complain)
        self.recorded = columns
        self._expressions = _Expressions(functions, complain, self)
        self._expressions.recorded = types

    def types(self, rel: Any, outer: Scope | None) -> Types | None:
        found = super().types(rel, outer)
        self.recorded[id(rel)] = (rel, found)
        return found
