"""Aggregate calls: what an aggregate function becomes, over a group or over the frame of a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, FieldReference, SortField, WindowCall
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from ..expr.boolean import conjunction
from .floating import groupable
from .frame import WHOLE, Frame, over
from .table import arguments_of

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder

Result = Callable[["ExpressionBuilder", Sequence[Expression]], Expression]


class Measured(NamedTuple):
    """The calls that an aggregate needs, and what its result is in terms of theirs."""

    calls: tuple[AggregateFunction, ...]
    result: Result


def as_is(above: ExpressionBuilder, references: Sequence[Expression]) -> Expression:
    """The result of the one call there is."""
    return references[0]


class Site:
    """Where an aggregate function is called: with which DISTINCT and FILTER, over a group or over a window's frame."""

    def __init__(
        self,
        e: ExpressionBuilder,
        aggregate: tree.Expression,
        frame: Frame | None = None,
        group: Group | None = None,
    ) -> None:
        self.e = e
        self.aggregate = aggregate
        self.distinct: bool = aggregate["isDistinct"]
        self.filter = None if aggregate["filter"] is None else e.emit(aggregate["filter"])
        self.frame = frame
        self.group = group or Group()

    def call(
        self,
        function: str,
        *arguments: Expression | str,
        where: Expression | None = None,
        sorts: tuple[SortField, ...] = (),
        skips: int | None = 0,
        as_told: bool = False,
        **options: Any,
    ) -> AggregateFunction:
        """One call of an aggregate function by `alias:name`, for the rows where `where` holds.

        `skips` is the position of an argument such that rows where it is null count for nothing, None without one: it is
        where the FILTER goes over a window, whose functions have none of their own. `as_told`: the arguments of a
        DISTINCT are those whose bits differ where they differ.
        """
        e = self.e
        condition = self._condition(where)
        if self.distinct and not as_told:
            arguments = tuple([a if isinstance(a, str) else groupable(e, a) for a in arguments])
        if self.frame is None:
            return e.aggregate(function, *arguments, distinct=self.distinct, filter=condition, sorts=sorts, **options)
        if sorts:
            raise NotInDialect(
                f"{self.aggregate['aggregateFunction'].name} with an order of its own is no window function"
            )
        if condition is not None:
            arguments = self._filtered(arguments, condition, skips)
        return e.aggregate(function, *arguments, distinct=self.distinct, frame=self.frame, **options)

    def one(self, function: str, *arguments: Expression | str, **options: Any) -> Measured:
        """A single call, whose result is the aggregate's."""
        return Measured((self.call(function, *arguments, **options),), as_is)

    def below(self, *calls: tuple[str, Expression], within: Sequence[Expression] = ()) -> list[FieldReference]:
        """Results of aggregate functions over all rows of the group, as columns of these rows: `(function, argument)`."""
        if self.frame is not None or self.distinct:
            raise NotInDialect(
                f"the dialect {self.e.dialect.name} has no {self.aggregate['aggregateFunction'].name} "
                f"{'of distinct values' if self.distinct else 'over windows'}"
            )
        return self.group.below(*(whole(self.e, *call) for call in calls), within=within)

    def filtered(self, value: Expression) -> Expression:
        """A value, null for rows that the FILTER drops."""
        return value if self.filter is None else self.e.if_then(self.filter, value, self.e.null(value.type))

    def count(self, condition: Expression) -> AggregateFunction:
        """How many rows fulfil a condition."""
        e = self.e
        return self.call("aggregate_generic:count", e.if_then(condition, e.true(), e.null(condition.type)))

    def type(self) -> Type:
        """Spark's type of the result."""
        return self.e.type_of(self.aggregate, True)

    def _condition(self, where: Expression | None) -> Expression | None:
        conditions = [condition for condition in (self.filter, where) if condition is not None]
        return conjunction(self.e, conditions) if conditions else None

    def _filtered(
        self, arguments: tuple[Expression | str, ...], condition: Expression, skips: int | None
    ) -> tuple[Expression | str, ...]:
        e = self.e
        if skips is None:
            raise Unsupported(
                "a FILTER on this window function has no Substrait form",
                "Put the condition into the argument, for example with CASE WHEN.",
            )
        if not arguments:
            return (e.if_then(condition, e.true(), e.null(condition.type)),)
        argument = arguments[skips]
        if isinstance(argument, str):
            raise TypeError("the position of a name was given as that of a value")
        filtered = e.if_then(condition, argument, e.null(argument.type))
        return (*arguments[:skips], filtered, *arguments[skips + 1 :])


