"""Puts tables with their rows in the place of relations that DataFusion lacks, and that are run here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
from substrait.plan_pb2 import Plan

from ...algebra.expression import Expression, Subquery
from ...algebra.extension_messages import URL
from ...algebra.feature import SUBQUERY
from ...algebra.relation import Relation
from ...algebra.traversal import inputs_first, rewritten
from ...errors import InvalidPlanError
from ...plan.message import build
from ...reading.plan import read_plan

if TYPE_CHECKING:
    from ...user_functions.declared import UserFunctions
    from .reads import Binding


Run = Callable[[Plan], pa.Table]
"""Runs a plan."""


@contextmanager
def with_tables(
    plan: Plan,
    kinds: tuple[type[Relation], ...],
    binding: Binding,
    functions: UserFunctions,
    table: Callable[[Relation], Relation | None],
) -> Iterator[Plan]:
    """The plan with what `table` gives of relations of some kinds in their place, while the block holds what `binding` registers.

    It gets a relation over what its inputs have become, and gives None for one that stays.
    """
    if {f"{URL}{kind.__name__}" for kind in kinds}.isdisjoint(plan.expected_type_urls):
        yield plan
        return
    read = read_plan(plan, functions.nondeterministic)
    if read.root is None or read.problems:
        raise InvalidPlanError(f"The plan can't be read: {read.problems[0].reason}.")
    try:
        yield build(_replaced(read.root, table), read.names)
    finally:
        binding.release()


def _replaced(root: Relation, table: Callable[[Relation], Relation | None]) -> Relation:
    done: dict[Relation, Relation] = {}

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, Subquery):
            return None
        inside = part.with_children([rewritten(child, change) for child in part.children()])
        return inside.with_relation(done[part.relation]) if isinstance(inside, Subquery) else inside

    for relation in inputs_first(root, subqueries=True):
        inputs = tuple([done[input] for input in relation.inputs])
        made = relation.with_inputs(inputs)
        if relation.own_features & SUBQUERY:
            made = made.over(inputs, [rewritten(each, change) for each in made.expressions()])
        done[relation] = table(made) or made
    return done[root]
