"""Has each call of a user's function that isn't deterministic computed for every row, once, in a column of its own, as Spark does.

Engines evaluate an expression as often as suits them: in a branch for the rows that choose it, in `coalesce` once more to give
what isn't null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..extensions.registry import built_in_alias
from .expression import Expression, FieldReference, Lambda, ScalarFunction
from .feature import NOT_DETERMINISTIC, OUTER_COLUMN
from .relation import Filter, Project, Relation
from .traversal import conjuncts, rewritten, transformed


def with_drawn_columns(root: Relation) -> Relation:
    """The relation, with such calls in projects below those that use their values."""
    return transformed(root, _in_columns, feature=NOT_DETERMINISTIC)


def is_drawn(part: Expression) -> bool:
    """Whether an expression is a call of a user's function that isn't deterministic."""
    return (
        isinstance(part, ScalarFunction)
        and not part.declaration.deterministic
        and built_in_alias(part.declaration.urn) is None
    )


def _in_columns(relation: Relation) -> Relation:
    if not relation.own_features & NOT_DETERMINISTIC or len(relation.inputs) != 1:
        return relation
    if isinstance(relation, Filter) and len(conditions := conjuncts(relation.condition)) > 1:
        return _one_by_one(relation, conditions)
    parts = relation.expressions()
    if isinstance(relation, Project):  # whose columns they are already
        parts = tuple([child for part in parts for child in (part.children() if is_drawn(part) else (part,))])
    drawn = list(_drawn(parts))
    if not drawn:
        return relation
    (input,) = relation.inputs
    columns = {each: FieldReference(n, each.type) for n, each in enumerate(drawn, len(input.types))}

    def changed(part: Expression) -> Expression | None:
        return part if isinstance(part, Lambda) else columns.get(part)

    return relation.over(
        (_in_columns(Project(input, drawn)),), [rewritten(part, changed) for part in relation.expressions()]
    )


def _one_by_one(relation: Filter, conditions: Sequence[Expression]) -> Relation:
    """A filter as several, those of Spark's own conditions first: it calls functions for the rows that these leave."""
    below = relation.inputs[0]
    for condition in sorted(conditions, key=lambda each: bool(each.features & NOT_DETERMINISTIC)):
        below = _in_columns(Filter(below, condition))
    return below.emitting_as(relation)


def _drawn(expressions: Sequence[Expression]) -> Iterator[Expression]:
    """The outermost calls in expressions, each once."""
    seen: set[Expression] = set()
    stack = [*reversed(expressions)]
    while stack:
        part = stack.pop()
        if part in seen or isinstance(part, Lambda) or not part.features & NOT_DETERMINISTIC:
            continue
        seen.add(part)
        if is_drawn(part) and not part.features & OUTER_COLUMN:
            yield part
        else:
            stack.extend(reversed(part.children()))
