"""Small plans that stand for much: what is made of them is linear in the plan, or ends in a sentence."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from substrait.algebra_pb2 import Expression, JoinRel, Rel, SetRel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from substrait_spark import InvalidPlanError, SubstraitSparkError, diff, explain, lower, to_dot, to_html, to_mermaid
from substrait_spark.engines import datafusion
from substrait_spark.testing import structural_problems

SHOWN: tuple[Callable[[Plan], Any], ...] = (explain, to_html, to_mermaid, to_dot, lambda plan: diff(plan, Plan()))
SECONDS, MEMORY = 10, 500_000
"""The most that any of it may take, in seconds and kilobytes: a machine may be slow, and has other things to do."""


@contextmanager
def bounded() -> Iterator[None]:
    before, started, used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic(), time.process_time()
    yield
    # What others do on the machine at the time counts for nothing.
    assert min(time.monotonic() - started, time.process_time() - used) < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY


def read(plan: Plan, kind: Type, columns: int = 1) -> Rel:
    """A relation of a plan that reads columns of a type."""
    rel = plan.relations.add().rel
    rel.read.named_table.names.append("t")
    schema = rel.read.base_schema
    schema.struct.nullability = Type.NULLABILITY_REQUIRED
    schema.names.extend(f"c{n}" for n in range(columns))
    schema.struct.types.extend([kind] * columns)
    return rel


def i32(nullability: Any = Type.NULLABILITY_REQUIRED) -> Type:
    return Type(i32=Type.I32(nullability=nullability))


def column(number: int) -> Expression:
    found = Expression()
    found.selection.direct_reference.struct_field.field = number
    found.selection.root_reference.SetInParent()
    return found


def doubling_crosses() -> Plan:
    """Each relation has the columns of the one before it twice."""
    plan = Plan()
    read(plan, i32())
    for ordinal in range(40):
        cross = plan.relations.add().rel.cross
        cross.left.reference.subtree_ordinal = cross.right.reference.subtree_ordinal = ordinal
    return plan


def doubling_crosses_of_unknown_columns() -> Plan:
    """The same, where no types are known."""
    plan = Plan()
    read(plan, i32())
    union = plan.relations.add().rel.set
    union.op = SetRel.SET_OP_UNION_ALL
    union.inputs.add().CopyFrom(read(Plan(), i32()))
    union.inputs.add().CopyFrom(read(Plan(), i32(), 2))
    for ordinal in range(1, 40):
        cross = plan.relations.add().rel.cross
        cross.left.reference.subtree_ordinal = cross.right.reference.subtree_ordinal = ordinal
    return plan


def doubling_structs() -> Plan:
    """Each project makes a struct that has the struct below twice."""
    plan = Plan()
    below = read(Plan(), i32())
    for _ in range(45):
        rel = Rel()
        rel.project.common.emit.output_mapping.append(1)
        rel.project.input.CopyFrom(below)
        rel.project.expressions.add().nested.struct.fields.extend([column(0), column(0)])
        below = rel
    plan.relations.add().root.input.CopyFrom(below)
    return plan


def doubling_aliases() -> Plan:
    """Each type alias stands for a struct that has the next one twice."""
    plan = Plan()
    for anchor in range(60):
        alias = plan.type_aliases.add(type_alias_anchor=anchor)
        for _ in range(2):
            alias.type.struct.types.add().alias.type_alias_reference = anchor + 1
    alias = plan.type_aliases.add(type_alias_anchor=60)
    alias.type.CopyFrom(i32())
    rel = read(plan, Type(alias=Type.TypeAliasReference(type_alias_reference=0)))
    plan.relations[0].root.input.CopyFrom(rel)
    return plan


def circular_aliases() -> Plan:
    plan = Plan()
    for anchor in range(3):
        alias = plan.type_aliases.add(type_alias_anchor=anchor)
        for _ in range(2):
            alias.type.struct.types.add().alias.type_alias_reference = (anchor + 1) % 3
    read(plan, Type(alias=Type.TypeAliasReference(type_alias_reference=0)))
    return plan


def parameters_of_a_large_type() -> Plan:
    """Each parameter, and the null that is bound to it, has a type that doubles with each of its aliases."""
    plan = Plan()
    for anchor in range(15):
        pair = plan.type_aliases.add(type_alias_anchor=anchor).type.map
        pair.nullability = Type.NULLABILITY_REQUIRED
        for side in (pair.key, pair.value):
            side.alias.type_alias_reference = anchor + 1
            side.alias.nullability = Type.NULLABILITY_REQUIRED
    plan.type_aliases.add(type_alias_anchor=15).type.CopyFrom(i32())
    large = Type(alias=Type.TypeAliasReference(type_alias_reference=0, nullability=Type.NULLABILITY_NULLABLE))
    root = plan.relations.add().root
    root.input.project.input.CopyFrom(read(Plan(), i32()))
    root.names.extend(f"c{n}" for n in range(2001))
    for anchor in range(1, 2001):
        parameter = root.input.project.expressions.add().dynamic_parameter
        parameter.parameter_reference = anchor
        parameter.type.CopyFrom(large)
        plan.parameter_bindings.add(parameter_anchor=anchor).value.null.CopyFrom(large)
    return plan


def wide_projects() -> Plan:
    """Projects that emit one column many times."""
    plan = Plan()
    below = read(Plan(), i32())
    for _ in range(45):
        rel = Rel()
        rel.project.common.emit.output_mapping.extend([0] * 20_000)
        rel.project.input.CopyFrom(below)
        below = rel
    plan.relations.add().root.input.CopyFrom(below)
    return plan


def wide_literal() -> Plan:
    plan = Plan()
    rel = plan.relations.add().root.input
    rel.filter.input.CopyFrom(read(Plan(), i32()))
    rel.filter.condition.literal.string = "\x00" * 4_000_000
    return plan


BOMBS = (
    doubling_crosses,
    doubling_crosses_of_unknown_columns,
    doubling_structs,
    doubling_aliases,
    circular_aliases,
    parameters_of_a_large_type,
    wide_projects,
    wide_literal,
)


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_small_plans_that_stand_for_much_end_in_a_sentence(bomb: Callable[[], Plan]) -> None:
    plan = bomb()
    for show in SHOWN:
        with bounded(), suppress(InvalidPlanError):
            show(plan)
    with bounded():
        structural_problems(plan)
    with bounded(), pytest.raises(SubstraitSparkError):
        lower(plan, "datafusion")
    with bounded(), pytest.raises(SubstraitSparkError):
        datafusion.execute(plan, files_under=[])


@pytest.mark.parametrize("bomb", [doubling_crosses, doubling_crosses_of_unknown_columns, wide_projects])
def test_too_many_columns(bomb: Callable[[], Plan]) -> None:
    with pytest.raises(InvalidPlanError, match="relations have more than 500,000 columns together"):
        explain(bomb())


def test_too_large_a_type() -> None:
    assert any("a type with more than 100,000 types" in problem for problem in structural_problems(doubling_structs()))


def test_too_long_a_text() -> None:
    with pytest.raises(InvalidPlanError, match="more than 20,000,000 characters"):
        explain(wide_literal())


def test_each_alias_is_read_once() -> None:
    plan = Plan()
    for anchor in range(15):
        alias = plan.type_aliases.add(type_alias_anchor=anchor)
        alias.type.struct.nullability = Type.NULLABILITY_REQUIRED
        for _ in range(2):
            inner = alias.type.struct.types.add().alias
            inner.type_alias_reference = anchor + 1
            inner.nullability = Type.NULLABILITY_REQUIRED
    plan.type_aliases.add(type_alias_anchor=15).type.CopyFrom(i32())
    kind = Type(alias=Type.TypeAliasReference(type_alias_reference=0, nullability=Type.NULLABILITY_NULLABLE))
    read(plan, kind)
    assert explain(plan).count("i32") == 2**15 + 1  # and in the header, what the last alias stands for


def test_many_columns_that_change_their_places() -> None:
    def plan(ordinals: range) -> Plan:
        found = Plan()
        rel = found.relations.add().root.input
        rel.project.input.CopyFrom(read(Plan(), i32(), 5000))
        rel.project.expressions.extend(
            Expression(nested=Expression.Nested(list=Expression.Nested.List(values=[column(n)]))) for n in ordinals
        )
        return found

    with bounded():
        assert diff(plan(range(5000)), plan(range(4999, -1, -1)))


def test_unions_of_many_inputs_differ() -> None:
    def plan(first: int) -> Plan:
        found = Plan()
        union = found.relations.add().root.input.set
        union.op = SetRel.SET_OP_UNION_ALL
        for number in range(310):
            rel = read(Plan(), i32())
            rel.read.named_table.names[0] = f"t{number + first}"
            union.inputs.add().CopyFrom(rel)
        return found

    with bounded():
        assert diff(plan(0), plan(7))


def test_joins_of_a_hundred_tables_are_shown() -> None:
    plan = Plan()
    below = read(Plan(), i32(), 10)
    for _ in range(100):
        rel = Rel()
        rel.join.type = JoinRel.JOIN_TYPE_INNER
        rel.join.expression.literal.boolean = True
        rel.join.left.CopyFrom(below)
        rel.join.right.CopyFrom(read(Plan(), i32(), 10))
        below = rel
    plan.relations.add().rel.CopyFrom(below)
    with bounded():
        assert explain(plan).count("Join INNER") == 100
