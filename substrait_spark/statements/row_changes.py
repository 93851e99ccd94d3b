"""Statements that change rows of a table where they are, as relations over its columns: DELETE, UPDATE and REPLACE WHERE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from substrait.plan_pb2 import Plan

from ..algebra.expression import Expression, Literal
from ..algebra.feature import SUBQUERY
from ..algebra.inline_projects import over_leaf
from ..algebra.relation import Filter, NamedTable, Project, Relation
from ..algebra.types import BOOLEAN
from ..algebra.write import Target, Update, Write
from ..catalyst import reader
from ..catalyst.document import decode
from ..catalyst.statement import Statement
from ..catalyst.tree import Document
from ..catalyst.write_commands import HINT, NO_CHANGES, Change
from ..context import Context, Settings
from ..conversion import convert_as, problems_of, relation_of, reported
from ..errors import Problem, Unsupported
from ..rewrites import rewrite


def changed(analysed: Statement, settings: Settings) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan of a DELETE or an UPDATE."""
    rows = analysed.changed
    if rows is None:
        raise Unsupported(NO_CHANGES, HINT)
    settings = replace(settings, stage=rows.stage, share_subplans=False)
    return convert_as(rows, settings, _deleted if analysed.kind == "DeleteFromTable" else _updated)


def replacing(analysed: Statement, said: Change, settings: Settings) -> tuple[Change | None, Sequence[Problem]]:
    """A change that overwrites some rows of a table, with which these are; or None and what stands in the way."""
    if not settings.dialect.is_canonical:
        raise Unsupported("a dialect has no words for the rows that it replaces", "Make the plan without a dialect.")
    rows = analysed.replaced
    context = Context(replace(settings, stage=rows.stage))

    def with_condition() -> Change:
        relation, _ = relation_of(context, rewrite(decode(reader.read(rows, context.settings))))
        return said.replacing(_over_table(relation)[0], _table(relation).schema)

    context.enter("REPLACE WHERE")
    made = reported(context, with_condition)
    return made, () if made is not None else problems_of(rows, context.settings, context.problems)


def _deleted(relation: Relation, names: Sequence[str], document: Document) -> Relation:
    """The relation that deletes rows, which come from the table itself: all that are equal to one of them."""
    return Write(relation, names, "DELETE", "", Target(_table(relation).table))


def _updated(relation: Relation, names: Sequence[str], document: Document) -> Relation:
    """The relation that gives columns of a table new values: a query has them behind the columns of the rows that change."""
    table = _table(relation)
    width = len(table.schema)
    condition, computed = _over_table(relation)
    values = dict(zip(map(int, document.names[width:]), computed[width:], strict=True))
    return Update(table.table, table.names, table.schema, condition, values)


def _table(relation: Relation) -> NamedTable:
    """The table that a statement changes, which is below its filters and projects."""
    while relation.inputs:
        relation = relation.inputs[0]
    if not isinstance(relation, NamedTable):
        raise Unsupported("the table that it changes is not known by its name", HINT)
    return relation


def _over_table(relation: Relation) -> tuple[Expression, Sequence[Expression]]:
    """The condition that rows of a table are for, and the columns of projects over them, as expressions over the table."""
    projects: list[Relation] = []
    while isinstance(relation, Project):
        projects.append(relation)
        relation = relation.inputs[0]
    if len(projects) > 1 and any(each.own_features & SUBQUERY for each in projects):
        raise Unsupported("a subquery in it refers to what is computed before", "Compute it in the subquery.")
    condition: Expression = Literal(True, BOOLEAN)
    if isinstance(relation, Filter):
        (rows,) = relation.inputs
        if not isinstance(rows, NamedTable):
            raise Unsupported("its condition is over more than the columns of its table", HINT)
        condition = relation.condition
        relation = rows.emitting_as(relation)
    for project in reversed(projects):
        relation = project.with_inputs((relation,))
    return condition, over_leaf(relation)
