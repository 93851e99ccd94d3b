"""Measures that a dialect lacks, in terms of others: counts of rows and of values by each other, filters by nulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.aggregate_form import AggregateForm, as_is
from ..algebra.expression import Expression
from ..errors import NotInDialect

if TYPE_CHECKING:
    from .aggregate import LoweredCall
    from .rules import AggregateRule


def counted(call: LoweredCall) -> AggregateForm:
    """A count of values as one of the rows where they are not null; a count of rows as one of a value that is not."""
    if not call.arguments:
        return call.one(COUNT, call.e.true())
    if call.distinct:
        raise NotInDialect("a count of distinct values is no count of rows")
    return call.one(COUNT, where=call.e.is_not_null(call.arguments[0]))


def masked(call: LoweredCall) -> AggregateForm:
    """A measure with a filter as one without, of a value that is null for the rows that the filter drops."""
    e, function = call.e, call.function
    if call.filter is None:
        raise NotInDialect("it has no filter")
    name = f"{function.declaration.alias}:{function.declaration.name}"
    arguments = list(call.arguments) or [e.true()]
    position = next(n for n, argument in enumerate(arguments) if isinstance(argument, Expression))
    arguments[position] = call.filtered(arguments[position])
    options: dict[str, Any] = dict(function.options)
    made = e.aggregate(name, *arguments, distinct=call.distinct, sorts=call.sorts, frame=call.frame, **options)
    return AggregateForm((made,), as_is)


COUNT = "aggregate_generic:count"

SKIPPING_NULLS: Mapping[str, str] = {
    "aggregate_generic": "count",
    "arithmetic": "avg max min std_dev sum sum0 variance",
    "arithmetic_decimal": "avg max min sum sum0",
    "boolean": "bool_and bool_or",
    "datetime": "max min",
    "spark": "avg_in_doubles bit_and bit_or bit_xor collect_list collect_set max min sum try_sum",
}
"""Functions for which rows with a null in the first value count for nothing."""

GENERAL: Mapping[str, Sequence[AggregateRule]] = {
    **{f"{alias}:{name}": (masked,) for alias, names in SKIPPING_NULLS.items() for name in names.split()},
    COUNT: (counted, masked),
}
"""By `alias:name`."""
