"""What computes the one column of a relation over a schema: an expression, or a measure."""

from __future__ import annotations

from ..algebra.expression import AggregateFunction, ContextVariable, Expression
from ..algebra.inline_projects import measures_over_leaf, over_leaf
from ..algebra.relation import Aggregate, Relation
from ..algebra.traversal import inputs_first, subexpressions
from ..errors import Unsupported
from .message import require_room


def value_of(relation: Relation, detach: bool = False) -> Expression | AggregateFunction:
    """What computes the one column of a relation, as an expression or a measure over the schema.

    It must nest no deeper than readers follow, unless its parts are stored apart.
    """
    if any(isinstance(each, Aggregate) for each in inputs_first(relation)):
        value: Expression | AggregateFunction = _measure(relation)
    else:
        (value,) = over_leaf(relation)
    if not detach:
        require_room(value)
    return value


def _measure(relation: Relation) -> AggregateFunction:
    if not isinstance(relation, Aggregate):
        raise Unsupported(
            "it computes something of the result of an aggregate, and a measure is one call of an aggregate function",
            "Give the aggregate alone, and compute the rest of its result.",
        )
    call = measures_over_leaf(relation)[relation.emit[0] if relation.emit else 0]
    if call.filter is not None:
        raise Unsupported(
            "a measure by itself has no place for a FILTER",
            "Write the condition into what is aggregated: sum(CASE WHEN condition THEN x END).",
        )
    return call


def require_no_variable(relation: Relation) -> None:
    """Refuse what tells the time: only a plan can say that it does so once."""
    for each in inputs_first(relation):
        for expression in each.expressions():
            for part in subexpressions(expression):
                if isinstance(part, ContextVariable):
                    raise Unsupported(
                        f"{part.name} is settled once for a query, and an expression by itself can't say so",
                        "Give the value that it is to have.",
                        part.origin,
                    )
