"""Tells for which values a plan in an engine's forms raises an error, though Spark has a result for them."""

from __future__ import annotations

from substrait.algebra_pb2 import Expression
from substrait.plan_pb2 import Plan

from ..algebra.message_walk import messages_of
from ..extensions import registry
from .declared_functions import declared_functions

UNREAD = "[UNSUPPORTED_"
"""How errors begin that are the engine's alone."""


def unread_values(plan: Plan) -> tuple[str, ...]:
    """The values, as phrases, each once: of what the errors say that the plan raises, and what the files of its functions tell."""
    texts = (m.string for m in messages_of(plan, Expression.Literal) if m.string.startswith(UNREAD))
    raised = [text.partition("] ")[2].strip(" :") for text in texts]
    functions = (registry.unread(*function) for function in declared_functions(plan).values())
    return tuple(dict.fromkeys([*raised, *filter(None, functions)]))
