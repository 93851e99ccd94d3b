"""Mark joins whose mark is never null, as a union of a semi and an anti join, where the dialect has no LEFT_MARK."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ..algebra.relation import Join, Project, Relation, Set
from ..algebra.traversal import columns, rewritten, transformed
from .repeatable import is_repeatable

if TYPE_CHECKING:
    from .lowering import Lowering

JOINS = ("LEFT_SEMI", "LEFT_ANTI")


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
    joins = all(lowering.dialect.allows_relation("JOIN", "join_types", join_type) for join_type in JOINS)
    return joins and lowering.dialect.allows_relation("SET", "operations", "UNION_ALL")


def _can_unite(project: Project, join: Join) -> bool:
    if join.join_type != "LEFT_MARK" or join.emit is not None:
        return False
    mark = len(join.types) - 1
    used = [
        part
        for expression in project.computed
        for part in _outside_of_coalesce(expression, mark)
        if isinstance(part, FieldReference) and part.ordinal == mark and not part.outer and part.parameter is None
    ]
    emitted = range(len(project.types)) if project.emit is None else project.emit
    return not used and mark not in emitted and is_repeatable(join.inputs[0])


def _outside_of_coalesce(root: Expression, mark: int) -> list[Expression]:
    """The parts of an expression, but for marks of which null counts as false."""
    found = []
    stack = [root]
    while stack:
        part = stack.pop()
        if _known_mark(part, mark) is None:
            found.append(part)
            stack.extend(part.children())
    return found


def _known_mark(part: Expression, mark: int) -> FieldReference | None:
    """The mark in `coalesce(mark, false)`."""
    if not isinstance(part, ScalarFunction) or part.declaration.name != "coalesce" or len(part.children()) != 2:
        return None
    first, second = part.children()
    is_mark = isinstance(first, FieldReference) and first.ordinal == mark and not first.outer
    return first if is_mark and isinstance(second, Literal) and second.value is False else None  # type: ignore[return-value]


def _united(project: Project, join: Join) -> Relation:
    left, right = join.inputs
    mark = len(left.types)
    branches = []
    for join_type, matched in zip(JOINS, (True, False), strict=True):
        value = Literal(matched, types.BOOLEAN)
        kept = Join(left, right, join_type, join.condition)
        marked = columns(kept, [*(FieldReference(n, kind) for n, kind in enumerate(left.types)), value])

        def change(part: Expression, value: Literal = value) -> Expression | None:
            return value if _known_mark(part, mark) is not None else None

        computed = [rewritten(expression, change) for expression in project.computed]
        branch: Relation = Project(marked, computed)
        branches.append(branch if project.emit is None else branch.select(project.emit))
    union = Set(branches, "UNION_ALL")
    union.place = project.place or join.place
    return union
