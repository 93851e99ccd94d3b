"""Dialects: what makes a file valid, what a dialect makes the producer do, and that DataFusion's claims hold."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pyspark.sql import SparkSession
from rows import plan_of
from substrait.algebra_pb2 import AggregateFunction, AggregateRel, CrossRel, Expression, JoinRel, SetRel
from substrait.plan_pb2 import Plan

from substrait_spark import DialectError, check, df_to_substrait
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import Cast, FieldReference, Literal, ScalarFunction, SortField
from substrait_spark.algebra.expression import Expression as Expression_
from substrait_spark.algebra.message_walk import messages
from substrait_spark.algebra.relation import (
    Cross,
    Fetch,
    Filter,
    Generate,
    Join,
    Project,
    Relation,
    Set,
    Sort,
    VirtualTable,
)
from substrait_spark.dialects import dialect, file
from substrait_spark.dialects.rewrite import Rewrite
from substrait_spark.engines import datafusion
from substrait_spark.engines.datafusion.rewrites import REWRITES
from substrait_spark.extensions import registry
from substrait_spark.extensions.yaml_text import parsed
from substrait_spark.lowering.builder import LoweringBuilder
from substrait_spark.lowering.plan import lower_plan
from substrait_spark.plan.message import build

FILE = Path(datafusion.__file__).with_name("dialect.yaml")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    content: dict[str, Any] = parsed(FILE.read_text("utf-8"))
    return content


@pytest.fixture(scope="module", autouse=True)
def _table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("dialect") / "t")
    spark.sql("SELECT * FROM VALUES (1, 'a', 1.5D), (2, 'b', NULL) t(k, s, d)").write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("dt")


def written(directory: Path, document: Any) -> Path:
    path = directory / "mine.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), "utf-8")
    return path


# ---- files


def test_the_built_in_dialect_is_valid(document: dict[str, Any]) -> None:
    assert file.schema_error(document) is None
    assert list(file.problems(document, REWRITES)) == []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("datafusoin", "There is no dialect 'datafusoin': give the path of a dialect file, or the name"),
        ("/no/such/file.yaml", "There is no dialect '/no/such/file.yaml'"),
        (Path("no.yaml"), "There is no dialect 'no.yaml'"),
        ("", "There is no dialect ''"),
        ("a\0b", "There is no dialect"),
        (3, "A dialect is a name, the path of a YAML file or a loaded one, not int"),
    ],
)
def test_unknown_dialects(spark: SparkSession, given: Any, sentence: str) -> None:
    with pytest.raises(DialectError, match=sentence.replace("(", r"\(")):
        df_to_substrait(spark.range(1), dialect=given)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a: [b", "is no YAML"),
        ("a: &x [*x]\nb: *y", "is no YAML"),
        ("- a\n- b", "its top level is no mapping"),
        ("", "its top level is no mapping"),
        ("unknown_key: 1", "is no valid Substrait dialect"),
        ("supported_relations: [FLY]", "is no valid Substrait dialect"),
        ("supported_types: [{type: INTERVAL_DAY}]", "is no valid Substrait dialect"),
        (
            "supported_scalar_functions: [{source: x, name: f, supported_impls: [i32]}]",
            "f is of the undeclared dependency x",
        ),
        ("metadata: {quirks: {flies: true}}", "metadata.quirks is not known; there may be abilities"),
        ("metadata: {abilities: {flies: true}}", "metadata.abilities.flies is not known"),
        ("metadata: {abilities: {grouping_sets: 1}}", "metadata.abilities.grouping_sets must be true or false, not 1"),
        ("metadata: {abilities: 3}", "metadata.abilities is no mapping"),
        (
            "metadata: {defects: {flies: {sql: a, gives: b}}}",
            "metadata.defects.flies is a defect that there is no rewrite against",
        ),
        ("metadata: {defects: 3}", "metadata.defects is no mapping"),
        ("metadata: {extensions: [absent.yaml]}", "there is no extension file 'absent.yaml' beside the dialect file"),
        ("metadata: {extensions: 3}", "metadata.extensions is no list of texts"),
        (
            "metadata: {rewrites: 'no_such_package:REWRITES'}",
            "metadata.rewrites: 'no_such_package:REWRITES' can't be loaded",
        ),
        (
            "metadata: {rewrites: 'json:loads'}",
            "metadata.rewrites: 'json:loads' is function, not a list of rewrites",
        ),
        (
            "metadata: {rewrites: 'no.py:REWRITES'}",
            "metadata.rewrites: 'no.py:REWRITES' can't be loaded: FileNotFoundError: there is no file",
        ),
    ],
)
def test_invalid_files(spark: SparkSession, tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(DialectError, match=sentence):
        df_to_substrait(spark.range(1), dialect=written(tmp_path, content))


def test_a_file_that_is_no_text(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(DialectError, match="is no YAML"):
        check(spark.range(1), dialect=path)
    with pytest.raises(DialectError, match="There is no dialect"):
        check(spark.range(1), dialect=tmp_path)


def test_an_empty_dialect_is_the_canonical_one(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.sql("SELECT k + 1 AS a, upper(s) AS u FROM dt ORDER BY 1")
    assert df_to_substrait(df, dialect=written(tmp_path, {"name": "mine"})) == df_to_substrait(df)


def test_the_built_in_dialect_by_its_path_is_the_same(spark: SparkSession) -> None:
    df = spark.sql("SELECT sum(k), s FROM dt WHERE d > 1 GROUP BY s")
    assert df_to_substrait(df, dialect=FILE) == df_to_substrait(df, dialect="datafusion")
    assert df_to_substrait(df, dialect=str(FILE)) == df_to_substrait(df, dialect="datafusion")


# ---- what a dialect makes the producer do


def without(document: dict[str, Any], section: str, name: str) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    kept = [entry for entry in changed[section] if entry != name and name not in _values(entry)]
    assert len(kept) < len(changed[section])
    changed[section] = kept
    return changed


def _values(entry: Any) -> list[Any]:
    return list(entry.values()) if isinstance(entry, dict) else []


def joins(document: dict[str, Any]) -> dict[str, Any]:
    """What a dialect document says of joins."""
    return next(entry for entry in document["supported_relations"] if "JOIN" in _values(entry))


MARKED = "SELECT k FROM dt WHERE k > 5 OR k IN (SELECT k FROM dt)"


@pytest.mark.parametrize(
    ("section", "name", "query", "reason"),
    [
        ("supported_expressions", "CAST", "SELECT CAST(k AS bigint) FROM dt", "CAST"),
        ("supported_expressions", "IF_THEN", "SELECT if(k > 1, s, 'x') FROM dt", "IF_THEN"),
        ("supported_relations", "FILTER", "SELECT k FROM dt WHERE k > 1", "FILTER"),
        ("supported_relations", "SORT", "SELECT k FROM dt ORDER BY k", "SORT"),
        ("supported_relations", "FETCH", "SELECT k FROM dt LIMIT 1", "FETCH"),
        ("supported_relations", "AGGREGATE", "SELECT count(*) FROM dt", "AGGREGATE"),
        ("supported_relations", "PROJECT", "SELECT k IS NULL FROM dt", "PROJECT"),
        ("supported_relations", "SET", "SELECT k FROM dt UNION ALL SELECT k FROM dt", "SET"),
        ("supported_relations", "JOIN", "SELECT a.k FROM dt a FULL JOIN dt b ON a.k = b.k", "OUTER JOIN relations"),
        ("supported_relations", "READ", "SELECT k FROM dt", "READ"),
        ("supported_types", "FP64", "SELECT d FROM dt", "type fp64"),
        ("supported_types", "I32", "SELECT CAST('1' AS INT) FROM dt", "type i32"),
    ],
)
def test_what_a_dialect_lacks_is_refused(
    spark: SparkSession, tmp_path: Path, document: dict[str, Any], section: str, name: str, query: str, reason: str
) -> None:
    df = spark.sql(query)
    assert check(df, dialect="datafusion")
    report = check(df, dialect=written(tmp_path, without(document, section, name)))
    assert not report
    assert reason in str(report)
    assert "dialect" in str(report)


def test_mark_joins_are_refused_or_taken(spark: SparkSession, tmp_path: Path, document: dict[str, Any]) -> None:
    df = spark.sql(MARKED)
    (join,) = [message for message in messages(df_to_substrait(df)) if isinstance(message, JoinRel)]
    assert join.type == JoinRel.JOIN_TYPE_LEFT_MARK
    changed = copy.deepcopy(document)
    joins(changed)["join_types"] = ["INNER", "LEFT"]
    (problem,) = check(df, dialect=written(tmp_path, changed))
    assert "no LEFT_MARK JOIN relations" in problem.reason
    assert problem.hint


def test_a_dialect_without_cross_joins_gets_a_join(
    spark: SparkSession, tmp_path: Path, document: dict[str, Any]
) -> None:
    df = spark.sql("SELECT a.k, b.s FROM dt a CROSS JOIN dt b")
    plan = df_to_substrait(df, dialect=written(tmp_path, without(document, "supported_relations", "CROSS")))
    (join,) = [message for message in messages(plan) if isinstance(message, JoinRel)]
    assert join.type == JoinRel.JOIN_TYPE_INNER
    assert join.expression.literal.boolean


def test_grouping_sets_or_a_cross_join_or_a_union(
    spark: SparkSession, tmp_path: Path, document: dict[str, Any]
) -> None:
    df = spark.sql("SELECT k, s, count(*) FROM dt GROUP BY CUBE (k, s)")
    (canonical,) = [message for message in messages(plan_of(df)) if isinstance(message, AggregateRel)]
    assert [list(grouping.expression_references) for grouping in canonical.groupings] == [[0, 1], [0], [1], []]
    (cross,) = [message for message in messages(plan_of(df, "datafusion")) if isinstance(message, CrossRel)]
    assert len(cross.left.read.virtual_table.expressions) == 4
    plan = df_to_substrait(df, dialect=written(tmp_path, without(document, "supported_relations", "CROSS")))
    (union,) = [message for message in messages(plan) if isinstance(message, SetRel)]
    assert len(union.inputs) == 4


def test_functions_need_exactly_the_options_that_a_dialect_names(
    spark: SparkSession, tmp_path: Path, document: dict[str, Any]
) -> None:
    df = spark.sql("SELECT s LIKE 'a%' FROM dt WHERE contains(s, 'b')")
    changed = copy.deepcopy(document)
    for entry in changed["supported_scalar_functions"]:
        if entry["source"] == "string" and entry["name"] in ("contains", "like", "starts_with"):
            entry["required_options"] = {"case_sensitivity": "CASE_INSENSITIVE"}
    report = check(df, dialect=written(tmp_path, changed))
    assert "contains:str_str with case_sensitivity CASE_SENSITIVE, only with case_sensitivity CASE_INSENSITIVE" in str(
        report
    )
    assert check(df, dialect="datafusion")


def test_the_options_that_a_function_without_any_has_in_a_dialect(
    spark: SparkSession, tmp_path: Path, document: dict[str, Any]
) -> None:
    changed = copy.deepcopy(document)
    for entry in changed["supported_aggregate_functions"]:
        if entry["name"] == "count":
            entry["supported_impls"] = ["any"]
            entry["required_options"] = {"overflow": "ERROR"}
    dialect = written(tmp_path, changed)
    for query in ("SELECT count(*) FROM dt", "SELECT count(*) OVER () FROM dt", "SELECT count(s) FROM dt"):
        plan = df_to_substrait(spark.sql(query), dialect=dialect)
        counts = [each for each in messages(plan) if isinstance(each, AggregateFunction | Expression.WindowFunction)]
        assert [(each.options[0].name, list(each.options[0].preference)) for each in counts] == [
            ("overflow", ["ERROR"])
        ]


# ---- types


@pytest.mark.parametrize(
    ("type", "entry", "allowed"),
    [
        (types.of("decimal", 20, 5), {"type": "DECIMAL", "max_precision": 18}, False),
        (types.of("decimal", 18, 5), {"type": "DECIMAL", "max_precision": 18}, True),
        (types.of("decimal", 18, 5), {"type": "DECIMAL", "max_scale": 4}, False),
        (types.of("interval_day", 6), {"type": "INTERVAL_DAY", "max_precision": 3}, False),
        (types.of("interval_day", 3), {"type": "INTERVAL_DAY", "max_precision": 3}, True),
        (types.of("varchar", 9), {"type": "VARCHAR", "max_length": 8}, False),
        (types.of("boolean"), "BOOL", True),
        (types.of("i32"), "I64", False),
        (types.of("list", types.of("i32")), "LIST", False),
    ],
)
def test_types_keep_to_their_limits(type: types.Type, entry: Any, allowed: bool) -> None:
    assert dialect.Dialect("mine", {"supported_types": [entry]}).allows_type(type) == allowed


def test_types_are_checked_at_every_level() -> None:
    mine = dialect.Dialect("mine", {"supported_types": ["I32", "STRING", "LIST", "MAP", "STRUCT"]})
    deep = types.of("list", types.of("map", types.of("string", nullable=False), types.of("struct", types.of("i32"))))
    assert mine.allows_type(deep)
    assert not mine.allows_type(types.of("list", types.of("struct", types.of("i32"), types.of("date"))))


# ---- what DataFusion's file says of relations and expressions is run


LISTS = types.of("list", types.nullable(types.I32), nullable=True)


def table(*values: int | None) -> VirtualTable:
    kind = types.nullable(types.I32)
    return VirtualTable([(Literal(value, kind),) for value in values], ["a"], [kind])


def column(relation: Relation, ordinal: int = 0) -> FieldReference:
    return FieldReference(ordinal, relation.types[ordinal])


def run(relation: Relation) -> list[tuple[Any, ...]]:
    plan = build(relation, [f"c{n}" for n in range(len(relation.types))])
    found = [tuple(row.values()) for row in datafusion.execute(plan).to_pylist()]
    return sorted(found, key=repr)


def equal(relation: Relation, left: int, right: int) -> Any:
    pair = (column(relation, left), column(relation, right))
    declaration = registry.resolve("scalar", "comparison", "equal", (pair[0].type, pair[1].type))
    assert declaration is not None
    return ScalarFunction(declaration, pair)


JOINED: dict[str, list[tuple[Any, ...]]] = {
    "INNER": [(1, 1)],
    "LEFT": [(1, 1), (2, None), (None, None)],
    "RIGHT": [(1, 1), (None, 3), (None, None)],
    "OUTER": [(1, 1), (2, None), (None, 3), (None, None), (None, None)],
    "LEFT_SEMI": [(1,)],
    "LEFT_ANTI": [(2,), (None,)],
}


def test_join_types_of_the_file_run(document: dict[str, Any]) -> None:
    entry = joins(document)
    left, right = table(1, 2, None), table(1, 3, None)
    both = Cross(left, right)
    for join_type in entry["join_types"]:
        rows = run(Join(left, right, join_type, equal(both, 0, 1)))
        if join_type == "LEFT_MARK":
            assert [(key, bool(mark)) for key, mark in rows] == [(1, True), (2, False), (None, False)]
        else:
            assert rows == sorted(JOINED[join_type], key=repr), join_type


def test_other_relations_of_the_file_run(document: dict[str, Any]) -> None:
    names = {entry["relation"] if isinstance(entry, dict) else entry for entry in document["supported_relations"]}
    assert names == {
        "READ",
        "FILTER",
        "FETCH",
        "AGGREGATE",
        "SORT",
        "JOIN",
        "PROJECT",
        "SET",
        "CROSS",
        "EXTENSION_MULTI",
        "EXTENSION_SINGLE",
    }
    rows = table(3, 1, None, 2)
    assert run(Filter(rows, Literal(False, types.BOOLEAN))) == []
    assert run(Project(rows, [column(rows)])) == [(1, 1), (2, 2), (3, 3), (None, None)]
    assert run(Set([rows, rows], "UNION_ALL")) == sorted(run(rows) * 2, key=repr)
    assert run(Cross(table(1, 2), table(3))) == [(1, 3), (2, 3)]
    lists = VirtualTable([(Literal((1, None), LISTS),), (Literal(None, LISTS),)], ["l"], [LISTS])
    assert run(Generate(lists, column(lists), outer=True, whole=True).select([1])) == [(1,), (None,), (None,)]
    ordered = Sort(rows, [SortField(column(rows), True, False)])
    assert run(Fetch(ordered, 1, 2)) == [(2,), (3,)]
    assert run(Project(rows, [Cast(column(rows), types.of("i64"), True)]).select([1])) == [(1,), (2,), (3,), (None,)]


def test_plans_of_the_dialect_are_read_back(spark: SparkSession) -> None:
    plan = plan_of(spark.sql(MARKED), "datafusion")
    again = Plan()
    again.ParseFromString(plan.SerializeToString())
    assert again == plan
    assert all(message.WhichOneof("rex_type") for message in messages(plan) if isinstance(message, Expression))


def test_counts_of_elements_are_signed() -> None:
    """DataFusion counts in unsigned integers, which no plan has."""
    lists = VirtualTable([(Literal((1, None), LISTS),), (Literal(None, LISTS),)], ["l"], [LISTS])
    declaration = registry.resolve("scalar", "list", "cardinality", (LISTS,))
    assert declaration is not None
    plan = build(Project(lists, [ScalarFunction(declaration, (column(lists),))]).select([1]), ["n"])
    lowered, _ = lower_plan(plan, file.load("datafusion"))
    assert lowered is not None
    assert datafusion.execute(lowered).equals(pa.table({"n": pa.array([2, None], pa.int64())}))


# ---- guards

GUARDED = """
name: Guarded
dependencies:
  boolean: extension:io.substrait:functions_boolean
  comparison: extension:io.substrait:functions_comparison
