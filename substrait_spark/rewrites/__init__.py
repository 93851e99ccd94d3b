"""Catalyst tree to Catalyst tree: the rules that undo what the optimizer made of a query.

Each rule is one function from a node to the node that takes its place, or to None where it does not apply. A plan is
walked once, children first; at each node the rules of its class run in the order of `RULES`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from ..catalyst.tree import Document, Node, Plan
from . import (
    carried_order,
    decimal_aggregates,
    file_metadata,
    float_keys,
    lateral_limits,
    merged_subqueries,
    negated_memberships,
    python_steps,
    replaced_functions,
    session_windows,
    untyped_nulls,
)
from .transform import transform

Rule = Callable[[Node], Node | None]

RULES: tuple[tuple[str, Rule], ...] = (
    *python_steps.RULES,
    *decimal_aggregates.RULES,
    *float_keys.RULES,
    *lateral_limits.RULES,
    *merged_subqueries.RULES,
    *negated_memberships.RULES,
    *replaced_functions.RULES,
    *session_windows.RULES,
    *untyped_nulls.RULES,
    *carried_order.RULES,
)
"""Rules by the Catalyst class that they apply to, in order."""


def _by_class(rules: Iterable[tuple[str, Rule]]) -> dict[str, list[Rule]]:
    by_class = defaultdict(list)
    for name, rule in rules:
        by_class[name].append(rule)
    return dict(by_class)


_RULES_OF = _by_class(RULES)


def rewrite(document: Document, also: Iterable[tuple[str, Rule]] = ()) -> Document:
    """The document with the optimizer's artefacts undone, and with further rules applied that the caller gives."""
    document = file_metadata.with_file_columns(document)
    others = tuple(also)
    rules = _by_class((*RULES, *others)) if others else _RULES_OF
    if document.classes.isdisjoint(rules):
        return document
    replaced = transform(document.nodes, rules)
    root = replaced.get(document.root, document.root)
    if not isinstance(root, Plan):
        raise TypeError("a rule made an expression of the plan")
    return document._replace(root=root)
