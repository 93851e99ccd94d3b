"""Cases of what a plan says beside its relations: how it names extension files, types by aliases, notes, and bounds of frames."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from substrait.plan_pb2 import Plan

from ....algebra import types
from ....algebra.expression import Bound, Literal, SortField, WindowCall
from ....algebra.relation import Filter, Window
from ....extensions import registry
from ....plan import removed_fields
from ....plan.concessions import Use, note_uses
from ....plan.type_aliases import declare_aliases
from ..case import Case, Subject, output_names, read
from ..values import edges, table
from .relations import I32, case, column, equal, lefts

AMOUNT = types.of("decimal", 10, 2)
AMOUNTS = table([("a0", AMOUNT, edges(AMOUNT)[:4]), ("a1", AMOUNT, edges(AMOUNT)[:2])], "amounts")

URNS = Subject("abilities", ("extension_urns",))
BOUNDS = Subject("abilities", ("bound_expressions",))


def cases() -> Iterator[Case]:
    """The cases of messages that readers of older releases don't know."""
    yield from _extension_files()
    yield from _beside_relations()
    yield _frame()


def _extension_files() -> Iterator[Case]:
    called = Filter(lefts(), equal(column(1), Literal(2, I32)))
    yield case(URNS, "", called)
    yield case(URNS._replace(variant="old form"), "", called, old=removed_fields.with_uris)


def _beside_relations() -> Iterator[Case]:
    yield case(Subject("abilities", ("optimizations",)), "", lefts(), old=_with_note)
    rows = read("amounts", AMOUNTS)
    aliases = Subject("abilities", ("type_aliases",))
    yield Case(aliases, "", rows, {"amounts": AMOUNTS}, output_names(rows), old=_with_aliases)


def _frame() -> Case:
    """A frame by a distance that is no whole number."""
    counted = registry.resolved("aggregate", "aggregate_generic:count", (AMOUNT,))
    assert counted is not None  # noqa: S101 - the standard's file declares it
    distance = Bound("preceding", Literal(Decimal("1.50"), types.required(AMOUNT)))
    call = WindowCall(counted, (column(1, AMOUNT),), False, distance, Bound("current"))
    made = Window(read("amounts", AMOUNTS), [call], [], [SortField(column(1, AMOUNT), False, True)])
    return Case(BOUNDS, "", made, {"amounts": AMOUNTS}, output_names(made))


def _with_note(plan: Plan) -> Plan:
    """The plan with the note of a concession, which says nothing of its rows."""
    new = Plan()
    new.CopyFrom(plan)
    note_uses(new, [Use("decimal_rounding", "Project: divide")])
    return new


def _with_aliases(plan: Plan) -> Plan:
    """The plan with its types by aliases."""
    new = Plan()
    new.CopyFrom(plan)
    declare_aliases(new)
    return new
