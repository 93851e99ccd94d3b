"""Stores expressions that nest too deep apart from their relations, where the specification has a list for them.

The message in such an expression's place is its number in `PlanRel.detached_expressions`. That is a matter of the encoding
alone: what is evaluated, when and for which rows, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait.algebra_pb2 import Expression as Message

from .expression import Anchors, Expression, Subquery
from .relation import Relation
from .traversal import inputs_first, rebuilt, relations_below

PART = 48
"""How many messages nest in an expression that is stored apart, or is left in its place: about half of what readers follow."""

LEVELS_ABOVE = 7
"""How many messages lie between a relation and its expressions at most."""

QUERY = 94
"""How many messages may nest in the relation of a subquery that is stored apart."""


class Detached(Expression):
    """An expression that is stored apart."""

    __slots__ = ("stored",)

    def __init__(self, stored: Expression) -> None:
        self.stored = stored
        self.type = stored.type
        self.height = 1
        self.raises, self.features, self.size = stored.raises, stored.features, stored.size

    def write(self, target: Message, anchors: Anchors) -> None:
        target.detached_expression_ordinal = anchors.detached(self.stored)


def detached(relation: Relation, limit: int) -> Relation:
    """The relation with its expressions in at most `limit` nested messages. How deep relations nest stays."""
    if relation.height <= limit:
        return relation
    room = {relation: limit}
    for each in relations_below(relation):
        for input in each.inputs:
            room[input] = min(room.get(input, limit), room[each] - 2)
    done: dict[Relation, Relation] = {}
    for each in inputs_first(relation):
        inputs = tuple([done[input] for input in each.inputs])
        done[each] = _in_room(each.with_inputs(inputs), room[each] - LEVELS_ABOVE)
    return done[relation]


def _in_room(relation: Relation, room: int) -> Relation:
    expressions = relation.expressions()
    if all(expression.height <= room for expression in expressions):
        return relation
    return relation.over(relation.inputs, [in_parts(e, room) for e in expressions])


def in_parts(root: Expression, room: int) -> Expression:
    """The expression in at most `room` nested messages, or stored apart."""
    if root.height <= room:
        return root
    done: dict[Expression, Expression] = {}

    def over_parts(expression: Expression) -> Expression:
        return _one_in_parts(expression, [done[child] for child in expression.children()])

    made = rebuilt(root, done, lambda expression: None, lambda expression: expression.children(), over_parts)
    return made if made.height <= room else Detached(made)


def _one_in_parts(expression: Expression, children: Sequence[Expression]) -> Expression:
    """An expression over others, of which those that leave no room for it are stored apart."""
    if isinstance(expression, Subquery):
        expression = expression.with_relation(detached(expression.relation, QUERY))
    made = expression.with_children(children)
    above = made.height - max([child.height for child in children], default=0)
    if made.height <= PART or not children:
        return made
    return made.with_children([child if above + child.height <= PART else Detached(child) for child in children])
