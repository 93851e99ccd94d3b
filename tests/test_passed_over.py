"""Engines that pass over a field of a plan in silence: what is measured of them has nothing that hangs on it. No JVM runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
import slow
from corpus import cases
from google.protobuf.message import Message
from substrait.algebra_pb2 import Expression, JoinRel, SetRel
from substrait.plan_pb2 import Plan

from substrait_spark import SubstraitSparkError
from substrait_spark.algebra import types
from substrait_spark.algebra.message_walk import messages
from substrait_spark.dialects.dialect import Dialect
from substrait_spark.engines import datafusion
from substrait_spark.engines.measuring.case import Case
from substrait_spark.engines.measuring.dialect_file import document
from substrait_spark.engines.measuring.findings import Findings
from substrait_spark.engines.measuring.judging import Answer, Question, judged, questions, worst
from substrait_spark.engines.measuring.outcome import Outcome
from substrait_spark.engines.measuring.reader import in_expressions
from substrait_spark.engines.measuring.recorded import truths
from substrait_spark.extensions import registry

PARTS = (
    *("relations", "abilities", "expressions", "types i32", "types string", "types boolean"),
    *("aggregate aggregate_generic count any", "casts i32 i8"),
)
"""How the names of the cases begin that these engines are asked."""

Change = Callable[[Message], None]

NULL, THROW = Expression.Cast.FAILURE_BEHAVIOR_RETURN_NULL, Expression.Cast.FAILURE_BEHAVIOR_THROW_EXCEPTION

ASCENDING, DESCENDING = (1, 2), (3, 4)
"""Directions of sorts, nulls first and nulls last."""


def cleared(name: str) -> Change:
    """Passes over a field."""
    return lambda message: message.ClearField(name)


def taken_as(name: str, value: Any) -> Change:
    """Takes a field to have one value, whatever it says."""
    return lambda message: setattr(message, name, value)


def without_older_forms(message: Message) -> None:
    """Passes over the fields of earlier releases, which this one doesn't know."""
    message.DiscardUnknownFields()


def nulls_last(message: Any) -> None:
    """Takes all nulls to go last."""
    message.direction = (ASCENDING if message.direction in ASCENDING else DESCENDING)[1]


def ascending(message: Any) -> None:
    """Takes all sorts to ascend."""
    message.direction = ASCENDING[(message.direction - 1) % 2]


@cache
def asked() -> Sequence[Case]:
    """The cases to ask, with windows as DataFusion reads them."""
    known = truths()
    wanted = [case for case in cases() if case.name.startswith(PARTS) and case.name in known]
    windows = [case for case in wanted if case.subject.key == ("CONSISTENT_PARTITION_WINDOW",)]
    refused = {case.name: Outcome(case.name, "", "refused", "", False) for case in windows}
    found = Findings(windows, known, refused)
    return [case if case in windows else in_expressions(case, found) for case in wanted]


@cache
def of_datafusion() -> dict[str, Outcome]:
    """What comes of all cases in DataFusion itself."""
    return {case.name: outcome(case, lambda plan: plan) for case in asked()}


def outcome(case: Case, change: Callable[[Plan], Plan]) -> Outcome:
    truth = truths()[case.name]
    found = [judged(case, each, answer(each, change)) for each in questions(case, truth)]
    return Outcome(case.name, truth.digest, *worst(found), raised=False)


def answer(question: Question, change: Callable[[Plan], Plan]) -> Answer:
    try:
        return Answer(datafusion.execute(change(Plan.FromString(question.plan)), tables=question.tables))
    except SubstraitSparkError as error:
        return Answer(None, str(error))


def measured(kind: str, change: Change) -> Dialect:
    """The dialect of DataFusion, were it to change all messages of a kind before it runs a plan."""

    def changed(plan: Plan) -> Plan:
        for message in messages(plan):
            if message.DESCRIPTOR.full_name == f"substrait.{kind}":
                change(message)
        return plan

    again = {}
    for case in asked():
        plan = case.plan()
        if changed(case.plan()) != plan:
            again[case.name] = outcome(case, changed)
    assert again, "vacuous: no case has such a field"
    made = document("changed", Findings(asked(), truths(), {**of_datafusion(), **again}))
    return Dialect("changed", made)


