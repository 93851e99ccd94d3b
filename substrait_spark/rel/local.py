"""Local rows: ReadRel's virtual tables (https://substrait.io/relations/logical_relations/#virtual-table)."""

from __future__ import annotations

from typing import Any

from ..algebra.expression import Expression
from ..algebra.relation import VirtualTable
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.refusals import no_relation
from ..errors import Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.literal import constant, require_value
from . import spilled_rows
from .builder import RelationBuilder
from .columns import is_used, local
from .output import Output


def local_rows(r: RelationBuilder, node: tree.Plan) -> Output:
    """LocalRelation, LogicalRDD: their rows, all of them or none, in the columns that the plan uses."""
    if node["isStreaming"] or node["data"] is None:
        raise Unsupported("it is a streaming source")
    attributes = node["output"]
    kept = [n for n, attribute in enumerate(attributes) if is_used(r, attribute)]
    known = len(r.context.problems)
    schema = local(r, [attributes[n] for n in kept])
    if len(r.context.problems) > known:  # their values can't be written either
        return schema.output(r, VirtualTable([], schema.names, schema.types))
    limit = r.context.settings.inline_limit
    if not isinstance(node["data"], tree.Rows):
        raise too_many(limit, f"more than {limit}" if node.name == "LogicalRDD" else str(node["data"]))
    count = len(node["data"].values)
    if count > limit:
        folder = r.context.settings.local_data
        if folder is None:
            raise too_many(limit, str(count))
        return schema.output(r, spilled_rows.read(r, folder, node, kept, schema))
    e = r.expressions(Output(VirtualTable([], [], []), ()).scope())
    rows = [
        tuple([_cell(e, row[n], attributes[n], type) for n, type in zip(kept, schema.types, strict=True)])
        for row in node["data"].values
    ]
    return schema.output(r, VirtualTable(rows, schema.names, schema.types))


def shown_rows(r: RelationBuilder, node: tree.Plan) -> Output:
    """CommandResult: the rows that a command showed when it ran, as SHOW TABLES does."""
    if not node["output"]:
        raise no_relation(node)
    return local_rows(r, node)


def _cell(e: ExpressionBuilder, value: Any, attribute: tree.Expression, type: Type) -> Expression:
    require_value(value, type.nullable)
    return e.as_type(constant(e, value, attribute.type), type)


def too_many(limit: int, count: str) -> Unsupported:
    return Unsupported(
        f"it has {count} local rows, and inline_limit allows {limit} in a plan",
        "Give a folder in local_data for them, raise inline_limit, or save the rows as Parquet or as a table and read that.",
    )


def one_row(r: RelationBuilder, node: tree.Plan) -> Output:
    """OneRowRelation: one row without columns."""
    return Output(VirtualTable([()], [], []), ())


HANDLERS = {
    "CommandResult": shown_rows,
    "LocalRelation": local_rows,
    "LogicalRDD": local_rows,
    "OneRowRelation": one_row,
}
