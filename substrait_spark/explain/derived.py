"""The types that the text shows, derived from the whole plan beforehand; what is wrong with the plan is ignored."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message
from substrait.plan_pb2 import Plan

from ..inference.complaints import Complaints
from ..inference.expressions import Types
from ..inference.functions import Functions
from ..inference.relations import Relations


class Derived:
    """The types of a plan's relations, by their messages, and which calls return what they declare."""

    def __init__(self, plan: Plan) -> None:
        complain = Complaints()
        self._functions = Functions(plan, complain)
        self._relations = Relations(self._functions, complain)
        for entry in plan.relations:
            self._relations.read_root(entry)

    def columns(self, rel: Message) -> Types | None:
        """The types of a relation's output columns; None for an extension's, which nobody knows."""
        return self._relations.derived(rel)

    def schema(self, schema: Any) -> Types:
        """The types of a schema's columns."""
        return self._relations.expressions.read_struct(schema.struct)

    def detail(self, detail: Message) -> Any:
        """The message that an extension relation of ours tells itself by, else None."""
        return self._relations.detail(detail)

    def implied(self, call: Message) -> bool:
        """Whether a call states the output type that its declaration gives for its arguments."""
        return self._functions.as_derived(call)
