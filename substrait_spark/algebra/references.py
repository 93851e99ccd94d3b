"""Relations that a plan has beside its root, for several places to refer to."""

from __future__ import annotations

from .expression import Expression, Subquery
from .feature import REFERENCE, SUBQUERY
from .relation import Reference, Relation
from .traversal import relations_below, rewritten, transformed


def shared_relations(root: Relation) -> list[Relation]:
    """The relations that a relation refers to, directly or not, each after those that it refers to itself."""
    in_order: dict[Relation, None] = {}
    if not root.features & (REFERENCE | SUBQUERY):
        return []
    stack = [(root, False)]
    while stack:
        relation, done = stack.pop()
        if done:
            in_order.setdefault(relation)
            continue
        for each in reversed(relations_below(relation, subqueries=True)):
            if isinstance(each, Reference) and each.shared not in in_order:
                stack += [(each.shared, True), (each.shared, False)]
    return list(in_order)


def inlined(root: Relation) -> Relation:
    """The relation with each reference replaced by the relation that it refers to, also in subqueries."""
    if not root.features & (REFERENCE | SUBQUERY):
        return root
    if not any(isinstance(each, Reference) for each in relations_below(root, subqueries=True)):
        return root
    known: dict[Relation, Relation] = {}

    def whole(relation: Relation) -> Relation:
        if relation not in known:
            known[relation] = inlined(relation)
        return known[relation]

    def in_subquery(part: Expression) -> Expression | None:
        if not isinstance(part, Subquery):
            return None
        return part.with_relation(whole(part.relation)).with_children(
            [rewritten(child, in_subquery) for child in part.children()]
        )

    def rule(relation: Relation) -> Relation:
        if isinstance(relation, Reference):
            return whole(relation.shared)
        if not relation.own_features & SUBQUERY:
            return relation
        return relation.over(relation.inputs, [rewritten(each, in_subquery) for each in relation.expressions()])

    return transformed(root, rule)
