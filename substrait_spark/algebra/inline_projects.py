"""Writes projects into the expressions above them, so that these are over the columns of the leaf below."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Unsupported
from .expression import AggregateFunction, Expression, FieldReference, Part
from .relation import Aggregate, Project, Read, Relation
from .traversal import is_own, rewritten

MOST_PARTS = 20_000
"""How many parts an expression may have with what it shares written out at each place."""


def over_leaf(relation: Relation) -> list[Expression]:
    """The columns of projects over a leaf, as expressions over that leaf's own columns.

    Raises `Unsupported` where they would have too many parts; LookupError for relations that are no projects.
    """
    projects: list[Relation] = []
    while isinstance(relation, Project):
        projects.append(relation)
        relation = relation.inputs[0]
    if not isinstance(relation, Read):
        raise LookupError(f"{type(relation).__name__} in place of a leaf")
    return over_columns(projects, [FieldReference(n, relation.schema[n]) for n in relation.emitted])


def over_columns(projects: Sequence[Relation], below: Sequence[Expression]) -> list[Expression]:
    """The columns of projects, the topmost first, where those of what is below them are these expressions.

    Raises `Unsupported` where they would have too many parts.
    """
    columns = list(below)
    for project in reversed(projects):
        own = [*columns, *(_over(each, columns) for each in project.expressions())]
        columns = [own[n] for n in project.emitted]
    return columns


def measures_over_leaf(aggregate: Aggregate) -> list[AggregateFunction]:
    """The measures of an aggregate, over the columns of the leaf below."""
    below = over_leaf(aggregate.inputs[0])
    return [call.with_expressions([_over(each, below) for each in call.expressions()]) for call in aggregate.measures]


def part_of(column: Expression, reference: FieldReference) -> Expression:
    """What a reference leads to in a column, which may be an expression in the place of one."""
    if not reference.path:
        return column
    if not isinstance(column, FieldReference):
        return Part(column, reference.path, reference.type)
    path = (*column.path, *reference.path)
    return FieldReference(column.ordinal, reference.type, path, column.outer, column.parameter)


def _over(expression: Expression, below: Sequence[Expression]) -> Expression:
    """An expression over the columns of a project, over the columns of what is below that."""

    def change(part: Expression) -> Expression | None:
        return part_of(below[part.ordinal], part) if is_own(part) else None

    inlined = rewritten(expression, change)
    _require_few_parts(inlined)
    return inlined


def _require_few_parts(root: Expression) -> None:
    """Refuse an expression that would take too much to write."""
    parts: dict[Expression, int] = {}
    stack = [root]
    while stack:
        expression = stack[-1]
        pending = [child for child in expression.children() if child not in parts]
        if pending:
            stack.extend(pending)
            continue
        parts[stack.pop()] = 1 + sum(parts[child] for child in expression.children())
    if parts[root] > MOST_PARTS:
        raise Unsupported(
            f"with all that it computes several times written out, it has {parts[root]} parts, and {MOST_PARTS} are the most",
            "Split the expression: compute a part of it first, in a column of its own.",
        )
