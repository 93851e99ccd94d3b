"""`unknown_marks`: DataFusion's mark joins give false where a mark is unknown. A second mark join finds those marks.

    SELECT (1 IN (SELECT y FROM (VALUES (2), (NULL)) u(y))) IS NULL FROM (VALUES (1)) t(x)   -- false

Where nothing tells the two apart, as above all plans of Spark's own, the join stays as it is.
"""

from __future__ import annotations

from typing import TypeGuard

from ....algebra import types
from ....algebra.expression import Expression, FieldReference
from ....algebra.feature import JOIN
from ....algebra.join_columns import with_right_side_moved
from ....algebra.relation import Filter, Join, Project, Relation
from ....algebra.traversal import columns, transformed
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.general.mark_join import needs_unknown
from ....lowering.general.repeatable import is_repeatable


def with_unknown_marks(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with a second mark, of which pairs are unknown, wherever a mark that may be unknown is told from false."""

    def rule(relation: Relation) -> Relation:
        if not any(map(_may_be_unknown, relation.inputs)):
            return relation
        return relation.with_inputs(tuple([_exact(e, relation, input) for input in relation.inputs]))

    made = transformed(root, rule, _may_be_unknown, JOIN)
    return _with_two_marks(e, made) if _may_be_unknown(made) else made


def _may_be_unknown(relation: Relation) -> TypeGuard[Join]:
    return isinstance(relation, Join) and relation.join_type == "LEFT_MARK" and relation.condition.type.nullable


def _exact(e: LoweringBuilder, relation: Relation, input: Relation) -> Relation:
    if not _may_be_unknown(input) or (isinstance(relation, Project | Filter) and not needs_unknown(relation, input)):
        return input
    return _with_two_marks(e, input)


def _with_two_marks(e: LoweringBuilder, join: Join) -> Relation:
    left, right = join.inputs
    if not is_repeatable(right):
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no unknown marks, and the right input of the join may have other rows when it "
            "is read twice"
        )
    width = len(left.types)
    passed = [FieldReference(n, kind) for n, kind in enumerate(left.types)]
    marked = Join(left, right, "LEFT_MARK", join.condition)
    # Marks of inputs that have no table's name have one name; a computed column has another.
    matched = columns(marked, [*passed, _known(e, marked, width)])
    unknown = e.over(left, right).is_null(join.condition)
    both = Join(matched, right, "LEFT_MARK", with_right_side_moved(unknown, width, 1))
    over = e.over(both)
    matches, maybe = FieldReference(width, both.types[width]), _known(e, both, width + 1)
    mark = over.if_then(matches, over.true(), maybe, over.null(types.nullable(types.BOOLEAN)), over.false())
    made = columns(both, [*passed, mark])
    return made.emitting_as(join)


def _known(e: LoweringBuilder, marked: Relation, mark: int) -> Expression:
    """A mark that is false where it isn't known."""
    over = e.over(marked)
    return over.coalesce(FieldReference(mark, marked.types[mark]), over.false())
