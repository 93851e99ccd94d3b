"""Finds the columns of a relation that have the same value in each row, as an optimizer sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .expression import Expression
from .feature import NOT_DETERMINISTIC
from .relation import Aggregate, Project, Relation
from .traversal import of_columns, ordinals

Below = list[list[bool]]
"""For each input, which of its columns are constant."""

Rule = Callable[[Any, Below], list[bool]]
"""Which of a relation's own columns are constant: those that come from below, and those that it computes of them."""


Known = dict[Relation, list[bool]]
"""By relation, whether each of its columns is constant."""


def constants(root: Relation, rules: Mapping[type[Relation], Rule] = {}, known: Known | None = None) -> list[bool]:
    """For each column of a relation, whether it is computed of literals alone, or is constant by further rules.

    `known` keeps the answers for relations that were looked at, and is asked first.
    """

    def own(relation: Relation, below: Below) -> list[bool]:
        rule = rules.get(type(relation)) or RULES.get(type(relation), _of_others)
        return rule(relation, below)

    return of_columns(root, own, lambda relation: False, known)


def is_constant(expression: Expression, columns: list[bool]) -> bool:
    """Whether an expression is constant, where `columns` says which columns are."""
    if expression.features & NOT_DETERMINISTIC:
        return False
    return all(ordinal < len(columns) and columns[ordinal] for ordinal in ordinals(expression))


def of_keys(relation: Aggregate, below: Below) -> list[bool]:
    """Of an aggregate's columns, the keys that are constant."""
    return [is_constant(key, below[0]) for key in relation.groupings]


def _of_project(relation: Project, below: Below) -> list[bool]:
    return below[0] + [is_constant(expression, below[0]) for expression in relation.computed]


def _of_others(relation: Relation, below: Below) -> list[bool]:
    return relation.passed(below)


RULES: Mapping[type[Relation], Rule] = {Aggregate: of_keys, Project: _of_project}
"""Relations that make constants; others pass on what is."""
