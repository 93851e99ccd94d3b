"""The difference of two plans names what changed, where it did, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import text_format
from substrait.algebra_pb2 import Expression, JoinRel, Rel, SortField
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type
from test_structure import filter_, measure, project, sound

from substrait_spark import diff
from substrait_spark.algebra.message_walk import messages


def changed(change: Callable[[Plan], object]) -> str:
    """The difference from the sound plan to the same with a change."""
    plan = sound()
    change(plan)
    assert diff(sound(), sound()) == ""
    return diff(sound(), plan)


def field(ordinal: int) -> str:
    return f"selection {{ root_reference {{}} direct_reference {{ struct_field {{ field: {ordinal} }} }} }}"


def wrap(rel: Any, text: str) -> None:
    """Put a relation over another, as its input."""
    inner = Rel()
    inner.CopyFrom(rel)
    rel.Clear()
    text_format.Parse(text, rel)
    getattr(rel, rel.WhichOneof("rel_type")).input.CopyFrom(inner)


def test_an_expression_changes() -> None:
    def change(plan: Plan) -> None:
        project(plan).expressions[0].scalar_function.arguments[1].value.literal.i64 = 2

    assert changed(change) == (
        "Project over t at root > Aggregate > Project\n  - add($0:a, 1::i64)\n  + add($0:a, 2::i64)\n"
    )


def test_a_term_of_a_condition_comes() -> None:
    def change(plan: Plan) -> None:
        argument = filter_(plan).condition.scalar_function.arguments.add()
        argument.value.literal.boolean = False

    assert changed(change) == "Filter over t at root > Aggregate > Project > Filter\n  + false\n"


def test_a_measure_changes_with_its_type() -> None:
    def change(plan: Plan) -> None:
        measure(plan).arguments[0].value.cast.CopyFrom(
            text_format.Parse(
                "type { i32 { nullability: NULLABILITY_NULLABLE } } failure_behavior: FAILURE_BEHAVIOR_RETURN_NULL"
                f" input {{ {field(3)} }}",
                Expression.Cast(),
            )
        )
        measure(plan).output_type.i32.nullability = Type.NULLABILITY_NULLABLE

    assert changed(change) == (
        "Aggregate over t at root > Aggregate\n"
        "  - measures sum($3){overflow=ERROR} filter $1:b\n"
        "  + measures sum(try_cast($3 as i32?)){overflow=ERROR}::i32? filter $1:b\n"
        "  - column s: i64?\n"
        "  + column s: i32?\n"
    )


def test_a_new_column_moves_others_and_changes_nothing_else() -> None:
    def change(plan: Plan) -> None:
        for message, ordinal in references(plan):
            message.field = ordinal + 1
        schema = filter_(plan).input.read.base_schema
        names, types = list(schema.names), list(schema.struct.types)
        del schema.names[:], schema.struct.types[:]
        schema.names.extend(["new", *names])
        schema.struct.types.add().i32.nullability = Type.NULLABILITY_REQUIRED
        for type in types:
            schema.struct.types.add().CopyFrom(type)

    assert changed(change) == ("Read over t at root > Aggregate > Project > Filter > Read\n  + column new: i32\n")


def references(plan: Plan) -> list[tuple[Any, int]]:
    """The field references of the plan, none of which is to what a project computes."""
    found = [m for m in messages(plan) if isinstance(m, Expression.ReferenceSegment.StructField)]
    return [(message, message.field) for message in found]


def test_a_relation_comes_and_goes() -> None:
    def change(plan: Plan) -> None:
        wrap(filter_(plan).input, "fetch { count_expr { literal { i64: 5 } } }")

    added = "root > Aggregate > Project > Filter > Fetch\n"
    assert changed(change) == f"added at {added}  + Fetch count 5::i64\n"
    plan = sound()
    change(plan)
    assert diff(plan, sound()) == f"removed at {added}  - Fetch count 5::i64\n"


def test_a_join_comes_with_what_it_reads() -> None:
    def change(plan: Plan) -> None:
        read = Rel()
        read.CopyFrom(filter_(plan).input)
        filter_(plan).input.join.left.CopyFrom(read)
        filter_(plan).input.ClearField("read")
        join = filter_(plan).input.join
        join.type = JoinRel.JOIN_TYPE_LEFT_SEMI
        text_format.Parse(field(1), join.expression)
        read.read.named_table.names[0] = "u"
        join.right.CopyFrom(read)

    assert changed(change) == (
        "added at root > Aggregate > Project > Filter > Join\n"
        "  + Join LEFT_SEMI on $1:b -> a: i64?, b: boolean?, c: struct?<d: string>\n"
        "\n"
        "added at root > Aggregate > Project > Filter > Join right > Read\n"
        "  + Read u -> a: i64?, b: boolean?, c: struct?<d: string>\n"
    )


def self_join(condition: str, join_type: str = "INNER") -> Plan:
    read = str(filter_(sound()).input)
    return text_format.Parse(
        f"relations {{ rel {{ join {{ type: JOIN_TYPE_{join_type} left {{ {read} }} right {{ {read} }}"
        f" expression {{ {condition} }} }} }} }}",
        Plan(),
    )


def test_columns_of_one_name_are_not_one() -> None:
    assert diff(self_join(field(1)), self_join(field(4))) == "Join at rel > Join\n  - on $1:b\n  + on $4:b\n"


def test_a_join_of_another_type() -> None:
    assert diff(self_join(field(1)), self_join(field(1), "LEFT")) == "Join at rel > Join\n  - INNER\n  + LEFT\n"


def test_a_type_changes_where_it_is_read() -> None:
    def change(plan: Plan) -> None:
        filter_(plan).input.read.base_schema.struct.types[1].bool.nullability = Type.NULLABILITY_REQUIRED
        filter_(plan).condition.scalar_function.output_type.bool.nullability = Type.NULLABILITY_REQUIRED

    assert changed(change) == (
        "Read over t at root > Aggregate > Project > Filter > Read\n  - column b: boolean?\n  + column b: boolean\n"
    )


def test_the_output_goes_by_another_name() -> None:
    def change(plan: Plan) -> None:
        plan.relations[0].root.names[0] = "total"

    assert changed(change) == "output\n  - root [s, k, d]\n  + root [total, k, d]\n"


def test_the_output_comes_in_another_order() -> None:
    """The names of the root stay where they are, so what was computed is now called by the last of them."""

    def change(plan: Plan) -> None:
        mapping = plan.relations[0].root.input.aggregate.common.emit.output_mapping
        mapping[:] = [0, 1]

    assert changed(change) == "Aggregate over t at root > Aggregate\n  - order s, c\n  + order c, d\n"


def test_sorts() -> None:
    def sorted_by(direction: int) -> Plan:
        plan = sound()
        wrap(plan.relations[0].root.input, f"sort {{ sorts {{ expr {{ {field(0)} }} }} }}")
        plan.relations[0].root.input.sort.sorts[0].direction = SortField.SortDirection.ValueType(direction)
        return plan

    assert diff(sorted_by(1), sorted_by(4)) == (
        "Sort over t at root > Sort\n  - by $0:s ASC_NULLS_FIRST\n  + by $0:s DESC_NULLS_LAST\n"
    )


def renumbered(plan: Plan) -> None:
    for urn in plan.extension_urns:
        urn.extension_urn_anchor += 10
    for number, declared in enumerate(plan.extensions):
        declared.extension_function.extension_urn_reference += 10
        declared.extension_function.function_anchor = 40 - number
    measure(plan).function_reference = 39
    project(plan).expressions[0].scalar_function.function_reference = 40
    filter_(plan).condition.scalar_function.function_reference = 38


def test_numbers_of_anchors_make_no_difference() -> None:
    assert changed(renumbered) == ""


def test_numbers_of_relation_anchors_make_no_difference() -> None:
    def anchored(number: int) -> Plan:
        plan = sound()
        filter_(plan).common.rel_anchor = number
        condition = filter_(plan).condition.scalar_function.arguments[1].value
        condition.subquery.set_predicate.predicate_op = Expression.Subquery.SetPredicate.PREDICATE_OP_EXISTS
        query = condition.subquery.set_predicate.tuples.filter
        reference = query.condition.selection
        reference.outer_reference.rel_reference = number
        reference.direct_reference.struct_field.field = 1
        query.input.CopyFrom(filter_(sound()).input)
        return plan

    assert diff(anchored(3), anchored(8)) == ""
    assert "  - true\n  + EXISTS #1\n" in diff(sound(), anchored(3))


def test_hints_make_no_difference() -> None:
    assert changed(lambda plan: setattr(filter_(plan).common.hint, "alias", "x")) == ""


def test_a_function_of_another_origin() -> None:
    def change(plan: Plan) -> None:
        plan.extension_urns[0].urn = "extension:org.example:functions_arithmetic"

    difference = changed(change)
    assert difference.startswith("plan\n  - add:i64_i64 of extension:io.substrait:functions_arithmetic\n")
    assert "  + sum:i64 of extension:org.example:functions_arithmetic\n" in difference


def test_what_the_plan_says_of_itself() -> None:
    def change(plan: Plan) -> None:
        plan.version.minor_number = 105

    assert changed(change) == "plan\n  - version 0.106.0\n  + version 0.105.0\n"


def test_a_relation_of_the_plan_comes() -> None:
    def change(plan: Plan) -> None:
        plan.relations.add().rel.read.named_table.names.append("u")

    assert changed(change) == "relations\n  + rel\n  +   Read u schema none -> no columns\n"


def test_a_column_that_an_emit_drops() -> None:
    def change(plan: Plan) -> None:
        del plan.relations[0].root.input.aggregate.common.emit.output_mapping[1]

    assert "  - column c: struct?<d: string>\n" in changed(change)


@pytest.mark.parametrize("count", [30, 600])
def test_long_chains_are_aligned(count: int) -> None:
    def chain(literal: int) -> Plan:
        plan = sound()
        for number in range(count):
            value = literal if number == count // 2 else number
            wrap(filter_(plan).input, f"filter {{ condition {{ literal {{ i64: {value} }} }} }}")
        return plan

    difference = diff(chain(-1), chain(-2))
    assert difference.endswith("\n  - -1::i64\n  + -2::i64\n")
    assert difference.count("\n") == 3
