"""Which rule emits which Catalyst expression, and which of its parts come first."""

from __future__ import annotations

from ..catalyst.tree import Expression
from ..functions.dispatch import scalar_rule
from ..functions.table import key_of
from ..refusals import no_expression
from . import boolean, cast, conditional, lambda_, literal, membership, nested, reference, subquery
from .builder import Rule

RULES: dict[str, Rule] = {
    **boolean.RULES,
    **cast.RULES,
    **conditional.RULES,
    **lambda_.RULES,
    **literal.RULES,
    **membership.RULES,
    **nested.RULES,
    **reference.RULES,
    **subquery.RULES,
}
"""The expression kinds that are no function calls, by Catalyst class."""


def rule_of(node: Expression) -> Rule:
    """The rule for an expression. Raises `Unsupported` where there is none."""
    rule = RULES.get(node.cls.name)
    if rule is None:
        rule = scalar_rule(node)
    if rule is None:
        raise no_expression(node, key_of(node))
    return rule


EMITTED_ON_REQUEST = ("object", "daytime", "yearmonth", "interval", "void")
"""Types of operands that are left to the rule: constants of functions, intervals, which it may count or add in parts,
and NULLs, which it may give a type."""


def operands(node: Expression) -> list[Expression]:
    """The expressions that must be emitted before this one.

    Chains of AND and OR count as one call. Lambdas are emitted by the function that applies them, a subquery's plan
    by its own rule, and literals when a rule asks for them: it may read their value instead. JVM objects are constants
    of the functions that are called on them. What TryEval is around is part of its rule.
    """
    children = node.children()
    if not children:
        return []
    name = node.cls.name
    if name in boolean.VARIADIC:
        return boolean.chain(node)
    if name in subquery.RULES:
        return subquery.operands(node)
    if name == "TryEval":
        return operands(node["child"])
    return [
        child
        for child in children
        if isinstance(child, Expression)
        and child.cls.name not in ("LambdaFunction", "Literal", "ResolvedCollation")
        and child.type.name not in EMITTED_ON_REQUEST
    ]
