"""`unions_keep_nullability`: DataFusion's optimizer rewrites conditions in the inputs of a union, which doesn't follow.

    SELECT x IS TRUE FROM (VALUES (NULL::boolean)) t(x) UNION SELECT true   -- an error: Physical input schema

A CASE of booleans, say, that is never null becomes an AND that DataFusion can't tell that of. The union's column is still
never null for it, and an aggregate above finds the two at odds. So such a column is hidden from the optimizer in one input,
in a form that it takes for null at times.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import Expression, FieldReference, IfThen, ScalarFunction
from ....algebra.feature import SET
from ....algebra.relation import Aggregate, Project, Relation, Set
from ....algebra.traversal import columns, of_columns, subexpressions, transformed
from ....lowering.builder import LoweringBuilder
from .unwrapped_casts import shielded

KEPT = ("and", "is_not_distinct_from", "is_not_null", "is_null", "not", "or")
"""Functions of which the optimizer makes nothing that may be null where they aren't, unless it does of their operands."""

COMPARED = ("boolean", "i8", "i16", "i32", "i64", "fp32", "fp64", "decimal", "string")
"""Types that a condition may be cast to, and that can be hidden from the optimizer."""


def with_nullable_columns(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with a column hidden in an input of each union of which the optimizer may change whether it is null."""
    known: dict[Relation, list[bool]] = {}

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Set):
            return relation
        doubtful = [
            any(of_inputs) for of_inputs in zip(*(_doubtful(each, known) for each in relation.inputs), strict=True)
        ]
        first, *others = relation.inputs
        hidden = _hidden(e, first, doubtful)
        return relation if hidden is first else relation.with_inputs((hidden, *others))

    return transformed(root, rule, feature=SET)


def _hidden(e: LoweringBuilder, relation: Relation, doubtful: Sequence[bool]) -> Relation:
    hidden = [is_doubtful and kind.kind in COMPARED for is_doubtful, kind in zip(doubtful, relation.types, strict=True)]
    if not any(hidden):
        return relation
    kept = [FieldReference(n, kind) for n, kind in enumerate(relation.types)]
    return columns(relation, [shielded(e, each) if hidden[each.ordinal] else each for each in kept])


def _doubtful(root: Relation, known: dict[Relation, list[bool]]) -> list[bool]:
    """Whether the optimizer may change of each column whether it is null; `known` of relations met before."""
    return of_columns(root, _own, lambda relation: False, known)


def _own(relation: Relation, below: Sequence[list[bool]]) -> list[bool]:
    if isinstance(relation, Project):
        return below[0] + [_changes(each, below[0]) for each in relation.computed]
    if isinstance(relation, Aggregate):
        return [_changes(each, below[0]) for each in relation.groupings]
    if isinstance(relation, Set):
        return []  # whose columns are null at times, as far as DataFusion knows
    return relation.passed(below)


def _changes(expression: Expression, below: Sequence[bool]) -> bool:
    return any(_is_rewritten(part, below) for part in subexpressions(expression))


def _is_rewritten(part: Expression, below: Sequence[bool]) -> bool:
    if isinstance(part, FieldReference):
        return not part.outer and part.parameter is None and below[part.ordinal]
    if part.type.kind != "boolean":
        return False
    return isinstance(part, IfThen) or (isinstance(part, ScalarFunction) and part.declaration.name not in KEPT)
