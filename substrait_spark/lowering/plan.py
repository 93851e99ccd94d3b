"""Lowering a plan message, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence

from substrait.plan_pb2 import Plan

from ..algebra.depth import cut
from ..algebra.relation import Relation
from ..dialects.dialect import Dialect
from ..errors import Origin, Problem, Unsupported
from ..extensions import registry
from ..plan import parameters
from ..plan.concessions import Use, note_uses, uses_in
from ..plan.declared_functions import declared_functions
from ..plan.message import PRODUCER, RELATION_DEPTH, TOO_DEEP, build
from ..reading.place import MessagePart
from ..reading.plan import ReadPlan, read_plan
from ..user_functions.declared import NO_FUNCTIONS, UserFunctions
from .concessions.rewriting import conceded
from .lowering import lower
from .older_forms import written_for


def lower_plan(
    plan: Plan, dialect: Dialect, functions: UserFunctions = NO_FUNCTIONS
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan in the dialect's forms, or None and what stands in its way. `functions` are the caller's own."""
    try:
        return _lowered(plan, dialect, functions)
    except RecursionError:
        return None, [problem_of("", None, TOO_DEEP)]


def _lowered(plan: Plan, dialect: Dialect, functions: UserFunctions) -> tuple[Plan | None, Sequence[Problem]]:
    registry.load_all()
    if undeclared := undeclared_functions(plan, functions):
        return None, [undeclared]
    read, uses = with_concessions(read_plan(plan, functions.nondeterministic), dialect)
    lowered, names, problems = lowered_root(read, dialect)
    if lowered is None:
        return None, problems
    try:
        built = written_for(dialect, build(lowered, names))
        if dialect.abilities.optimizations:
            note_uses(built, [*uses_in(plan), *uses])
        parameters.carry_over(plan, built)
        return built, ()
    except Unsupported as problem:
        return None, [problem_of("", None, problem)]


def with_concessions(read: ReadPlan, dialect: Dialect) -> tuple[ReadPlan, Sequence[Use]]:
    """A plan in which the concessions that a dialect accepts are used, and where."""
    if read.root is None or read.problems:
        return read, ()
    root, uses = conceded(read.root, dialect, read.traits)
    return read._replace(root=root), uses


def lowered_root(read: ReadPlan, dialect: Dialect) -> tuple[Relation | None, Sequence[str], Sequence[Problem]]:
    """The root of a plan in the dialect's forms and the names of its columns, or None and what stands in its way."""
    problems = [problem_of(path, part, Unsupported(reason)) for path, part, reason in read.problems]
    if read.root is None:
        return None, read.names, problems
    if dialect.is_canonical:
        lowered = cut(read.root, RELATION_DEPTH)
    else:

        def report(path: str, origin: Origin | None, problem: Unsupported) -> None:
            described = problem_of(path, origin, problem)
            if described not in problems:
                problems.append(described)

        lowered = lower(dialect, report, read.root, names=read.names, traits=read.traits)
    return (None if problems else lowered), read.names, problems


CANONICAL = "Lower the canonical plan, which df_to_substrait makes without a dialect."


def undeclared_functions(plan: Plan, functions: UserFunctions = NO_FUNCTIONS) -> Problem | None:
    """The problem of a plan of ours that calls functions of an engine, or such of somebody's own as the caller doesn't declare.

    Canonical plans call neither. To lower one of an engine again would go against defects twice. Plans of other producers may call
    what functions they like.
    """
    if not plan.version.producer.startswith(PRODUCER):
        return None
    own = {urn for urn, _ in functions.named}
    urns = {
        entry.extension_urn_anchor: entry.urn
        for entry in plan.extension_urns
        if entry.urn not in own and registry.built_in_alias(entry.urn) not in registry.CANONICAL
    }
    if not urns:
        return None
    if any(registry.built_in_alias(urn) for urn in urns.values()):
        reason = f"it is in the forms of an engine already, whose functions {', '.join(urns.values())} it calls"
        return problem_of("", None, Unsupported(reason, CANONICAL))
    undeclared = set(urns.values())
    names = {name: urn for urn, name in declared_functions(plan).values() if urn in undeclared}
    reason = f"it calls functions that nobody declares: {', '.join(f'{name} of {urn}' for name, urn in names.items())}"
    hint = f"Give your own as functions=[{', '.join(names)}]. If they are an engine's: {CANONICAL[0].lower()}{CANONICAL[1:]}"
    return problem_of("", None, Unsupported(reason, hint))


def problem_of(path: str, origin: Origin | None, problem: Unsupported) -> Problem:
    name = origin.name if origin is not None else "Plan"
    text = origin.text if isinstance(origin, MessagePart) else name
    return Problem(path or "the plan", name, text, problem.reason, problem.hint, problem.cause)
