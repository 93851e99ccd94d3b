"""Which columns of a relation DataFusion knows to be equal to others: those that come twice, and those that conditions equate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....algebra.expression import Expression, ScalarFunction
from ....algebra.relation import Filter, Join, Project, Relation, Set
from ....algebra.traversal import conjuncts, inputs_first, is_column
from .join_keys import EQUALITIES


def repeated(relation: Relation) -> set[int]:
    """The columns that are equal to one before them, in the relation itself or in an input of a union below."""
    return {n for n, first in enumerate(_firsts(relation)) if first < n}


def _firsts(root: Relation) -> list[int]:
    """For each column, the first that it is equal to."""
    known: dict[Relation, list[int]] = {}
    for relation in inputs_first(root):
        own = FIRSTS.get(type(relation), _of_others)(relation, [known[input] for input in relation.inputs])
        seen: dict[int, int] = {}
        known[relation] = [seen.setdefault(own[n] if n < len(own) else n, at) for at, n in enumerate(relation.emitted)]
    return known[root]


def _of_others(relation: Relation, below: list[list[int]]) -> list[int]:
    starts = [sum(map(len, below[:n])) for n in range(len(below))]
    moved = [[start + first for first in firsts] for start, firsts in zip(starts, below, strict=True)]
    return relation.passed(moved)


def _of_project(relation: Project, below: list[list[int]]) -> list[int]:
    (firsts,) = below
    computed = enumerate(relation.computed, len(firsts))
    return firsts + [firsts[each.ordinal] if is_column(each) else n for n, each in computed]


def _of_set(relation: Set, below: list[list[int]]) -> list[int]:
    firsts_of_set: list[int] = []
    for n, firsts in enumerate(zip(*below, strict=True)):
        firsts_of_set.append(n if min(firsts) == n else firsts_of_set[min(firsts)])
    return firsts_of_set


def _of_filter(relation: Filter, below: list[list[int]]) -> list[int]:
    return _equated(relation.condition, _of_others(relation, below))


def _of_join(relation: Join, below: list[list[int]]) -> list[int]:
    passed = _of_others(relation, below)
    return _equated(relation.condition, passed) if relation.join_type == "INNER" else passed


FIRSTS: Mapping[type[Relation], Callable[[Any, list[list[int]]], list[int]]] = {
    Filter: _of_filter,
    Join: _of_join,
    Project: _of_project,
    Set: _of_set,
}
"""Relations that repeat columns, or make known which are equal; others pass on what is."""


def _equated(condition: Expression, firsts: list[int]) -> list[int]:
    """The first equal columns where a condition holds, too."""
    for conjunct in conjuncts(condition):
        if isinstance(conjunct, ScalarFunction) and conjunct.declaration.name in EQUALITIES:
            used = [firsts[each.ordinal] for each in conjunct.children() if is_column(each)]
            if len(used) == 2:
                firsts = [min(used) if first == max(used) else first for first in firsts]
    return firsts
