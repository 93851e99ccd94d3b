"""What plans of statements mean for the rows of a table, as queries of that table."""

from __future__ import annotations

from typing import Any

from merged_rows import left_by_merge
from substrait.algebra_pb2 import Expression, ExtensionSingleRel, Rel, SetRel, UpdateRel, WriteRel
from substrait.plan_pb2 import Plan

from substrait_spark.algebra.extension_messages import WriteBehavior


def root(plan: Plan) -> Any:
    rel = plan.relations[0].root.input
    return getattr(rel, str(rel.WhichOneof("rel_type")))


def table(changes: Any) -> Rel:
    """The table that a relation changes."""
    rel = Rel()
    rel.read.common.direct.SetInParent()
    rel.read.base_schema.CopyFrom(changes.table_schema)
    rel.read.named_table.names.extend(changes.named_table.names)
    return rel


def column(place: int) -> Expression:
    found = Expression()
    found.selection.root_reference.SetInParent()
    found.selection.direct_reference.struct_field.field = place
    return found


def selected(changes: Any, condition: Expression) -> Rel:
    """The rows of the table for which a condition is true."""
    rel = Rel()
    rel.filter.common.direct.SetInParent()
    rel.filter.input.CopyFrom(table(changes))
    rel.filter.condition.CopyFrom(condition)
    return rel


def without(changes: Any, rows: Rel) -> Rel:
    """The rows of the table but for some."""
    rel = Rel()
    rel.set.common.direct.SetInParent()
    rel.set.op = SetRel.SET_OP_MINUS_PRIMARY_ALL
    rel.set.inputs.add().CopyFrom(table(changes))
    rel.set.inputs.add().CopyFrom(rows)
    return rel


def updated(update: UpdateRel) -> Rel:
    """The rows that an update leaves: those for which its condition is true have its values in the columns' places."""
    changed = selected(update, update.condition)
    values = {change.column_target: change.transformation for change in update.transformations}
    width = len(update.table_schema.struct.types)
    rel = Rel()
    rel.set.common.direct.SetInParent()
    rel.set.op = SetRel.SET_OP_UNION_ALL
    rel.set.inputs.add().CopyFrom(without(update, changed))
    project = rel.set.inputs.add().project
    project.input.CopyFrom(changed)
    project.expressions.extend(values.get(place, column(place)) for place in range(width))
    project.common.emit.output_mapping.extend(range(width, 2 * width))
    return rel


def replaced(write: WriteRel) -> Rel:
    """The rows of the table that are replaced."""
    behavior = WriteBehavior()
    assert write.named_table.advanced_extension.enhancement.Unpack(behavior)
    assert behavior.overwrite
    return selected(write, behavior.replace_where)


def left_by(plan: Plan) -> Plan:
    """A query of the rows that a DELETE, an UPDATE or a MERGE leaves in its table."""
    changes = root(plan)
    if isinstance(changes, ExtensionSingleRel):
        return left_by_merge(plan)
    return query_of(plan, updated(changes) if isinstance(changes, UpdateRel) else without(changes, changes.input))


def query_of(plan: Plan, rel: Rel) -> Plan:
    """A plan of rows that are said with the functions of another."""
    found = Plan()
    found.CopyFrom(plan)
    del found.expected_type_urls[:]
    found.relations[0].root.names.extend(root(plan).table_schema.names)
    found.relations[0].root.input.CopyFrom(rel)
    return found
