"""Rewrites of engines from outside: what goes wrong in one is told by its name, file and line, with all other obstacles."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from lacking import Thing, everything, without
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, lower
from substrait_spark.algebra import types
from substrait_spark.algebra.aggregate_form import AggregateForm, WindowForm, as_is
from substrait_spark.algebra.builder import CallBuilder, Traits
from substrait_spark.algebra.expression import (
    Cast,
    Expression,
    FieldReference,
    IfThen,
    Literal,
    ScalarFunction,
    SortField,
    WindowCall,
)
from substrait_spark.algebra.frame import WHOLE, over
from substrait_spark.algebra.relation import Aggregate, Fetch, Join, Project, Relation, Sort, VirtualTable, Window
from substrait_spark.dialects import Dialect
from substrait_spark.dialects.file import problems
from substrait_spark.dialects.rewrite import PLAN, Rewrite, Sees
from substrait_spark.errors import NotInDialect
from substrait_spark.explain import explain
from substrait_spark.lowering.aggregate import LoweredCall
from substrait_spark.lowering.builder import LoweringBuilder
from substrait_spark.lowering.forms import Root
from substrait_spark.lowering.window import StagedWindows
from substrait_spark.plan.message import build

pytestmark = pytest.mark.stumbles

DOCUMENT: dict[str, Any] = {
    "dependencies": {
        "arithmetic": "extension:io.substrait:functions_arithmetic",
        "comparison": "extension:io.substrait:functions_comparison",
        "string": "extension:io.substrait:functions_string",
    },
    "supported_scalar_functions": [
        {"source": "comparison", "name": "equal", "supported_impls": ["any_any"]},
        {"source": "comparison", "name": "is_null", "supported_impls": ["any"]},
        {"source": "string", "name": "lower", "supported_impls": ["str"], "required_options": {"char_set": "UTF8"}},
        {"source": "string", "name": "trim", "supported_impls": ["str_str"]},
    ],
    "supported_expressions": [
        *({"expression": name} for name in ("LITERAL", "SELECTION", "SCALAR_FUNCTION", "IF_THEN", "WINDOW_FUNCTION")),
        {"expression": "CAST", "metadata": {"exact": {"THROW_EXCEPTION": {"i32": ["i64"]}, "RETURN_NULL": {}}}},
    ],
    "metadata": {"defects": {"shouts": {"sql": "SELECT lower('A')", "gives": "A"}}},
}

E = CallBuilder(Traits())
TEXT, NUMBER = types.nullable(types.STRING), types.nullable(types.I32)
NAME, COUNT = FieldReference(0, TEXT), FieldReference(1, NUMBER)
TABLE = VirtualTable([(Literal("a", TEXT), Literal(1, NUMBER))], ["name", "count"], [TEXT, NUMBER])

UPPER = E.call("string:upper", NAME, char_set="UTF8")
LOWER = E.call("string:lower", NAME, char_set="UTF8")
ADDED = E.call("arithmetic:add", COUNT, E.i32(1), overflow="ERROR")


def projected(*computed: Expression) -> Relation:
    return Project(TABLE, computed).select([2 + n for n in range(len(computed))])


def against(target: Any, apply: Callable[..., Any]) -> Rewrite:
    """A rewrite against the one defect of Mine."""
    return Rewrite(target, apply, "shouts")


def dialect(*rewrites: Rewrite) -> Dialect:
    listed = [*rewrites, against("string:lower", lambda e, call: call)]
    assert list(problems(DOCUMENT, listed)) == []
    return Dialect("Mine", DOCUMENT, listed)


def plan(root: Relation) -> Plan:
    return build(root, [f"c{n}" for n in range(len(root.types))])


def refused(root: Relation, *rewrites: Rewrite) -> UnsupportedPlanError:
    with pytest.raises(UnsupportedPlanError) as raised:
        lower(plan(root), dialect(*rewrites))
    return raised.value


def here(apply: Callable[..., Any], lines: int) -> str:
    """How the place of a rewrite's function is told, so many lines behind its beginning."""
    return f"({__file__}, line {inspect.getsourcelines(apply)[1] + lines})"


# ---- what rewrites raise


def raising(e: Any, call: Any, *_: Any) -> Any:
    """Whatever it is asked."""
    raise KeyError("nothing")


def test_what_a_rewrite_raises_is_told_by_its_place() -> None:
    error = refused(projected(UPPER), Rewrite("string:upper", raising))
    (problem,) = error.problems
    place = here(raising, 2)
    assert problem.reason == f"the rewrite raising for string:upper {place} raised KeyError: 'nothing'"
    assert problem.hint == "Mend the rewrite, or tell who wrote those of the dialect."
    assert isinstance(error.__cause__, KeyError)
    assert error.__cause__ is problem.cause


