"""Which table has which Catalyst function class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst.tree import Expression
from ..errors import Unsupported
from ..refusals import no_aggregate, unknown_form
from . import (
    arithmetic,
    bitmap,
    bitwise,
    calendar_interval,
    collection,
    comparison,
    datetime,
    datetime_format,
    encoding,
    format,
    hash,
    higher_order,
    interval,
    map_,
    mathematics,
    nondeterministic,
    regular_expression,
    rounding,
    sketch,
    string,
    structured_text,
    user_error,
    vector,
)
from .aggregate import AGGREGATE
from .measure import Measured, Site
from .table import Plain, first_type, key_of

if TYPE_CHECKING:
    from ..expr.builder import Rule

SCALAR: dict[str, Plain | Rule] = {
    **arithmetic.SCALAR,
    **bitmap.SCALAR,
    **bitwise.SCALAR,
    **collection.SCALAR,
    **comparison.SCALAR,
    **hash.SCALAR,
    **mathematics.SCALAR,
    **rounding.SCALAR,
    **datetime.SCALAR,
    **datetime_format.SCALAR,
    **interval.SCALAR,
    **calendar_interval.SCALAR,
    **encoding.SCALAR,
    **format.SCALAR,
    **higher_order.SCALAR,
    **map_.SCALAR,
    **nondeterministic.SCALAR,
    **regular_expression.SCALAR,
    **sketch.SCALAR,
    **string.SCALAR,
    **structured_text.SCALAR,
    **user_error.SCALAR,
    **vector.SCALAR,
}
"""Scalar functions by Catalyst class, or by the Java method that an Invoke or a StaticInvoke calls (`key_of`)."""


def scalar_rule(node: Expression) -> Rule | None:
    """The rule for a scalar function, None where no table has its class.

    A class of several families has an entry for each type of its first operand: `Concat(string)`, `Concat(array)`.
    """
    key = key_of(node)
    entry = SCALAR.get(f"{key}({first_type(node)})") or SCALAR.get(key)
    return entry.emit if isinstance(entry, Plain) else entry


def aggregate_rule(site: Site) -> Measured:
    """The measures of an AggregateExpression; what has none is reported."""
    aggregate = site.aggregate
    function = aggregate["aggregateFunction"]
    try:
        rule = AGGREGATE.get(function.cls.name)
        if rule is None:
            raise no_aggregate(function)
        return rule(site, function)
    except Unsupported as problem:
        site.e.context.report(function, problem)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        site.e.context.report(function, unknown_form(error))
    return Measured((), lambda above, references: above.stand_in(aggregate))
