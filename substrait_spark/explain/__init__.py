"""The text of any Substrait plan, and the difference of two plans (docs/reference/plan-text.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text_values import Difference, PlanText

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression
    from substrait.plan_pb2 import Plan

__all__ = ["diff", "explain"]


def explain(plan: Plan | ExtendedExpression, *, verbose: bool = False) -> PlanText:
    """The plan as text: one line for each relation, its inputs indented below it, its columns with their types.
    Of an extended expression, one line for each expression and measure.

    Nothing that is in the plan is left out but hints and the numbers of anchors, which `verbose` adds; a field that
    this release doesn't know shows as `!unknown{…}`. Any plan has a text, however deep, and with whatever mistakes.
    Raises InvalidPlanError where a plan stands for more columns or characters than anyone reads (`substrait_spark.algebra.limits`).
    The format is described in docs/reference/plan-text.md; its version is in the first line.
    """
    from .layout import layout
    from .plan_text import document

    return PlanText(layout(document(plan, verbose=verbose), verbose=verbose))


def diff(plan_a: Plan | ExtendedExpression, plan_b: Plan | ExtendedExpression) -> Difference:
    """What changes from one plan to another: each relation that differs, its place, and what differs in it.

    Relations are matched by structure, and expressions are compared by the columns that they mean: where a column
    stands, and the numbers of anchors, make no difference. Hints make none either. Empty where there is none. It is a
    string that shows itself in notebooks and at prompts, as the text of a plan does.
    """
    from .difference import difference
    from .plan_text import document

    return Difference(difference(document(plan_a), document(plan_b)))