def failing_in_a_form(call: Any) -> AggregateForm:
    return AggregateForm((call.function,), raising)


TOTAL = Aggregate(TABLE, [], [E.aggregate("arithmetic:sum", COUNT, overflow="ERROR")])
NUMBERED = Window(TABLE, [E.window("arithmetic:row_number", frame=WHOLE)], (), ())
CONVERTED = projected(Cast(COUNT, types.nullable(types.FP64), True))
CHOSEN = projected(IfThen(((E.is_null(NAME), E.text("?")),), NAME))
WIDER = projected(Cast(COUNT, types.nullable(types.I64), True))
ORDERED = Sort(TABLE, [SortField(COUNT, True, True)])

KINDS: list[tuple[Relation, Rewrite]] = [
    (projected(UPPER), Rewrite("string:upper", raising)),
    (projected(UPPER), Rewrite("string:upper", raising, sees=Sees.ORIGINAL)),
    (projected(UPPER), Rewrite("string:upper", raising, sees=Sees.BOTH)),
    (projected(LOWER), Rewrite("string:lower", raising, sees=Sees.BUILT)),
    (projected(UPPER), Rewrite(FieldReference, raising, sees=Sees.BOTH)),
    (projected(UPPER), Rewrite(FieldReference, raising, sees=Sees.ORIGINAL)),
    (projected(LOWER), against("string:lower", raising)),
    (CONVERTED, Rewrite(("i32", "fp64"), raising)),
    (CONVERTED, Rewrite(("i32", "fp64"), raising, sees=Sees.ORIGINAL)),
    (WIDER, against(("i32", "i64"), raising)),
    (WIDER, Rewrite(Cast, raising, sees=Sees.BUILT)),
    (projected(E.i32(1)), Rewrite(Literal, raising)),
    (CHOSEN, Rewrite(IfThen, raising)),
    (CHOSEN, Rewrite(IfThen, raising, sees=Sees.BUILT)),
    (TOTAL, Rewrite("arithmetic:sum", lambda call: raising(call, call))),
    (TOTAL, Rewrite("arithmetic:sum", failing_in_a_form)),
    (NUMBERED, Rewrite("arithmetic:row_number", raising)),
    (ORDERED, Rewrite(Sort, raising)),
    (ORDERED, Rewrite(SortField, raising)),
    (projected(NAME), Rewrite(VirtualTable, raising, sees=Sees.ORIGINAL)),
    (projected(NAME), Rewrite(Root, raising)),
    (projected(NAME), Rewrite(PLAN, raising, sees=Sees.ORIGINAL)),
    (projected(NAME), against(PLAN, raising)),
]


@pytest.mark.parametrize(
    ("root", "rewrite"), KINDS, ids=[f"{each.of}-{each.sees.value}{n}" for n, (_, each) in enumerate(KINDS)]
)
def test_rewrites_of_every_kind(root: Relation, rewrite: Rewrite) -> None:
    error = refused(root, rewrite)
    assert f" for {rewrite.of} ({__file__}, line " in str(error)
    assert "raised KeyError: 'nothing'" in str(error)
    assert isinstance(error.__cause__, KeyError)


def test_other_obstacles_are_told_too() -> None:
    error = refused(projected(UPPER, ADDED), Rewrite("string:upper", raising))
    assert [problem.reason.partition(" (")[0] for problem in error.problems] == [
        "the rewrite raising for string:upper",
        "the dialect Mine has no function add:i32_i32 with overflow ERROR",
    ]


