"""A case in the forms that an engine was found to read: older messages, windows as expressions, and what of those defects show in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import NamedTuple

from ...algebra.expression import WindowFunction
from ...algebra.relation import Project, Relation, Window
from ...dialects.dialect import Dialect
from ...lowering.older_forms import FORMS
from ...lowering.plan import lower_plan
from .case import Case, Subject
from .corpus.messages import BOUNDS, URNS
from .findings import Findings

WINDOWS = Subject("relations", ("CONSISTENT_PARTITION_WINDOW",))
WINDOW_EXPRESSIONS = Subject("expressions", ("WINDOW_FUNCTION",))


class Stages(NamedTuple):
    """The cases in the order in which they are asked: each takes the forms that those before it tell of."""

    files: list[Case]
    """Those that tell how extension files are named."""
    messages: list[Case]
    """Those that tell of other older messages."""
    windows: list[Case]
    others: list[Case]
    defects: list[Case]


def stages(cases: Iterable[Case]) -> Stages:
    """The cases by what they tell of."""
    found = Stages([], [], [], [], [])
    for case in cases:
        told = found.messages if case.subject.section == "abilities" else found.others
        told = found.defects if case.subject.section == "defects" else told
        told = {URNS.key: found.files, BOUNDS.key: found.others}.get(case.subject.key, told)
        (found.windows if case.subject in (WINDOWS, WINDOW_EXPRESSIONS) else told).append(case)
    return found


def in_messages(case: Case, abilities: Mapping[str, bool]) -> Case:
    """The case in the older forms of messages that an engine reads, as far as it was found to lack today's.

    What a case tells of itself stays as it is; but its extension files are named so that the engine knows them.
    """
    lacking = [ability for ability in FORMS if not abilities.get(ability, True)]
    if case.old is not None:
        lacking = [ability for ability in lacking if (ability,) == URNS.key]
    forms = [*filter(None, [case.old]), *(FORMS[ability] for ability in lacking)]
    return case._replace(old=lambda plan: reduce(lambda made, form: form(made), forms, plan)) if lacking else case


def in_expressions(case: Case, findings: Findings) -> Case:
    """The case with windows as a project's expressions, for an engine that was found to lack their relation."""
    return case._replace(relation=_projected(case.relation)) if findings.lacks(WINDOWS) else case


def in_dialect(case: Case, dialect: Dialect) -> Case | None:
    """The case as a plan of it is sent to an engine of a dialect; None where the dialect lacks something of it."""
    lowered, _ = lower_plan(case.plan(), dialect)
    return None if lowered is None else case._replace(old=lambda _: lowered)


def _projected(relation: Relation) -> Relation:
    if not isinstance(relation, Window):
        return relation
    calls = [WindowFunction(call, relation.partition, relation.sorts) for call in relation.calls]
    return Project(relation.inputs[0], calls).emitting_as(relation)
