"""Statements that change rows of a table where they are, as relations over its columns: DELETE, UPDATE, MERGE and REPLACE WHERE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from substrait.plan_pb2 import Plan

from ..algebra.expression import Expression, FieldReference, Literal
from ..algebra.feature import SUBQUERY
from ..algebra.inline_projects import over_columns, over_leaf
from ..algebra.relation import Cross, Filter, NamedTable, Project, Relation
from ..algebra.types import BOOLEAN
from ..algebra.write import CLAUSES, Clause, Merge, Target, Update, Write
from ..catalyst import reader
from ..catalyst.document import decode
from ..catalyst.row_changes import RowChange
from ..catalyst.tree import Document
from ..catalyst.write_commands import HINT, Change
from ..context import Context, Settings
from ..conversion import convert_as, problems_of, relation_of, reported
from ..errors import Problem, Unsupported
from ..rewrites import rewrite


def changed(change: RowChange, settings: Settings) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan of a DELETE, an UPDATE or a MERGE."""
    settings = replace(settings, stage=STAGE, share_subplans=False)
    return convert_as(change.rows, settings, partial(CHANGES[change.kind], change))


def replacing(rows: reader.Planned, said: Change, settings: Settings) -> tuple[Change | None, Sequence[Problem]]:
    """A change that overwrites some rows of a table, with which these are; or None and what stands in the way."""
    if not settings.dialect.is_canonical:
        raise Unsupported("a dialect has no words for the rows that it replaces", "Make the plan without a dialect.")
    context = Context(replace(settings, stage=STAGE, reads="auto"))

    def with_condition() -> Change:
        relation, _ = relation_of(context, rewrite(decode(reader.read(rows, context.settings))))
        return said.replacing(_over_table(relation)[0], _table(relation).schema)

    context.enter("REPLACE WHERE")
    made = reported(context, with_condition)
    return made, () if made is not None else problems_of(rows, context.settings, context.problems)


SUBQUERY_OVER_COMPUTED = "a subquery in it refers to what is computed before"

IN_SUBQUERY = "Compute it in the subquery."

STAGE = "analyzed"
"""The stage of what is read of such statements: as they were written, so that nothing is pushed into the source."""


def _deleted(change: RowChange, relation: Relation, names: Sequence[str], document: Document) -> Relation:
    """The relation that deletes rows, which come from the table itself: all that are equal to one of them."""
    return Write(relation, names, "DELETE", "", Target(_table(relation).table))


def _updated(change: RowChange, relation: Relation, names: Sequence[str], document: Document) -> Relation:
    """The relation that gives columns of a table new values: a query has them behind the columns of the rows that change."""
    table = _table(relation)
    width = len(table.schema)
    condition, computed = _over_table(relation)
    values = dict(zip(map(int, document.names[width:]), computed[width:], strict=True))
    return Update(table.table, table.names, table.schema, condition, values)


def _merged(change: RowChange, relation: Relation, names: Sequence[str], document: Document) -> Relation:
    """The relation that merges rows into a table: a query has its expressions behind the columns of the table."""
    table, source, computed = _over_both(relation)
    width = len(table.schema)
    condition, *expressions = computed[width:]
    each = iter(expressions)
    clauses = {group: [_clause(clause, each) for clause in change.clauses.get(group, ())] for group in CLAUSES}
    return Merge(source, table.table, table.names, table.schema, condition, clauses, change.clauses["once"])


def _clause(said: Mapping[str, Any], each: Iterator[Expression]) -> Clause:
    condition = next(each)
    return Clause(condition, said["delete"], {column: next(each) for column in said["columns"]})


CHANGES: Mapping[str, Callable[[RowChange, Relation, Sequence[str], Document], Relation]] = {
    "DELETE": _deleted,
    "UPDATE": _updated,
    "MERGE": _merged,
}
"""What makes of a query over a table the relation that changes its rows."""


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
        raise Unsupported(SUBQUERY_OVER_COMPUTED, IN_SUBQUERY)
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


def _over_both(relation: Relation) -> tuple[NamedTable, Relation, Sequence[Expression]]:
    """A table, a source that is joined to it, and the columns of projects over both, as expressions over the columns of both."""
    projects: list[Relation] = []
    while isinstance(relation, Project):
        projects.append(relation)
        relation = relation.inputs[0]
    if not isinstance(relation, Cross):
        raise Unsupported("its expressions are over more than the columns of its table and its source", HINT)
    if len(projects) > 1 and any(each.own_features & SUBQUERY for each in projects):
        raise Unsupported(SUBQUERY_OVER_COMPUTED, IN_SUBQUERY)
    left, source = relation.inputs
    table = _table(left)
    columns = [FieldReference(len(table.schema) + n, type) for n, type in enumerate(source.types)]
    below = [*over_leaf(left), *columns]
    return table, source, over_columns(projects, [below[n] for n in relation.emitted])
