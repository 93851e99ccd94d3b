"""Mark joins whose mark is never null, as a union of a semi and an anti join, where the dialect has no LEFT_MARK."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ...algebra import types
from ...algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ...algebra.relation import SEMI_JOINS, Filter, Join, Project, Relation, Set
from ...algebra.traversal import columns, is_own, rewritten, transformed
from .repeatable import is_repeatable

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each LEFT_MARK join below a Project that takes an unknown mark for false, as a union of a semi and an anti join.

    The left input is there twice: it must give the same rows each time.
    """
    dialect = lowering.dialect
    if dialect.allows_relation("JOIN", "join_types", "LEFT_MARK") or not _has_parts(lowering):
        return root

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Project) or not isinstance(relation.inputs[0], Join):
            return relation
        join = relation.inputs[0]
        return _united(relation, join) if _can_unite(relation, join) else relation

    return transformed(root, rule, _is_marking)


def _is_marking(relation: Relation) -> bool:
    return isinstance(relation, Join) and relation.join_type == "LEFT_MARK"


def _has_parts(lowering: Lowering) -> bool:
    joins = all(lowering.dialect.allows_relation("JOIN", "join_types", join_type) for join_type in SEMI_JOINS)
    return joins and lowering.dialect.allows_relation("SET", "operations", "UNION_ALL")


def _can_unite(project: Project, join: Join) -> bool:
    if join.join_type != "LEFT_MARK" or join.emit is not None:
        return False
    return not needs_unknown(project, join) and is_repeatable(join.inputs[0])


def needs_unknown(relation: Relation, join: Join) -> bool:
    """Whether a Project or Filter over a mark join tells an unknown mark from one that is false, or passes the mark on."""
    own = len(join.inputs[0].types)
    if join.emit is not None and own not in join.emit:
        return False
    mark = own if join.emit is None else join.emit.index(own)
    if mark in relation.emitted:
        return True
    conditions = {relation.condition} if isinstance(relation, Filter) else set()
    return any(_tells_unknown(each, mark, each in conditions) for each in relation.expressions())


def _tells_unknown(root: Expression, mark: int, is_condition: bool) -> bool:
    """Whether an expression has the mark elsewhere than in `coalesce(mark, false)`, or as an operand of a condition."""
    stack = [(root, is_condition)]
    while stack:
        part, drops_null = stack.pop()
        if _known_mark(part, mark) is not None:
            continue
        if _is_mark(part, mark):
            if not drops_null:
                return True
            continue
        drops_null = drops_null and isinstance(part, ScalarFunction) and part.declaration.name in ("and", "or")
        stack.extend((child, drops_null) for child in part.children())
    return False


def _is_mark(part: Expression, mark: int) -> TypeGuard[FieldReference]:
    return is_own(part) and part.ordinal == mark


def _known_mark(part: Expression, mark: int) -> FieldReference | None:
    """The mark in `coalesce(mark, false)`."""
    if not isinstance(part, ScalarFunction) or part.declaration.name != "coalesce" or len(part.children()) != 2:
        return None
    first, second = part.children()
    is_false = isinstance(second, Literal) and second.value is False
    return first if _is_mark(first, mark) and is_false else None


def _united(project: Project, join: Join) -> Relation:
    left, right = join.inputs
    mark = len(left.types)
    branches = []
    for join_type, matched in zip(SEMI_JOINS, (True, False), strict=True):
        value = Literal(matched, types.BOOLEAN)
        kept = Join(left, right, join_type, join.condition)
        marked = columns(kept, [*(FieldReference(n, kind) for n, kind in enumerate(left.types)), value])

        def change(part: Expression, value: Literal = value) -> Expression | None:
            return value if _known_mark(part, mark) is not None else None

        computed = [rewritten(expression, change) for expression in project.computed]
        branch: Relation = Project(marked, computed)
        branches.append(branch.emitting_as(project))
    return Set(branches, "UNION_ALL")
