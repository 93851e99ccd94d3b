"""References that lead over several queries outwards, by way of the queries between: Spark's lead to the next one only.

A query hands on what a query inside of it asks of one further outwards, as columns of the relation that the inner query
stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...algebra.expression import Expression, FieldReference, Subquery
from ...algebra.join_columns import with_right_side_moved
from ...algebra.relation import LateralJoin, Project, Relation
from ...algebra.traversal import inputs_first, rewritten, subexpressions

Handed = Callable[[FieldReference], FieldReference]
"""A reference from an inner query over two queries or more, as one to the next, which hands that column on."""


def by_single_steps(root: Relation) -> Relation:
    """The relation with references that lead to the next query outwards, but for its own."""
    done: dict[Relation, Relation] = {}
    for relation in inputs_first(root):
        inputs = tuple([done[input] for input in relation.inputs])
        done[relation] = _handing_on(relation.with_inputs(inputs))
    return done[root]


def _handing_on(relation: Relation) -> Relation:
    lateral = isinstance(relation, LateralJoin)
    if len(relation.inputs) != 1 and not lateral:
        return _with_queries(relation, lambda query: query)
    first, *others = relation.inputs
    handed: dict[tuple[int, int], FieldReference] = {}

    def hand(reference: FieldReference) -> FieldReference:
        key = (reference.ordinal, reference.outer)
        column = handed.setdefault(key, FieldReference(reference.ordinal, reference.type, (), reference.outer - 1))
        ordinal = len(first.types) + list(handed).index(key)
        return FieldReference(ordinal, column.type, reference.path, 1)

    query = partial(_asking_the_next, hand=hand)
    changed = _with_queries(relation, query)
    others = [query(other) for other in others]
    if not handed:
        return changed
    wider = Project(first, [FieldReference(c.ordinal, c.type, (), c.outer) for c in handed.values()])
    if not isinstance(relation, LateralJoin):
        return changed.over((wider,), changed.expressions())
    width, added = len(first.types), len(handed)
    condition = with_right_side_moved(changed.expressions()[0], width, added)
    joined = LateralJoin(wider, others[0], relation.join_type, condition)
    joined.place = relation.place
    own = [n if n < width else n + added for n in range(len(joined.types) - added)]
    return joined.select([own[n] for n in relation.emitted])


def _with_queries(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """The relation with the relations of its subqueries changed, each of which has been brought to single steps."""

    def changed(part: Expression) -> Expression | None:
        if not isinstance(part, Subquery):
            return None
        changed_query = part.with_relation(change(by_single_steps(part.relation)))
        return changed_query.with_children([rewritten(child, changed) for child in part.children()])

    if not any(isinstance(part, Subquery) for each in relation.expressions() for part in subexpressions(each)):
        return relation
    return relation.over(relation.inputs, [rewritten(each, changed) for each in relation.expressions()])


def _asking_the_next(query: Relation, hand: Handed) -> Relation:
    """A query whose own relations refer to the next one outwards, which hands on what they want of others."""

    def change(part: Expression) -> Expression | None:
        return hand(part) if isinstance(part, FieldReference) and part.outer > 1 else None

    done: dict[Relation, Relation] = {}
    for relation in inputs_first(query):
        inputs = tuple([done[input] for input in relation.inputs])
        done[relation] = relation.over(inputs, [rewritten(each, change) for each in relation.expressions()])
    return done[query]
