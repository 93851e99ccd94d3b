"""A plan message as the tree."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from substrait.algebra_pb2 import Expression
from substrait.plan_pb2 import ExecutionBehavior, Plan

from ..algebra.builder import Traits
from ..algebra.message_walk import depth, messages_of
from ..algebra.nondeterminism import drawn_twice
from ..algebra.recursion import previous_rows_of
from ..algebra.relation import Relation
from ..algebra.type_messages import declared_types
from ..algebra.types import field_count
from ..plan.message import DEPTH_LIMIT
from ..plan.type_aliases import require_few_types
from .detached import wrongly_detached
from .encodings import up_to_date
from .functions import DeclaredFunctions
from .place import Unreadable
from .relation import RelationReader


class ReadPlan(NamedTuple):
    """A plan's root relation, the depth-first names of its columns, and what could not be read."""

    root: Relation | None
    names: list[str]
    problems: list[Unreadable]
    traits: Traits


def read_plan(plan: Plan, nondeterministic: Collection[tuple[str, str]] = ()) -> ReadPlan:
    """The tree of a plan of one root relation, in the encodings of this release or an older one.

    `nondeterministic` are functions that no extension file declares, by URN and name, which aren't deterministic.

    Raises InvalidPlanError where a plan stands for far more than it says.
    """
    nesting = depth(plan)
    if nesting > DEPTH_LIMIT:
        return _unreadable(f"the plan nests {nesting} messages deep, and readers stop at {DEPTH_LIMIT}")
    plan, problems = up_to_date(plan)
    roots = [entry.root for entry in plan.relations if entry.WhichOneof("rel_type") == "root"]
    if len(roots) != 1:
        return _unreadable("only plans of exactly one root relation are read")
    require_few_types(plan)
    declared = declared_types(plan)
    parameters = {binding.parameter_anchor: binding.value for binding in plan.parameter_bindings}
    if _evaluates_variables_again(plan):
        return _unreadable("its variables are evaluated for each record, and here they are once for all of a plan")
    problems += [Unreadable("", None, problem) for entry in plan.relations for problem in wrongly_detached(entry)]
    if problems:
        return ReadPlan(None, [], problems, Traits())
    own = [entry.WhichOneof("rel_type") for entry in plan.relations].index("root")
    traits = Traits()
    reader = RelationReader(DeclaredFunctions(plan, nondeterministic), declared, parameters, plan.relations, traits)
    root, names = reader.read_entry(own), list(roots[0].names)
    problems += reader.problems
    unused = set(range(len(plan.relations))) - reader.used - {own}
    if unused and not problems:
        problems.append(
            Unreadable("", None, f"nothing refers to the relation {min(unused)} of the plan, which is no root")
        )
    if previous_rows_of(root):
        problems.append(Unreadable("", None, "it reads the previous rows of no recursion that is around"))
    if reader.used and (problem := drawn_twice(root)):
        problems.append(Unreadable("", None, problem.reason))
    expected = sum(1 + field_count(kind) for kind in root.types)
    if not problems and len(names) != expected:
        problems.append(Unreadable("", None, f"it names {len(names)} columns and fields, and has {expected}"))
    return ReadPlan(root, names, problems, traits)


def _evaluates_variables_again(plan: Plan) -> bool:
    mode = plan.execution_behavior.variable_eval_mode
    per_record = mode == ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_RECORD
    return per_record and any(True for _ in messages_of(plan, Expression.ExecutionContextVariable))


def _unreadable(reason: str) -> ReadPlan:
    return ReadPlan(None, [], [Unreadable("", None, reason)], Traits())