def test_what_is_above_an_obstacle_is_told_once() -> None:
    """A rewrite that fails only because the one below it has, is not to blame."""

    def trimmed(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (text,) = call.children()
        assert isinstance(text, ScalarFunction), text
        return call

    outer = E.call("string:reverse", UPPER)
    error = refused(projected(outer), Rewrite("string:upper", raising), Rewrite("string:reverse", trimmed))
    assert [problem.reason.partition(" (")[0] for problem in error.problems] == ["the rewrite raising for string:upper"]


def test_the_rewrite_that_fails_is_told_and_no_other_form_is_taken() -> None:
    def by_another(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        return e.first(lambda: e.lowered("string:upper", *call.children(), char_set="UTF8"), lambda: call.children()[0])

    rewrites = (Rewrite("string:upper", raising), Rewrite("string:reverse", by_another))
    error = refused(projected(E.call("string:reverse", NAME)), *rewrites)
    assert "the rewrite raising for string:upper (" in str(error)


# ---- what rewrites give


def nothing(e: Any, call: Any, *_: Any) -> Any:
    """Forgets to return."""


def a_number(e: Any, call: Any, *_: Any) -> Any:
    return 3


def of_another_type(e: LoweringBuilder, call: Any, *_: Any) -> Expression:
    return e.i32(3)


GIVEN: list[tuple[str, Relation, Rewrite]] = [
    ("gave None where an Expression is wanted", projected(UPPER), Rewrite("string:upper", nothing)),
    ("gave int where an Expression is wanted", projected(UPPER), Rewrite("string:upper", a_number)),
    ("gave int where an Expression or None", projected(UPPER), Rewrite("string:upper", a_number, sees=Sees.BOTH)),
    ("gave None where", projected(LOWER), against("string:lower", nothing)),
    ("gave None where a Relation is wanted", projected(NAME), against(PLAN, nothing)),
    ("gave None where a WindowForm", NUMBERED, Rewrite("arithmetic:row_number", nothing)),
    ("gave int where a Relation is wanted", ORDERED, Rewrite(Sort, a_number)),
    ("gave int where a SortField is wanted", ORDERED, Rewrite(SortField, a_number)),
    (
        "gave an expression of type i32 where one of type string? is wanted, as by e.cast",
        projected(UPPER),
        Rewrite("string:upper", of_another_type),
    ),
    (
        "gave an expression of type i32 where one of type fp64? is wanted",
        CONVERTED,
        Rewrite(("i32", "fp64"), of_another_type),
    ),
]


@pytest.mark.parametrize(("sentence", "root", "rewrite"), GIVEN, ids=[sentence for sentence, _, _ in GIVEN])
def test_what_is_no_form(sentence: str, root: Relation, rewrite: Rewrite) -> None:
    (problem,) = refused(root, rewrite).problems
    assert f"the rewrite {rewrite.apply.__name__} for " in problem.reason
    assert f"{here(rewrite.apply, 0)} {sentence}" in problem.reason


def test_forms_of_aggregates_and_their_results() -> None:
    as_tuple = Rewrite("arithmetic:sum", lambda call: (call.function,))
    assert "gave tuple where an AggregateForm is wanted" in str(refused(TOTAL, as_tuple))
    to_true = Rewrite("arithmetic:sum", lambda call: AggregateForm((call.function,), lambda above, found: above.true()))
    assert "gave an expression of type boolean where one of type i64? is wanted" in str(refused(TOTAL, to_true))
    same = Rewrite("arithmetic:row_number", lambda e, call, staged: WindowForm((call,), as_is))
    lower(plan(NUMBERED), dialect(same))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((NAME, 3), "argument 2 of string:trim is 3, which is no expression: e.i32, e.text, … make one of a value"),
        ((NAME, None), "argument 2 of string:trim is None, which is no expression"),
        ((NAME, "x"), "the scalar function string:trim is not declared for (string?, 'x')"),
    ],
)
def test_values_in_place_of_expressions(arguments: Sequence[Any], sentence: str) -> None:
    def trimmed(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        return e.call("string:trim", *arguments)

    error = refused(projected(UPPER), Rewrite("string:upper", trimmed))
    assert sentence in str(error)
    assert f"for string:upper {here(trimmed, 1)} raised " in str(error)


# ---- rewrites that are about some calls only


def checked(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Additions that raise, which Mine has in another form; others take the form that they have without this rewrite."""
    if dict(call.options).get("overflow") != "ERROR":
        return e.general(call)
    return call.children()[0]


def test_a_rewrite_for_one_choice_of_an_option() -> None:
    rewrite = Rewrite("arithmetic:add", checked)
    assert "Project [$1:count] emit [2]" in explain(lower(plan(projected(ADDED)), dialect(rewrite)))
    silent = E.call("arithmetic:add", COUNT, E.i32(1), overflow="SILENT")
    (problem,) = refused(projected(silent), rewrite).problems
    assert problem.reason == "the dialect Mine has no function add:i32_i32 with overflow SILENT"


def test_a_rewrite_falls_through_to_the_general_form() -> None:
    """Only texts have a form of their own; anything else has that of any engine."""

    def present(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        if call.children()[0].type.kind != "string":
            return e.general(call)
        raise NotInDialect("Mine tells no texts apart")

    rewrite = Rewrite("comparison:is_not_null", present)
    numbers = E.call("comparison:is_not_null", COUNT)
    assert "equal(is_null($1:count), false)" in explain(lower(plan(projected(numbers)), dialect(rewrite)))
    texts = E.call("comparison:is_not_null", NAME)
    assert "Mine tells no texts apart" in str(refused(projected(texts), rewrite))


def by_equality(e: LoweringBuilder, choice: IfThen) -> Expression:
    """A choice under another name, here that of the equality of two values."""
    condition, *_ = choice.children()
    return e.as_type(e.call("comparison:equal", condition, condition), choice.type)


def test_general_forms_take_the_choices_of_an_engine() -> None:
    without_choices = dict(without(DOCUMENT, Thing("expression", "IF_THEN")))
    e = CallBuilder(Traits())
    same = e.call("comparison:is_not_distinct_from", E.equal(NAME, NAME), E.is_null(NAME))
    chosen = IfThen(((E.is_null(NAME), E.true()),), E.false())
    for condition in (same, chosen):
        mine = Dialect("Mine", without_choices, [Rewrite(IfThen, by_equality, sees=Sees.BUILT)])
        lowered = lower(plan(projected(condition)), mine)
        assert "Project [equal(is_null(" in explain(lowered)
        with pytest.raises(UnsupportedPlanError, match="IF_THEN expressions"):
            lower(plan(projected(condition)), Dialect("Mine", without_choices))


def test_rewrites_of_relations_see_what_is_below_and_give_another() -> None:
    def limited(e: LoweringBuilder, sort: Sort) -> Relation:
        return Fetch(sort, 0, 3)

    relation = explain(lower(plan(ORDERED.select([1])), dialect(Rewrite(Sort, limited))))
    assert "Fetch count 3::i64 emit [1]" in relation


def test_a_defect_that_a_dialect_does_not_list_changes_nothing() -> None:
    listed = [against("string:lower", raising), Rewrite(PLAN, raising, "flies")]
    mine = Dialect("Mine", {**DOCUMENT, "metadata": {}}, listed)
    assert "lower($0:name)" in explain(lower(plan(projected(LOWER)), mine))


# ---- rewrites against defects of aggregate and window functions


def doubled(call: LoweredCall) -> AggregateForm:
    """Twice the sum."""
    form = call.one("arithmetic:sum", *call.arguments, overflow="ERROR")
    return AggregateForm(form.calls, lambda above, found: above.call("arithmetic:add", found[0], found[0]))


def of_another(call: LoweredCall) -> AggregateForm:
    """The sum of one column more than was asked for."""
    return call.one("arithmetic:sum", FieldReference(2, NUMBER), overflow="ERROR")


def summing(*rewrites: Rewrite, defects: bool = True) -> Dialect:
    """A dialect with sums of integers, and rewrites against a defect of these."""
    document = {
        **DOCUMENT,
        "supported_scalar_functions": [{"source": "arithmetic", "name": "add", "supported_impls": ["i64_i64"]}],
        "supported_aggregate_functions": [
            {
                "source": "arithmetic",
                "name": "sum",
                "supported_impls": ["i32"],
                "required_options": {"overflow": "ERROR"},
            }
        ],
        "supported_window_functions": [{"source": "arithmetic", "name": "row_number", "supported_impls": [""]}],
    }
    if not defects:
        del document["metadata"]
    assert list(problems(document, rewrites)) == []
    return Dialect("Mine", document, rewrites)


WIDE = VirtualTable([(Literal(None, NUMBER),) * 3], ["a", "b", "c"], [NUMBER] * 3)
SUM = E.aggregate("arithmetic:sum", COUNT, overflow="ERROR")
SUMS = Aggregate(WIDE, [], [SUM])
RUNNING = Window(WIDE, [over(SUM, WHOLE)], (), ())


@pytest.mark.parametrize("root", [SUMS, RUNNING])
def test_a_defect_of_an_aggregate_function_that_the_dialect_has(root: Relation) -> None:
    mine = summing(against("arithmetic:sum", doubled))
    assert "add(" in explain(lower(plan(root), mine))
    rests = summing(against("arithmetic:sum", doubled), defects=False)
    assert "add(" not in explain(lower(plan(root), rests))


def test_several_rewrites_of_one_aggregate_function_run_in_turn() -> None:
    """One that isn't about the call gives it as it is; one that gives another call of the function has that rewritten further."""
    unchanged = against("arithmetic:sum", lambda call: call.unchanged)
    turned = against("arithmetic:sum", of_another)
    made = explain(lower(plan(SUMS), summing(unchanged, turned, against("arithmetic:sum", doubled))))
    assert "sum($2:c" in made
    assert "add(" in made
    made = explain(lower(plan(SUMS), summing(against("arithmetic:sum", doubled), turned)))
    assert "sum($1:b" in made


def test_a_defect_of_a_window_function_that_the_dialect_has() -> None:
    numbered = Window(WIDE, [E.window("arithmetic:row_number", frame=WHOLE)], (), ())

    def from_two(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
        return WindowForm((call,), lambda above, found: above.call("arithmetic:add", found[0], above.i64(1)))

    mine = summing(against("arithmetic:row_number", from_two))
    assert "add(" in explain(lower(plan(numbered), mine))


def test_no_count_is_told_where_the_measures_are_refused() -> None:
    averaged = Aggregate(TABLE, [], [E.aggregate("arithmetic:avg", COUNT, overflow="ERROR")])
    document = {**DOCUMENT, "supported_aggregate_functions": AGGREGATES}
    with pytest.raises(UnsupportedPlanError) as raised:
        lower(plan(averaged), Dialect("Mine", document))
    assert ["avg" in problem.reason for problem in raised.value.problems] == [True]


AGGREGATES = [{"source": "arithmetic", "name": "max", "supported_impls": ["i32"]}]


# ---- what general forms need


def lacking(*removed: str) -> Dialect:
    """A dialect of all standard functions, but for some functions, relations, expressions or abilities."""
    document = dict(everything())
    for name in removed:
        what, _, rest = name.partition(" ")
        document = dict(without(document, Thing(what, *rest.split(" "))))
    return Dialect("Mine", document)


COMPARISON = "scalar extension:io.substrait:functions_comparison:"
LIST_OF_NULLS = E.call("comparison:coalesce", NAME, E.text("?"))
SEMI = Join(TABLE, TABLE, "LEFT_SEMI", E.call("comparison:equal", NAME, FieldReference(2, TEXT)))
SEVERAL = Aggregate(TABLE, [NAME], [E.aggregate("aggregate_generic:count")], [(0,), ()])
NEEDS: list[tuple[Relation, tuple[str, ...], str]] = [
    (
        projected(LIST_OF_NULLS),
        (f"{COMPARISON}coalesce", "expression IF_THEN"),
        "has no function coalesce:any; in its place it would need IF_THEN expressions",
    ),
    (
        projected(LIST_OF_NULLS),
        (f"{COMPARISON}coalesce", f"{COMPARISON}is_not_null", f"{COMPARISON}is_null"),
        "has no function coalesce:any; in its place it would need function is_not_null:any",
    ),
    (
        projected(E.call("comparison:gte", COUNT, COUNT)),
        tuple(COMPARISON + name for name in ("gte", "lte", "lt", "gt")),
        "has no function gte:any_any; in its place it would need function lte:any_any, or function lt:any_any, or function gt:any_any",
    ),
    (
        SEMI,
        ("relation JOIN join_types LEFT_SEMI", "relation FILTER"),
        "has no LEFT_SEMI JOIN relations; in its place it would need FILTER relations",
    ),
    (
        SEVERAL,
        ("ability grouping_sets", "relation EXPAND field_types SWITCHING_FIELD", "relation SET operations UNION_ALL"),
        "has no aggregates with several groupings; in its place it would need UNION_ALL SET relations",
    ),
    (
        projected(E.call("comparison:is_not_distinct_from", NAME, NAME)),
        (
            *(COMPARISON + name for name in ("is_not_distinct_from", "coalesce", "is_null", "is_not_null")),
            "expression CAST failure_options THROW_EXCEPTION",
        ),
        "has no function is_not_distinct_from:any_any; in its place it would need function is_null:any",
    ),
    (projected(UPPER), ("scalar extension:io.substrait:functions_string:upper",), "has no function upper:str with char_set UTF8"),
]  # fmt: skip


@pytest.mark.parametrize(("root", "removed", "sentence"), NEEDS, ids=[sentence for _, _, sentence in NEEDS])
def test_what_other_forms_need(root: Relation, removed: Sequence[str], sentence: str) -> None:
    """What the dialect lacks of the query is told, and what the other form of it would need."""
    with pytest.raises(UnsupportedPlanError) as raised:
        lower(plan(root), lacking(*removed))
    (problem,) = raised.value.problems
    assert problem.reason == f"the dialect Mine {sentence}"


def test_what_has_no_other_form_is_told_by_itself() -> None:
    with pytest.raises(UnsupportedPlanError) as raised:
        lower(plan(projected(COUNT)), lacking("relation READ read_types VIRTUAL_TABLE", "type STRING"))
    told = {problem.reason for problem in raised.value.problems}
    assert told == {"the dialect Mine has no VIRTUAL_TABLE READ relations", "the dialect Mine has no type string?"}
