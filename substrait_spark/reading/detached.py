"""Expressions that are stored apart from their relations, under the numbers by which these refer to them."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.message import Message
from substrait.algebra_pb2 import Expression, Rel
from substrait.plan_pb2 import PlanRel

from ..algebra.message_walk import messages_of

REFERENCE = "detached_expression_ordinal"


def wrongly_detached(relation: PlanRel) -> Iterator[str]:
    """The problems of the references to detached expressions in one of a plan's relations, each in a sentence.

    Where each expression is referred to once at most, none that can be reached refers to itself.
    """
    stored = relation.detached_expressions
    known: set[int] = set()
    for ordinal in [m.detached_expression_ordinal for m in messages_of(relation, Expression) if _is_reference(m)]:
        if ordinal >= len(stored):
            yield f"it refers to the detached expression {ordinal}, and has {len(stored)}"
        if ordinal in known:
            yield f"it refers to the detached expression {ordinal} more than once"
        known.add(ordinal)
    yield from (
        f"the detached expression {n} is a reference itself" for n, each in enumerate(stored) if _is_reference(each)
    )


def _is_reference(expression: Expression) -> bool:
    return expression.WhichOneof("rex_type") == REFERENCE


def referred_to(expression: Expression) -> list[int]:
    """The numbers that an expression refers to, outside of lambdas and subqueries, where other columns and parameters are meant."""
    ordinals: list[int] = []
    stack: list[Message] = [expression]
    while stack:
        message = stack.pop()
        if isinstance(message, Expression) and _is_reference(message):
            ordinals.append(message.detached_expression_ordinal)
        if isinstance(message, Rel | Expression.Lambda):
            continue
        for field, value in message.ListFields():
            if field.message_type is not None:
                stack.extend([value] if isinstance(value, Message) else value)
    return ordinals