supported_scalar_functions:
  - {source: boolean, name: and, supported_impls: [bool]}
  - {source: boolean, name: not, supported_impls: [bool]}
  - {source: boolean, name: or, supported_impls: [bool]}
  - {source: comparison, name: equal, supported_impls: [any_any]}
  - {source: comparison, name: is_null, supported_impls: [any]}
  - {source: comparison, name: lt, supported_impls: [any_any]}
metadata: {defects: {reads_backwards: {sql: "1 = 2", gives: "2 = 1"}}}
"""


@pytest.mark.parametrize("condition", ["s = 'b'", "s <=> 'b'", "s <> 'b'", "nullif(s, 'b') IS NULL", "s <= 'b'"])
def test_general_forms_pass_what_is_against_defects(spark: SparkSession, tmp_path: Path, condition: str) -> None:
    """Whatever compares two texts for equality in a plan has its operands the other way round."""

    def turned(e: LoweringBuilder, call: ScalarFunction) -> Expression_:
        return e.native_call("comparison:equal", *reversed(call.children()))

    rewrites = [Rewrite("comparison:equal", turned, "reads_backwards")]
    guarded = file.load(written(tmp_path, GUARDED), rewrites=rewrites)
    df = spark.table("dt").selectExpr(f"{condition} AS found")
    plan = df_to_substrait(df, dialect=guarded)
    names = {d.extension_function.function_anchor: d.extension_function.name for d in plan.extensions}
    calls = [m for m in messages(plan) if isinstance(m, Expression.ScalarFunction)]
    equal = [call for call in calls if names[call.function_reference] == "equal:any_any"]
    assert [call.arguments[0].value.WhichOneof("rex_type") for call in equal] == ["literal"] * max(len(equal), 1)


@pytest.mark.stumbles
def test_a_rewrite_that_calls_a_function_of_no_file(spark: SparkSession, tmp_path: Path) -> None:
    def wrong(e: LoweringBuilder, call: ScalarFunction) -> Expression_:
        return e.call("guarde:shout", *call.children())

    rewrites = [Rewrite("string:upper", wrong), Rewrite("comparison:equal", wrong, "reads_backwards")]
    guarded = file.load(written(tmp_path, GUARDED), rewrites=rewrites)
    report = check(spark.table("dt").selectExpr("upper(s)"), dialect=guarded)
    assert "no extension file has the alias 'guarde'" in str(report)
