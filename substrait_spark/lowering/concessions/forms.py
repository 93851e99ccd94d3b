"""What a call becomes by a concession."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...algebra.builder import CallBuilder
from ...algebra.expression import AggregateFunction, Expression, ScalarFunction, WindowCall


class Form(NamedTuple):
    """A standard expression, and the concessions that it needs."""

    needs: frozenset[str]
    value: Expression


class AggregateForm(NamedTuple):
    """A call of a standard aggregate function, whose result is cast to the type of the call that it replaces."""

    needs: frozenset[str]
    function: str
    argument: Expression
    options: tuple[tuple[str, str], ...] = ()
    throws: bool = True
    """Whether the cast raises for what that type does not hold, or gives null."""


Scalar = Callable[[CallBuilder, ScalarFunction], Form | None]
"""The form of a call; None where it stays as it is."""

Called = AggregateFunction | WindowCall
"""A call of an aggregate function, over groups or over the frames of windows."""

Aggregated = Callable[[CallBuilder, Called], AggregateForm | None]

ScalarForms = Mapping[str, Scalar]
AggregateForms = Mapping[str, Aggregated]
"""By the function as rules write it, `alias:name`."""