class Windows(NamedTuple):
    """Window calls over whole partitions, of the keys of a relation's groups and of more."""

    calls: tuple[WindowCall, ...]
    partition: tuple[Expression, ...]


class Group:
    """What the aggregate functions of one relation share.

    `aggregates`: all of its AggregateExpressions; `keys`: what it groups by; `width`: the number of columns that it
    reads; `sorts`: the order of the rows that it reads, by a sort below it, None where there is one that can't be told.
    `windows`: window calls that aggregates need below the relation, whose results are columns after those it reads.
    """

    def __init__(
        self,
        aggregates: Sequence[tree.Expression] = (),
        keys: Sequence[Expression] = (),
        width: int = 0,
        sorts: tuple[SortField, ...] | None = (),
    ) -> None:
        self.aggregates = aggregates
        self.windows: list[Windows] = []
        self._keys = tuple(keys)
        self._width = width
        self._sorts = sorts
        self._shared: dict[int, AggregateFunction] = {}

    def below(self, *calls: WindowCall, within: Sequence[Expression] = ()) -> list[FieldReference]:
        """The results of window calls over all rows of a group, or over those that agree on `within` too."""
        self.windows.append(Windows(calls, (*self._keys, *within)))
        first = self._width
        self._width += len(calls)
        return [FieldReference(first + n, call.type) for n, call in enumerate(calls)]

    def shared(self, owner: tree.Expression, make: Callable[[], AggregateFunction]) -> AggregateFunction:
        """A call that several aggregates use, one of which it is kept for."""
        if id(owner) not in self._shared:
            self._shared[id(owner)] = make()
        return self._shared[id(owner)]

    def order(self) -> tuple[SortField, ...]:
        """The sorts. Raises `Unsupported` where there is an order that can't be told."""
        if self._sorts is None:
            raise Unsupported(
                "its result depends on the order of its rows, and the columns that they are sorted by are not among them",
                "Keep the sorting columns, or use max_by, min_by or a window function instead.",
            )
        return self._sorts


def whole(e: ExpressionBuilder, function: str, argument: Expression) -> WindowCall:
    """An aggregate function over the whole partition."""
    return over(e.aggregate(function, argument, frame=WHOLE), WHOLE)


def values_in_frame(site: Site, child: Expression) -> AggregateFunction:
    """The list of a window frame's values, as doubles, that are not null."""
    if site.frame is None:
        raise NotInDialect(f"the dialect {site.e.dialect.name} has no sum of this list")
    return site.call("spark:collect_list", site.e.cast(child, types.FP64))


AggregateRule = Callable[[Site, tree.Expression], Measured]

BUFFERS = "mutableAggBufferOffset inputAggBufferOffset"
"""Fields that say where Spark keeps intermediate results."""


def plain_aggregate(function: str, ignoring: str = "", skips: int | None = 0, **options: str) -> AggregateRule:
    """One call of one function with the class's children as arguments, in order, where no other state is lost."""
    ignored = frozenset(f"{BUFFERS} {ignoring}".split())

    def emit(site: Site, node: tree.Expression) -> Measured:
        arguments = site.e.emit_all(arguments_of(node, ignored))
        return site.one(function, *arguments, skips=skips, **options)

    return emit
