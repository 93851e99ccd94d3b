"""Which rule emits which Catalyst expression, and which of its parts come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst.tree import Expression
from ..errors import UNEXPECTED, Unsupported, unknown_form
from ..expr import (
    boolean,
    conditional,
    context,
    lambda_,
    literal,
    membership,
    nested,
    parameter,
    reference,
    subquery,
)
from ..expr import operands as ordinary
from . import (
    arithmetic,
    bitmap,
    bitwise,
    calendar_interval,
    cast,
    collation,
    collection,
    comparison,
    datetime,
    datetime_format,
    encoding,
    format,
    geospatial,
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
    time_of_day,
    user_error,
    user_function,
    variant,
    vector,
)
from .aggregate import AGGREGATE
from .collation import require_aggregate, special_rule
from .measure import AggregateForm, EmittedCall
from .table import Plain, first_type, key_of

if TYPE_CHECKING:
    from ..expr.builder import Rule
    from ..expr.operands import Operands

EXPRESSIONS: dict[str, Rule] = {
    **boolean.RULES,
    **cast.RULES,
    **conditional.RULES,
    **context.RULES,
    **lambda_.RULES,
    **literal.RULES,
    **membership.RULES,
    **nested.RULES,
    **parameter.RULES,
    **reference.RULES,
    **subquery.RULES,
    **user_function.EXPRESSIONS,
}
"""The expression kinds that are no function calls, by Catalyst class."""

SCALAR: dict[str, Plain | Rule] = {
    **arithmetic.SCALAR,
    **bitmap.SCALAR,
    **bitwise.SCALAR,
    **collation.SCALAR,
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
    **geospatial.SCALAR,
    **higher_order.SCALAR,
    **map_.SCALAR,
    **nondeterministic.SCALAR,
    **regular_expression.SCALAR,
    **sketch.SCALAR,
    **string.SCALAR,
    **structured_text.SCALAR,
    **time_of_day.SCALAR,
    **user_error.SCALAR,
    **variant.SCALAR,
    **vector.SCALAR,
}
"""Scalar functions by Catalyst class, or by the Java method that an Invoke or a StaticInvoke calls (`key_of`)."""


BY_TYPE = frozenset(key.rpartition("(")[0] for key in SCALAR)
"""The classes with an entry for each type of their first operand, such as `Concat`, which has `Concat(string)`."""


def rule_of(node: Expression) -> Rule:
    """The rule for an expression. Raises `Unsupported` where there is none."""
    rule = EXPRESSIONS.get(node.cls.name)
    if rule is not None:
        return rule
    rule = special_rule(node) or scalar_rule(node)
    return user_function.scalar if rule is None else rule


def scalar_rule(node: Expression) -> Rule | None:
    """The rule for a scalar function, None where no table has its class.

    A class of several families has an entry for each type of its first operand: `Concat(string)`, `Concat(array)`.
    """
    key = key_of(node)
    entry = SCALAR.get(f"{key}({first_type(node)})") if key in BY_TYPE else None
    entry = entry or SCALAR.get(key)
    return entry.emit if isinstance(entry, Plain) else entry


OPERANDS: dict[str, Operands] = {
    **boolean.OPERANDS,
    **calendar_interval.OPERANDS,
    **subquery.OPERANDS,
    "TryEval": lambda node: operands(node["child"]),  # what it is around is part of its rule
}
"""By class, how to get the operands of a node where these aren't its children."""


def operands(node: Expression) -> list[Expression]:
    """The expressions that must be emitted before this one."""
    return OPERANDS.get(node.cls.name, ordinary.operands)(node)


def aggregate_form(call: EmittedCall) -> AggregateForm:
    """The measures of an AggregateExpression; what has none is reported."""
    aggregate = call.aggregate
    function = aggregate["aggregateFunction"]
    try:
        rule = AGGREGATE.get(function.cls.name)
        if rule is None:
            rule = user_function.aggregate
        require_aggregate(function)
        form = rule(call, function)
        for part in form.calls:
            part.came_from(function)
        return form
    except Unsupported as problem:
        call.e.context.report(function, problem)
    except UNEXPECTED as error:
        call.e.context.report(function, unknown_form(error))
    return AggregateForm((), lambda above, references: above.stand_in(aggregate))
