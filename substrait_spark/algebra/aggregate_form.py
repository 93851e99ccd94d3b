"""What an aggregate function becomes: one call or several, over a group or the frame of a window, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from ..errors import Unsupported
from .builder import CallBuilder
from .expression import AggregateFunction, Expression, FieldReference, SortField, WindowCall
from .frame import Frame

B = TypeVar("B", bound=CallBuilder)

Result = Callable[[Any, Sequence[Expression]], Expression]
"""The result of a form, with a builder over the columns that its calls have become, in terms of these."""


class AggregateForm(NamedTuple):
    """The calls that an aggregate needs, and what its result is in terms of theirs."""

    calls: tuple[AggregateFunction, ...]
    result: Result


class WindowForm(NamedTuple):
    """The window calls that a function needs, and what its result is in terms of theirs."""

    calls: tuple[WindowCall, ...]
    result: Result


def as_is(above: CallBuilder, references: Sequence[Expression]) -> Expression:
    """The result of the one call there is."""
    return references[0]


def is_one_call(form: AggregateForm | WindowForm, function: str) -> bool:
    """Whether a form is no more than one call of a function, given as `alias:name`."""
    return [call.declaration.function for call in form.calls] == [function] and form.result is as_is


class Measures:
    """The measures of a relation whose first is the column `first`; one that several forms share is there once.

    `same` is equal for calls that are one measure: each is one by itself, unless it says otherwise.
    """

    def __init__(self, first: int, same: Callable[[AggregateFunction], object] = id) -> None:
        self.calls: list[AggregateFunction] = []
        self._first = first
        self._same = same
        self._references: dict[object, FieldReference] = {}

    def add(self, call: AggregateFunction) -> FieldReference:
        """A reference to the column of a measure."""
        same = self._same(call)
        if same not in self._references:
            self._references[same] = FieldReference(self._first + len(self.calls), call.type)
            self.calls.append(call)
        return self._references[same]


class AggregateCall(Generic[B]):
    """Where an aggregate function is called: with which DISTINCT and FILTER, over a group or over a window's frame."""

    def __init__(self, e: B, distinct: bool, filter: Expression | None, frame: Frame | None) -> None:
        self.e = e
        self.distinct = distinct
        self.filter = filter
        self.frame = frame

    def call(
        self,
        function: str,
        *arguments: Expression | str,
        where: Expression | None = None,
        sorts: tuple[SortField, ...] = (),
        skips: int | None = 0,
        **options: Any,
    ) -> AggregateFunction:
        """One call of an aggregate function by `alias:name`, for the rows where `where` holds.

        `skips` is the position of an argument such that rows where it is null count for nothing, None without one: it is
        where the FILTER goes over a window, whose functions have none of their own.
        """
        e = self.e
        condition = self._condition(where)
        if self.frame is None:
            return e.aggregate(function, *arguments, distinct=self.distinct, filter=condition, sorts=sorts, **options)
        if sorts:
            raise self.no_order()
        if condition is not None:
            arguments = self._filtered(arguments, condition, skips)
        return e.aggregate(function, *arguments, distinct=self.distinct, frame=self.frame, **options)

    def one(self, function: str, *arguments: Expression | str, **options: Any) -> AggregateForm:
        """A single call, whose result is the aggregate's."""
        return AggregateForm((self.call(function, *arguments, **options),), as_is)

    def count(self, condition: Expression) -> AggregateFunction:
        """How many rows fulfil a condition."""
        e = self.e
        return self.call("aggregate_generic:count", e.if_then(condition, e.true(), e.null(condition.type)))

    def no_order(self) -> Unsupported:
        """Why it can't be a window function: it has an order of its own."""
        return Unsupported("an aggregate function with an order of its own is no window function")

    def _condition(self, where: Expression | None) -> Expression | None:
        conditions = [condition for condition in (self.filter, where) if condition is not None]
        return self.e.conjunction(conditions) if conditions else None

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
