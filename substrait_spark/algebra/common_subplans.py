"""Has a plan say once what it has several times: parts that are the same but for the choice of their columns.

Spark's optimizer writes out what a query defines once and uses twice. That parts are the same is told by their messages, so it
makes no difference what Spark calls their columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from substrait.algebra_pb2 import Rel

from .expression import Expression, Subquery
from .feature import PREVIOUS_ROWS
from .relation import Fetch, Reference, Relation, Sort
from .traversal import inputs_first, refers_outwards, rewritten, subquery_relations

if TYPE_CHECKING:
    from ..extensions.registry import Declaration

HIGHEST = 200
"""How many messages may nest in what is compared: to write it goes as deep on Python's stack."""


def with_common_subplans(root: Relation, finish: Callable[[Relation], Relation]) -> Relation:
    """The relation with references to one in the place of parts that are the same.

    Leaves stay as they are, as does what refers to a query around it, or has an order that a relation above goes by.
    `finish` makes of what is referred to what it is in the plan.
    """
    keys = _keys(root)
    several = _in_several_places(root, keys)
    done: dict[Relation, Relation] = {}
    referred: dict[object, Reference] = {}
    for each in inputs_first(root, subqueries=True):
        key = keys[each]
        if key in several and key not in referred:
            referred[key] = Reference(finish(_over(each, done).with_all_columns()))
        done[each] = referred[key].emitting_as(each) if key in several else _over(each, done)
    return done[root]


def _over(relation: Relation, done: dict[Relation, Relation]) -> Relation:
    """A relation over what its inputs and the relations of its subqueries have become."""
    inputs = tuple([done[input] for input in relation.inputs])
    if not subquery_relations(relation):
        return relation.with_inputs(inputs)

    def in_subquery(part: Expression) -> Expression | None:
        if not isinstance(part, Subquery):
            return None
        needles = [rewritten(child, in_subquery) for child in part.children()]
        return part.with_relation(done[part.relation]).with_children(needles)

    return relation.over(inputs, [rewritten(expression, in_subquery) for expression in relation.expressions()])


def _in_several_places(root: Relation, keys: dict[Relation, object]) -> set[object]:
    """The keys of parts that stand in several places. Parts inside of such a one count once, not once for each of its places."""
    places: Counter[object] = Counter()
    by_order: set[object] = set()
    seen: set[tuple[object, bool]] = set()
    stack = [(root, True)]
    while stack:
        relation, order_counts = stack.pop()
        key = keys[relation]
        places[key] += 1
        if order_counts and _is_ordered(relation):
            by_order.add(key)
        if (key, order_counts) not in seen:
            seen.add((key, order_counts))
            passes = relation.KEEPS_KEYS and not isinstance(relation, Sort)
            below = isinstance(relation, Fetch) or (order_counts and passes)
            stack += [(input, below) for input in relation.inputs]
            stack += [(query, False) for query in subquery_relations(relation)]
    return {key for key, count in places.items() if count > 1 and key is not None} - by_order


def _is_ordered(relation: Relation) -> bool:
    """Whether a relation has its rows in the order of a sort."""
    while relation.KEEPS_KEYS and not isinstance(relation, Sort):
        (relation,) = relation.inputs
    return isinstance(relation, Sort)


# ---- what is the same


def _keys(root: Relation) -> dict[Relation, object]:
    """By relation a key, equal for relations that are the same but for the choice of their columns; None where one is never shared."""
    numbers = _Numbers()
    return {each: _key(each, numbers) for each in inputs_first(root, subqueries=True)}


def _key(relation: Relation, numbers: _Numbers) -> object:
    if not relation.inputs or relation.height > HIGHEST or refers_outwards(relation):
        return None
    if relation.features & PREVIOUS_ROWS:  # of which each level of a recursion has others
        return None
    numbers.relations = 0
    message = Rel()
    relation.with_all_columns().write(message, numbers)
    return message.SerializeToString()


class _Numbers:
    """Anchors for messages that get into no plan: the same function always has the same number, so that messages can be compared."""

    def __init__(self) -> None:
        self.relations = 0
        self.enclosing: list[int] = []
        self.shared: dict[Relation, int] = _InOrder()
        self._functions: dict[tuple[str, str], int] = {}

    def function(self, declaration: Declaration) -> int:
        return self._functions.setdefault((declaration.urn, declaration.compound), len(self._functions))

    def relation(self) -> int:
        self.relations += 1
        return self.relations

    def message(self, type_url: str) -> None:
        """Does nothing: types are declared where the plan itself is written."""

    def detached(self, expression: Expression) -> int:
        raise NotImplementedError  # that is settled where the plan is written


class _InOrder(dict[Relation, int]):
    """Numbers in the order in which they are asked for."""

    def __missing__(self, relation: Relation) -> int:
        self[relation] = len(self)
        return self[relation]
