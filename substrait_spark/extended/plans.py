"""An extended expression as a plan: each expression a column, and each measure an aggregate, of a table with the schema's columns.

What is known of plans (their types, their structure, how they are read) is known of extended expressions so.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from google.protobuf.message import Message
from substrait.algebra_pb2 import Rel
from substrait.extended_expression_pb2 import ExpressionReference, ExtendedExpression
from substrait.plan_pb2 import ExecutionBehavior, Plan
from substrait.type_pb2 import NamedStruct

from ..reading.encodings import unknown_fields

TABLE = "base_schema"
"""The name of the table."""

URIS = 1
"""The field of URIs, which was in both messages and is in neither."""


def is_extended_expression(message: object) -> TypeGuard[ExtendedExpression]:
    """Whether this is an ExtendedExpression message."""
    return isinstance(message, Message) and message.DESCRIPTOR.full_name == ExtendedExpression.DESCRIPTOR.full_name


def plan_of(message: ExtendedExpression) -> Plan:
    """The plan, with a root for each expression."""
    plan = Plan()
    plan.version.CopyFrom(message.version)
    plan.extension_urns.extend(message.extension_urns)
    plan.extensions.extend(message.extensions)
    plan.expected_type_urls.extend(message.expected_type_urls)
    if message.HasField("advanced_extensions"):
        plan.advanced_extensions.CopyFrom(message.advanced_extensions)
    plan.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    if unknown_fields(message).keys() == {URIS}:
        plan.MergeFromString(_without_known_fields(message).SerializeToString())
    for reference in message.referred_expr:
        entry = plan.relations.add()
        entry.root.names.extend(reference.output_names)
        _fill(entry.root.input, reference, message.base_schema)
        entry.detached_expressions.extend(message.detached_expressions)
    return plan


def _without_known_fields(message: ExtendedExpression) -> ExtendedExpression:
    unknown = ExtendedExpression()
    unknown.CopyFrom(message)
    cleared: Any = unknown
    for field, _ in message.ListFields():
        cleared.ClearField(field.name)
    return unknown


def _fill(rel: Rel, reference: ExpressionReference, schema: NamedStruct) -> None:
    """The relation whose one column is what is referred to."""
    if reference.WhichOneof("expr_type") == "measure":
        rel.aggregate.common.direct.SetInParent()
        rel.aggregate.measures.add().measure.CopyFrom(reference.measure)
        read = rel.aggregate.input.read
    else:
        rel.project.common.emit.output_mapping.append(len(schema.struct.types))
        rel.project.expressions.add().CopyFrom(reference.expression)
        read = rel.project.input.read
    read.common.direct.SetInParent()
    read.base_schema.CopyFrom(schema)
    read.named_table.names.append(TABLE)
