"""`unions_repeat_names`: DataFusion names columns of a union anew that have one name, and then looks for others.

    An aggregate in a plan by both columns of a union of joins on v = v   -- field name: (physical) v vs (logical) v_1

A column of a join has the name that it has in its table, whichever table that is. So a column of a union's input whose
name another has before it is computed, which gives it a name of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ....algebra.expression import Expression, FieldReference
from ....algebra.feature import SET
from ....algebra.relation import Aggregate, Project, Read, Relation, Set
from ....algebra.traversal import columns, is_column, of_columns, transformed
from ....algebra.types import column_names
from ....lowering.builder import LoweringBuilder


def with_different_names(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with columns of different names in the inputs of unions."""
    known: dict[Relation, list[Hashable]] = {}

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Set):
            return relation
        return relation.with_inputs(tuple([_with_different_names(e, input, known) for input in relation.inputs]))

    return transformed(root, rule, feature=SET)


def _with_different_names(e: LoweringBuilder, relation: Relation, known: dict[Relation, list[Hashable]]) -> Relation:
    names = _names(relation, known)
    if len(set(names)) == len(names):
        return relation
    kept = [FieldReference(n, type) for n, type in enumerate(relation.types)]
    return columns(
        relation, [each if n == names.index(names[n]) else _computed(e, each) for n, each in enumerate(kept)]
    )


def _computed(e: LoweringBuilder, column: Expression) -> Expression:
    return e.call_as(column.type, "datafusion:coalesce", column)


def _names(root: Relation, known: dict[Relation, list[Hashable]]) -> Sequence[Hashable]:
    """For each column the name in its table, or a value that no other column has. `known`: the answers for relations met before."""
    return of_columns(root, _own_names, lambda relation: object(), known)


def _own_names(relation: Relation, below: Sequence[list[Hashable]]) -> list[Hashable]:
    if isinstance(relation, Read):
        return list(column_names(relation.schema, relation.names))
    if isinstance(relation, Set):
        return below[0]
    if isinstance(relation, Project):
        return below[0] + _made_names(relation.computed, below[0])
    if isinstance(relation, Aggregate):
        return _made_names(relation.groupings, below[0])
    return relation.passed(below)


def _made_names(expressions: Sequence[Expression], names: list[Hashable]) -> list[Hashable]:
    return [names[each.ordinal] if is_column(each) else object() for each in expressions]
