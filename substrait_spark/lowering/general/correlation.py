"""Conditions of a subquery that refer to the query around it, taken out of it, so that a join can have them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...algebra.expression import Expression, FieldReference, Subquery
from ...algebra.relation import Filter, Project, Relation
from ...algebra.traversal import conjuncts, is_own, relations_below, rewritten, subexpressions

if TYPE_CHECKING:
    from ...algebra.builder import CallBuilder


class Uncorrelated(NamedTuple):
    """A subquery's relation on its own, and the conditions that it had of the rows around it.

    `relation` has the columns that it had, and behind them those that `conditions` need. These refer to the columns around
    the subquery, and behind those to the columns of the relation.
    """

    relation: Relation
    conditions: list[Expression]


def uncorrelated(e: CallBuilder, subquery: Relation, width: int) -> Uncorrelated | None:
    """A subquery's relation without its references to the query around it, which has `width` columns.

    None where these are elsewhere than in the conditions of filters, with nothing but projects and filters above.
    """
    steps: list[Filter | Project] = []
    base = subquery
    while isinstance(base, Filter | Project):
        steps.append(base)
        (base,) = base.inputs
    if refers_outwards(base):
        return None
    raised = _Raised(base)
    for step in reversed(steps):
        is_raised = raised.through_filter(e, step) if isinstance(step, Filter) else raised.through_project(step)
        if not is_raised:
            return None
    rename = partial(_seen_from_the_join, width, width + len(subquery.types))
    return Uncorrelated(raised.relation, [rewritten(condition, rename) for condition in raised.conditions])


class _Raised:
    """Conditions on their way up through a subquery's relations.

    `relation` has the columns of the relation that it stands for, and behind them those that the conditions need, which
    refer to the latter by their number among them.
    """

    def __init__(self, base: Relation) -> None:
        self.relation = base
        self.conditions: list[Expression] = []
        self._needed = 0

    def through_filter(self, e: CallBuilder, step: Filter) -> bool:
        """Go above a filter, and take its conditions along that refer outwards; false where one of them can't be."""
        parts = conjuncts(step.condition)
        taken = [part for part in parts if _refers(part)]
        if any(isinstance(each, Subquery) for part in taken for each in subexpressions(part)):
            return False
        left = [part for part in parts if not _refers(part)]
        if left:
            self.relation = Filter(self.relation, e.conjunction(left))
        for part in taken:
            self.conditions.append(rewritten(part, self._need))
        self._select(step, len(step.inputs[0].types))
        return True

    def through_project(self, step: Project) -> bool:
        """Go above a project; false where it computes something of the query around."""
        if any(_refers(expression) for expression in step.computed):
            return False
        self.relation = Project(self.relation, step.computed)
        self._select(step, len(step.inputs[0].types))
        return True

    def _need(self, part: Expression) -> Expression | None:
        """A column of the relation below a condition as one that is kept for it."""
        if not is_own(part):
            return None
        self.relation = self.relation.select([*range(len(self.relation.types)), part.ordinal])
        self._needed += 1
        return FieldReference(self._needed - 1, part.type, part.path)

    def _select(self, step: Relation, width: int) -> None:
        """The columns of a step over an input of `width`, then the needed ones, which stand behind that input's."""
        own = len(self.relation.types) - self._needed
        direct = range(own) if step.emit is None else step.emit
        needed = range(width, width + self._needed)
        self.relation = self.relation.select([*(n if n < width else n + self._needed for n in direct), *needed])


def _seen_from_the_join(width: int, first: int, part: Expression) -> Expression | None:
    """A reference in a raised condition, in a join of the query around with the relation whose needed columns are at `first`."""
    if not isinstance(part, FieldReference) or part.parameter is not None:
        return None
    if not part.outer:
        return FieldReference(first + part.ordinal, part.type, part.path)
    return FieldReference(part.ordinal, part.type, part.path, part.outer - 1)


def refers_outwards(subquery: Relation) -> bool:
    """Whether a subquery's relation refers to the query around it, itself or in a subquery of its own."""
    return any(_refers(expression) for relation in relations_below(subquery) for expression in relation.expressions())


def _refers(root: Expression) -> bool:
    """Whether an expression of a subquery refers to the query around that."""
    stack: list[tuple[Expression, int]] = [(root, 0)]
    while stack:
        expression, depth = stack.pop()
        for part in subexpressions(expression):
            if isinstance(part, FieldReference) and part.outer > depth:
                return True
            if isinstance(part, Subquery):
                below: Sequence[Relation] = relations_below(part.relation)
                stack.extend((inner, depth + 1) for relation in below for inner in relation.expressions())
    return False
