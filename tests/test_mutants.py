"""Plans that were valid until something in them changed, of fixed seeds; `make fuzz FUZZ="--mutate"` tries more."""

from __future__ import annotations

import pyarrow as pa
import pytest
import slow
from fuzz import mutants
from substrait.plan_pb2 import Plan

from substrait_spark import InvalidPlanError, SubstraitSparkError, UnsupportedPlanError, explain, lower
from substrait_spark.algebra.extension_messages import Generate
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion

pytestmark = pytest.mark.stumbles

FIRST, COUNT = 1, 120 if slow.asked() else 30

# Mutants that once let other exceptions out, or took too long.
ONCE = (40, 45, 74, 2483, 3183, 11568)


def test_mutants_are_answered_or_refused() -> None:
    before = mutants.grown()
    found = [f"{failure.seed} {failure.asked}: {failure.outcome}" for failure in mutants.failures(FIRST, COUNT)]
    assert not found
    assert mutants.grown() - before < mutants.MEMORY


@pytest.mark.parametrize("seed", ONCE)
def test_mutants_that_once_failed(seed: int) -> None:
    assert not [failure.outcome for failure in mutants.failures(seed, 1)]


@pytest.mark.parametrize(("corpus", "asked"), [("producers", "execute"), ("all messages", "lower")])
def test_mutants_are_told_apart(corpus: str, asked: str) -> None:
    """Most change what is answered, and some are still answered."""
    valid = mutants.CORPORA[corpus]()
    assert len(valid) > 40
    outcomes = {"same": 0, "run": 0, "refused": 0}
    for seed in range(60):
        chosen, plan = mutants.of_seed(seed, valid)
        if plan is None:
            continue
        outcomes["same"] += plan == chosen.plan
        try:
            mutants.asked_of(plan)[asked](plan, chosen)
            outcomes["run"] += 1
        except SubstraitSparkError:
            outcomes["refused"] += 1
    assert outcomes["same"] < 20
    assert outcomes["run"] > 3
    assert outcomes["refused"] > 10


def test_schemas_that_have_no_form_in_arrow() -> None:
    plan = Plan()
    root = plan.relations.add().root
    read = root.input.read
    read.named_table.names.append("t")
    read.base_schema.struct.types.add().i64.SetInParent()
    with pytest.raises(InvalidPlanError, match="fewer names than there are columns"):
        datafusion.execute(plan, tables={"t": "missing"})
    read.base_schema.names.append("a")
    read.base_schema.struct.types[0].decimal.precision = 99
    with pytest.raises(InvalidPlanError, match=r"no decimal\(99, 0\)"):
        datafusion.execute(plan, tables={"t": "missing"})
    read.base_schema.struct.types[0].precision_timestamp.precision = 4
    with pytest.raises(InvalidPlanError, match="precision_timestamp of 4 digits"):
        datafusion.execute(plan, tables={"t": "missing"})
    read.base_schema.struct.types[0].i64.SetInParent()
    read.common.emit.output_mapping.append(3)
    with pytest.raises(InvalidPlanError, match="emits the column 3 of 1"):
        datafusion.execute(plan, tables={"t": "missing"})


def test_inputs_of_a_union_that_have_fewer_columns() -> None:
    plan = Plan()
    root = plan.relations.add().root
    root.names.extend(["a", "b"])
    for width in (2, 1):
        read = root.input.set.inputs.add().read
        read.named_table.names.append("t")
        read.base_schema.names.extend("ab"[:width])
        for _ in range(width):
            read.base_schema.struct.types.add().i64.SetInParent()
    assert "Read t" in explain(plan)


def test_details_that_hold_no_message() -> None:
    plan = Plan()
    root = plan.relations.add().root
    root.input.extension_single.input.read.named_table.names.append("t")
    detail = root.input.extension_single.detail
    detail.Pack(Generate())
    detail.value = b"\xff\xff"
    with pytest.raises(InvalidPlanError):
        datafusion.execute(plan, tables={"t": pa.table({"a": [1]})})
    with pytest.raises(UnsupportedPlanError, match="is not known"):
        lower(plan, "datafusion")


def test_values_looked_for_among_those_of_another_type() -> None:
    valid = {plan.name: plan for plan in mutants.valid_plans()}
    plan = Plan.FromString(valid["q16"].plan.SerializeToString())
    for message in messages(plan):
        if message.DESCRIPTOR.full_name == "substrait.Expression.Subquery.InPredicate":
            message.needles[0].literal.string = "x"  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedPlanError, match="is looked for among values of i64"):
        lower(plan, "datafusion")


def test_rows_of_other_types_than_their_columns() -> None:
    plan = Plan()
    read = plan.relations.add().root.input.read
    plan.relations[0].root.names.append("a")
    read.base_schema.names.append("a")
    read.base_schema.struct.types.add().list.type.bool.SetInParent()
    value = read.virtual_table.expressions.add().fields.add().literal
    value.list.values.add().fp64 = 1.5
    with pytest.raises(UnsupportedPlanError, match=r"a row has a list<fp64> in a column of list.<boolean"):
        lower(plan, "datafusion")
