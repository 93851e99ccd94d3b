"""Lowering a plan message, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence

from substrait.plan_pb2 import Plan

from .. import extensions, parameters
from ..algebra.depth import cut
from ..algebra.expression import Origin
from ..dialects.dialect import Dialect
from ..errors import Problem, Unsupported
from ..plan import PRODUCER, RELATION_DEPTH, build
from ..reading.place import MessagePart
from ..reading.plan import read_plan
from .lowering import Lowering


def lower_plan(plan: Plan, dialect: Dialect) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan in the dialect's forms, or None and what stands in its way."""
    extensions.load_all()
    if lowered_for := _engines_functions(plan):
        reason = f"it is in the forms of an engine already, whose functions {', '.join(lowered_for)} it calls"
        return None, [_problem("", None, Unsupported(reason, CANONICAL))]
    read = read_plan(plan)
    problems = [_problem(path, part, Unsupported(reason)) for path, part, reason in read.problems]
    if read.root is None:
        return None, problems
    if dialect.is_canonical:
        lowered = cut(read.root, RELATION_DEPTH)
    else:

        def report(path: str, origin: Origin | None, problem: Unsupported) -> None:
            found = _problem(path, origin, problem)
            if found not in problems:
                problems.append(found)

        lowered = Lowering(dialect, report, read.traits).lower(read.root, names=read.names)
    if problems:
        return None, problems
    try:
        built = build(lowered, read.names)
        parameters.carry_over(plan, built)
        return built, ()
    except Unsupported as problem:
        return None, [_problem("", None, problem)]


CANONICAL = "Lower the canonical plan, which df_to_substrait makes without a dialect."


def _engines_functions(plan: Plan) -> list[str]:
    """The extension files of engines that a plan of ours calls functions of, which canonical plans do not.

    To lower it again would guard twice. Plans of other producers may call what functions they like.
    """
    if not plan.version.producer.startswith(PRODUCER):
        return []
    canonical = (*extensions.STANDARD, extensions.OWN)
    urns = [entry.urn for entry in plan.extension_urns]
    return [urn for urn in urns if extensions.built_in_alias(urn) not in canonical]


def _problem(path: str, origin: Origin | None, problem: Unsupported) -> Problem:
    name = origin.name if origin is not None else "Plan"
    text = origin.text if isinstance(origin, MessagePart) else name
    return Problem(path or "the plan", name, text, problem.reason, problem.hint, problem.cause)
