"""What a query asks of the context that it runs in: https://substrait.io/expressions/specialized_record_expressions/."""

from __future__ import annotations

from ..algebra.expression import ContextVariable, Expression
from ..catalyst import tree
from .builder import ExpressionBuilder, Rule

VARIABLES = {
    "CurrentDate": "current_date",
    "CurrentTimeZone": "current_timezone",
    "CurrentTimestamp": "current_timestamp",
    "Now": "current_timestamp",
}
"""Variables by the Catalyst class that Spark's optimizer makes a literal of."""


def variable(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A variable, which has one value in the whole plan."""
    return ContextVariable(VARIABLES[node.name])


RULES: dict[str, Rule] = dict.fromkeys(VARIABLES, variable)
