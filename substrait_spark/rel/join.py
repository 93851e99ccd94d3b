"""JoinRel and CrossRel: https://substrait.io/relations/logical_relations/#join-operation."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ..algebra.relation import Cross, Join, Relation
from ..catalyst import tree
from ..catalyst.tree import Node
from ..errors import NotInDialect, Unsupported
from ..expr import boolean
from ..expr.scope import Scope
from .builder import RelationBuilder
from .constants import conjuncts, varying
from .filter import filterable, filtered
from .join_keys import suited
from .output import Output
from .project import columns
from .single_join import single

JOIN_TYPES = {
    "Inner": "INNER",
    "Cross": "INNER",
    "LeftOuter": "LEFT",
    "RightOuter": "RIGHT",
    "FullOuter": "OUTER",
    "LeftSemi": "LEFT_SEMI",
    "LeftAnti": "LEFT_ANTI",
    "LeftSingle": "LEFT_SINGLE",
}
"""Catalyst's join types; ExistenceJoin is a mark join."""

NOBODY = -1
"""The id of a column that no attribute refers to."""

IN_WORDS = {
    "LEFT_MARK": (
        ", which says whether IN or EXISTS holds",
        "Write the subquery as a WHERE condition of its own, or as a join.",
    ),
}
"""What join types that nobody writes are for, and what to write instead."""


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Join of any type. Hints are advice and fall away."""
    output = _emit(r, node)
    return output.select([id for id in output.ids if id != NOBODY]) if NOBODY in output.ids else output


def _emit(r: RelationBuilder, node: tree.Plan) -> Output:
    left, right = side(r, node["left"], "left: "), side(r, node["right"], "right: ")
    if isinstance(node["joinType"], Node):
        return existence(r, node, left, right)
    join_type = JOIN_TYPES.get(node["joinType"])
    if join_type is None:
        raise Unsupported(f"the join type {node['joinType']} is not known")
    if join_type == "INNER" and node["condition"] is None and r.dialect.allows_relation("CROSS"):
        return Output(Cross(left.relation, right.relation), left.ids + right.ids)
    if join_type == "LEFT_SINGLE" and not r.dialect.allows_relation("JOIN", "join_types", join_type):
        return single(r, left, lambda numbered: _join(r, node, numbered, right, "LEFT"), right)
    ids = left.ids if join_type in ("LEFT_SEMI", "LEFT_ANTI") else left.ids + right.ids
    return Output(_join(r, node, left, right, join_type), ids)


def side(r: RelationBuilder, node: tree.Plan, name: str) -> Output:
    """An input of a join; with a column that nobody reads where the dialect joins nothing without columns."""
    output = r.emit(node, name)
    if output.ids or r.dialect.quirks.joins_without_columns:
        return output
    return Output(columns(output.relation, [Literal(True, types.BOOLEAN)]), (NOBODY,))


def existence(r: RelationBuilder, node: tree.Plan, left: Output, right: Output) -> Output:
    """ExistenceJoin: a mark join, whose mark may be null where Spark's `exists` is false."""
    marked = _join(r, node, left, right, "LEFT_MARK")
    exists = node["joinType"]["exists"]["exprId"]
    e = r.expressions(Scope((*left.ids, exists), marked.types))
    mark = e.scope.column(exists)
    if mark is None:
        raise Unsupported("the mark of the existence join is not among its columns")
    kept = [column for id in left.ids if (column := e.scope.column(id)) is not None]
    return Output(columns(marked, [*kept, e.coalesce(mark, e.false())]), (*left.ids, exists))


def _join(r: RelationBuilder, node: tree.Plan, left: Output, right: Output, join_type: str) -> Relation:
    if not r.dialect.allows_relation("JOIN", "join_types", join_type):
        what, hint = IN_WORDS.get(join_type, ("", ""))
        raise NotInDialect(f"the dialect {r.dialect.name} has no {join_type} join{what}", hint)
    e = r.expressions(Scope(left.ids + right.ids, left.relation.types + right.relation.types))
    given = [] if node["condition"] is None else boolean.conjuncts(e, node["condition"])
    in_turn = join_type == "INNER" and r.dialect.quirks.eager_connectives
    early, late = _in_turn(given) if in_turn else (given, [])
    condition = boolean.connected(e, "and", early) if early else e.true()
    parts = conjuncts(condition)
    sides = [filterable(r, left.relation, parts), filterable(r, right.relation, parts, len(left.ids))]
    join = Join(sides[0], sides[1], join_type, suited(e, condition, len(left.ids)))
    joined = varying(e, join) if r.dialect.quirks.constants_survive else join
    return filtered(r, e, joined, late) if late else joined


def _in_turn(given: Sequence[Expression]) -> tuple[Sequence[Expression], Sequence[Expression]]:
    """The conjuncts that an inner join is by, which are its keys and what is before any that may raise; and the others.

    Spark evaluates these for the pairs of rows that match, which is a filter; all are the join's if it has no such.
    """
    first = next((n for n, each in enumerate(given) if each.raises), len(given))
    early = [*given[:first], *filter(_is_key, given[first:])]
    late = [each for each in given[first:] if not _is_key(each)]
    return (early, late) if early else (late, [])


def _is_key(condition: Expression) -> bool:
    if not isinstance(condition, ScalarFunction) or condition.declaration.name != "equal":
        return False
    return all(isinstance(side, FieldReference) for side in condition.children())


HANDLERS = {"Join": emit}
