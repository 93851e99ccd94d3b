"""Keys of sorts and groups, and arguments of measures, as columns of a project below, where the dialect takes no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...algebra.expression import Expression, FieldReference
from ...algebra.relation import Aggregate, Project, Relation, Sort
from ...algebra.traversal import is_column, rewritten
from ...dialects.rewrite import rewrites

if TYPE_CHECKING:
    from ..builder import LoweringBuilder


def over_columns_alone(e: LoweringBuilder, relation: Aggregate | Sort) -> Relation:
    """The relation, over an input that has what it computes as columns."""
    if e.dialect.abilities.computed_keys:
        return relation
    return over_columns(relation, [each for each in relation.expressions() if not is_column(each)])


def over_columns(relation: Relation, computed: Iterable[Expression]) -> Relation:
    """The relation over an input that has these of its expressions as columns, behind its own."""
    keys = list(dict.fromkeys(computed))
    if not keys:
        return relation
    (input,) = relation.inputs
    columns = {key: FieldReference(n, key.type) for n, key in enumerate(keys, len(input.types))}
    own = [rewritten(expression, columns.get) for expression in relation.expressions()]
    return relation.over((Project(input, keys),), own)


REWRITES = rewrites({Aggregate: over_columns_alone, Sort: over_columns_alone})