Has = Callable[[Dialect], bool]


def relation(name: str, *variant: str) -> Has:
    return lambda dialect: dialect.allows_relation(name, *variant)


def expression(name: str) -> Has:
    return lambda dialect: dialect.allows_expression(name)


def ability(name: str) -> Has:
    return lambda dialect: bool(getattr(dialect.abilities, name))


def narrow_cast(*, throws: bool) -> Has:
    return lambda dialect: dialect.allows_cast(types.I32, types.of("i8"), throws)


def distinct_counts(dialect: Dialect) -> bool:
    counted = dialect.function("aggregate", registry.urn("aggregate_generic"), "count", "any", ())
    return counted is not None and counted.metadata.get("distinct", True)


def all_of(*changes: Change) -> Change:
    def change(message: Message) -> None:
        for each in changes:
            each(message)

    return change


def without_last(name: str) -> Change:
    """Passes over the last of several values."""

    def change(message: Message) -> None:
        del getattr(message, name)[-1:]

    return change


WINDOW = "Expression.WindowFunction"

FIELDS: dict[str, tuple[str, Change, Has]] = {
    "offset": ("FetchRel", all_of(cleared("offset_expr"), without_older_forms), relation("FETCH")),
    "count": ("FetchRel", all_of(cleared("count_expr"), without_older_forms), relation("FETCH")),
    "offset in today's form": ("FetchRel", cleared("offset_expr"), ability("fetch_expressions")),
    "count in today's form": ("FetchRel", cleared("count_expr"), ability("fetch_expressions")),
    "place of nulls": ("SortField", nulls_last, relation("SORT")),
    "direction": ("SortField", ascending, relation("SORT")),
    "last key of a sort": ("SortRel", without_last("sorts"), relation("SORT")),
    "emit": ("RelCommon", cleared("emit"), ability("emit")),
    "filter of a measure": ("AggregateRel.Measure", cleared("filter"), ability("measure_filters")),
    "distinct values": ("AggregateFunction", cleared("invocation"), distinct_counts),
    "grouping": ("AggregateRel", without_last("groupings"), relation("AGGREGATE")),
    "join type": ("JoinRel", taken_as("type", JoinRel.JOIN_TYPE_INNER), relation("JOIN", "join_types", "LEFT")),
    "set operation": (
        "SetRel",
        taken_as("op", SetRel.SET_OP_UNION_ALL),
        relation("SET", "operations", "UNION_DISTINCT"),
    ),
    "failure that throws": ("Expression.Cast", taken_as("failure_behavior", NULL), narrow_cast(throws=True)),
    "failure that is null": ("Expression.Cast", taken_as("failure_behavior", THROW), narrow_cast(throws=False)),
    "else": ("Expression.IfThen", cleared("else"), expression("IF_THEN")),
    "last condition": ("Expression.IfThen", without_last("ifs"), expression("IF_THEN")),
    "last option": ("Expression.SingularOrList", without_last("options"), expression("SINGULAR_OR_LIST")),
    "partition": (WINDOW, cleared("partitions"), expression("WINDOW_FUNCTION")),
    "order of a window": (WINDOW, cleared("sorts"), expression("WINDOW_FUNCTION")),
    "lower bound": (WINDOW, cleared("lower_bound"), expression("WINDOW_FUNCTION")),
    "upper bound": (WINDOW, cleared("upper_bound"), expression("WINDOW_FUNCTION")),
    "rows or range": (WINDOW, taken_as("bounds_type", 1), expression("WINDOW_FUNCTION")),
}
"""What is passed over: the kind of message, what becomes of it, and what a dialect may have no more."""


QUICK = ("count", "direction", "emit", "filter of a measure", "distinct values", "join type", "offset")


@pytest.mark.parametrize("field", slow.some(FIELDS, lambda field: field not in QUICK))
def test_what_is_passed_over_is_not_listed(field: str) -> None:
    kind, change, has = FIELDS[field]
    assert has(Dialect("unchanged", document("unchanged", Findings(asked(), truths(), of_datafusion()))))
    assert not has(measured(kind, change))
