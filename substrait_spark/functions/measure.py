"""What rules for aggregate functions get of Catalyst: one call of one, over a group or over a window's frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..algebra.aggregate_form import AggregateCall, AggregateForm, as_is
from ..algebra.expression import AggregateFunction, SortField
from ..algebra.frame import Frame
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from .table import arguments_of

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


class EmittedCall(AggregateCall["ExpressionBuilder"]):
    """An AggregateExpression, and the frame of the window that it is over, or the group that it is of."""

    def __init__(
        self,
        e: ExpressionBuilder,
        aggregate: tree.Expression,
        frame: Frame | None = None,
        group: Group | None = None,
    ) -> None:
        filter = None if aggregate["filter"] is None else e.emit(aggregate["filter"])
        super().__init__(e, aggregate["isDistinct"], filter, frame)
        self.aggregate = aggregate
        self.group = group or Group()

    def type(self) -> Type:
        """Spark's type of the result."""
        return self.e.type_of(self.aggregate, True)

    def order(self, value: tree.Expression) -> tuple[SortField, ...]:
        """The order of the rows, or of their distinct values. Raises `Unsupported` where there is one that can't be told."""
        sorts = self.group.order()
        if not sorts:
            return sorts
        if not self.distinct:
            self._require_no_distinct_beside()
            return sorts
        if tree.same(self.group.first_key, value):
            return sorts[:1]
        raise Unsupported(
            "distinct values come in the order of their first rows by a sort below, which no column tells",
            "Order the values in the aggregate: array_sort(collect_set(x)), or listagg(DISTINCT x) WITHIN GROUP (ORDER BY x).",
        )

    def _require_no_distinct_beside(self) -> None:
        """Refuse an order of rows that Spark does not keep: it groups them by the distinct values first."""
        if any(other["isDistinct"] for other in self.group.aggregates):
            raise Unsupported(
                "its result depends on the order of its rows, which Spark does not keep beside an aggregate of distinct values",
                "Compute the aggregate of distinct values by itself, and join it, or order the values in the aggregate: "
                "by WITHIN GROUP (ORDER BY …), or by array_sort of the list.",
            )

    def no_order(self) -> Unsupported:
        name = self.aggregate["aggregateFunction"].name
        return Unsupported(f"{name} with an order of its own is no window function")


class Group:
    """What the aggregate functions of one relation share.

    `aggregates`: all of its AggregateExpressions; `sorts`: the order of the rows that it reads, by a sort below it, None
    where there is one that can't be told; `first_key`: what they are sorted by first.
    """

    def __init__(
        self,
        aggregates: Sequence[tree.Expression] = (),
        sorts: tuple[SortField, ...] | None = (),
        first_key: tree.Expression | None = None,
    ) -> None:
        self.aggregates = aggregates
        self.first_key = first_key
        self._sorts = sorts
        self._shared: dict[int, AggregateFunction] = {}

    def shared(self, owner: tree.Expression, make: Callable[[], AggregateFunction]) -> AggregateFunction:
        """A call that several aggregates use: made once, and kept under the aggregate that owns it."""
        if id(owner) not in self._shared:
            self._shared[id(owner)] = make()
        return self._shared[id(owner)]

    def order(self) -> tuple[SortField, ...]:
        """The sorts. Raises `Unsupported` where there is an order that can't be told."""
        if self._sorts is None:
            raise Unsupported(
                "its result depends on the order of its rows, which a sort below gives, and no column tells",
                "Sort again just below it, or use max_by, min_by or a window function instead.",
            )
        return self._sorts


AggregateRule = Callable[[EmittedCall, tree.Expression], AggregateForm]

BUFFERS = "mutableAggBufferOffset inputAggBufferOffset"
"""Fields that say where Spark keeps intermediate results."""


def plain_aggregate(function: str, ignoring: str = "", skips: int | None = 0, **options: str) -> AggregateRule:
    """One call of one function with the class's children as arguments, in order, where no other state is lost."""
    ignored = frozenset(f"{BUFFERS} {ignoring}".split())

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        arguments = call.e.emit_all(arguments_of(node, ignored))
        return call.one(function, *arguments, skips=skips, **options)

    return emit


__all__ = [
    "AggregateForm",
    "AggregateRule",
    "EmittedCall",
    "Group",
    "as_is",
    "plain_aggregate",
]
