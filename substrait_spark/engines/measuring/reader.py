"""A case in the forms that an engine was found to read: older messages, and windows as expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from ...algebra.expression import WindowFunction
from ...algebra.relation import Project, Relation, Window
from ...lowering.older_forms import FORMS
from .case import Case, Subject
from .findings import Findings

WINDOWS = Subject("relations", ("CONSISTENT_PARTITION_WINDOW",))
WINDOW_EXPRESSIONS = Subject("expressions", ("WINDOW_FUNCTION",))


def stages(cases: Iterable[Case]) -> tuple[list[Case], list[Case], list[Case]]:
    """The cases that tell of older messages; those that tell of windows; and all others, which take the forms that those tell of."""
    messages: list[Case] = []
    windows: list[Case] = []
    others: list[Case] = []
    for case in cases:
        told = messages if case.subject.section == "abilities" else others
        (windows if case.subject in (WINDOWS, WINDOW_EXPRESSIONS) else told).append(case)
    return messages, windows, others


def in_messages(case: Case, abilities: Mapping[str, bool]) -> Case:
    """The case in the older forms of messages that an engine reads, as far as it was found to lack today's."""
    forms = [form for ability, form in FORMS.items() if not abilities.get(ability, True)]
    if case.old is not None or not forms:
        return case
    return case._replace(old=lambda plan: reduce(lambda made, form: form(made), forms, plan))


def in_expressions(case: Case, findings: Findings) -> Case:
    """The case with windows as a project's expressions, for an engine that was found to lack their relation."""
    return case._replace(relation=_projected(case.relation)) if findings.lacks(WINDOWS) else case


def _projected(relation: Relation) -> Relation:
    if not isinstance(relation, Window):
        return relation
    calls = [WindowFunction(call, relation.partition, relation.sorts) for call in relation.calls]
    return Project(relation.inputs[0], calls).emitting_as(relation)
