"""What DataFusion gets wrong: a canary for each defect of its dialect file, which fails once a release mends it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datafusion import SessionConfig, SessionContext
from datafusion import substrait as consumer

from substrait_spark import lower
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import (
    Bound,
    Cast,
    Expression,
    FieldReference,
    Literal,
    ScalarFunction,
    SortField,
    WindowCall,
    WindowFunction,
)
from substrait_spark.algebra.relation import (
    Aggregate,
    Filter,
    Join,
    NamedTable,
    Project,
    Relation,
    Set,
    Sort,
    VirtualTable,
)
from substrait_spark.dialects.discovery import DIALECT, built_in
from substrait_spark.dialects.file import load
from substrait_spark.dialects.rewrite import defects_of
from substrait_spark.engines import datafusion
from substrait_spark.engines.datafusion.rewrites import REWRITES
from substrait_spark.extensions import registry
from substrait_spark.plan.message import build

DEFECTS = load("datafusion").defects

FOLDER = Path(datafusion.__file__).parent

BY_SQL = [
    pytest.param(name, defect.sql, defect.gives, id=name)
    for name, defect in DEFECTS.items()
    if re.match("(EXPLAIN|SELECT|WITH) ", defect.sql)
]
"""The defects that SQL shows. For each of the others there is a test of its name on a plan, `test_<name>`."""

SIDES = [
    # of the inputs of unions
    (
        "constants_survive",
        "SELECT k FROM (SELECT 'a' AS k UNION ALL SELECT '1') WHERE CASE WHEN k = '1' THEN cast(k AS int) END > 0",
        "Optimizer rule 'simplify_expressions' failed",
    ),
    (
        "filters_below_totals",
        "SELECT n FROM (SELECT count(*) AS n FROM (VALUES (1)) t(x)) JOIN (VALUES (1)) u(y) ON n = y % nullif(0, 0)",
        "0",
    ),
    (
        "eager_connectives",
        "SELECT CASE WHEN n = 0 THEN false ELSE 10 / n > 1 END FROM (VALUES (0), (1)) t(n)",
        "Arrow error: Divide by zero error",
    ),
    (
        "eager_connectives",
        "SELECT coalesce(nullif(n = 0, false), 10 / n > 1) FROM (VALUES (0), (1)) t(n)",
        "Arrow error: Divide by zero error",
    ),
    (
        "lambdas_in_joins",
        "SELECT 1 FROM (VALUES ([1], 2)) t(l, x) LEFT JOIN (VALUES (1)) ON array_any_match(l, x -> x > 0)",
        "Execution error: Field of physical LambdaVariable",
    ),
    (
        "lambdas_in_joins",
        "SELECT 1 FROM (VALUES (3, [1])) t(x, l) LEFT JOIN (VALUES (1)) ON array_any_match(l, y -> array_any_match(l, x -> x = y))",
        "Execution error: Field of physical LambdaVariable",
    ),
    ("forgets_nulls", "SELECT x IN (1) AND x IN (2) FROM (VALUES (NULL::int)) t(x)", "false"),
    ("nan_payloads", "SELECT count(*) OVER (PARTITION BY x) FROM (VALUES (-0e0), (0e0)) t(x)", "1; 1"),
    (
        "one_list_order",
        "SELECT array_agg(x ORDER BY x), array_agg(DISTINCT x ORDER BY x DESC) FROM (VALUES (1), (2)) t(x)",
        "[1, 2], [1, 2]",
    ),
    (
        "unsigned_range_keys",
        "SELECT count(*) OVER (ORDER BY x) FROM (VALUES (X'00')) t(x)",
        "type_coercion\ncaused by\nInternal error: Cannot run range queries on datatype: Binary",
    ),
    (
        "unsigned_range_keys",
        "SELECT count(*) OVER (ORDER BY 0, x) FROM (VALUES ({'a': 1}), ({'a': NULL})) t(x)",
        "2; 2",
    ),
    ("ranges_of_unknowns", "SELECT sum(x) OVER (PARTITION BY abs(x) > 1) FROM (VALUES (1)) t(x)", "SanityCheckPlan"),
    ("ranges_of_unknowns", "SELECT array_agg(x ORDER BY -abs(x)) FROM (VALUES (1)) t(x)", "SanityCheckPlan"),
    (
        "sorts_unions_by_input",
        (
            "WITH t AS (SELECT * FROM (VALUES (1)) a(x) JOIN (VALUES (1)) b(y) ON x = y) "
            "SELECT * FROM (SELECT * FROM t UNION ALL SELECT * FROM t) ORDER BY x, y"
        ),
        "SanityCheckPlan",
    ),
    (
        "unions_lose_names",
        "SELECT 1 AS v FROM (VALUES (1)) t(a) JOIN (VALUES (1)) u(b) ON 1 > 2 UNION ALL SELECT DISTINCT a FROM (VALUES (1)) t(a)",
        "Optimizer rule 'optimize_projections' failed",
    ),
    (
        "unions_lose_names",
        "SELECT v FROM (SELECT 1 AS v UNION ALL SELECT DISTINCT a FROM (VALUES (1)) t(a)) WHERE v > 1",
        "Optimizer rule 'optimize_projections' failed",
    ),
    (
        "unions_lose_names",
        "SELECT 1 AS v FROM (SELECT a FROM (VALUES (1)) t(a) LIMIT 0) UNION ALL SELECT DISTINCT a FROM (VALUES (1)) t(a)",
        "Optimizer rule 'optimize_projections' failed",
    ),
    (
        "nested_keys_in_order",
        (
            "SELECT DISTINCT k, v FROM (SELECT [[value % 10]] AS k, value % 99991 AS v "
            "FROM generate_series(1, 100000) ORDER BY k LIMIT 90000)"
        ),
        "Internal error: Uncomparable values",
    ),
    ("unwraps_casts", "SELECT cast(x AS int) > 0 FROM (SELECT 3000000000 AS x)", "true"),
]
"""Other sides of defects: the guards are needed for as long as there is one of them."""


def mended(name: str) -> str:
    return f"DataFusion has mended {name}: take it off the dialect's defects"


def given(run: Callable[[], pa.Table], gives: str) -> str:
    """What a query gives: its rows, or as much of an error as there is in `gives`."""
    try:
        table = run()
    except BaseException as error:
        # A panic of its Rust code is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return re.sub("^(DataFusion failed: )?(DataFusion error: )?", "", str(error))[: len(gives)]
    rows = zip(*[column.to_pylist() for column in table.columns], strict=True)
    return "; ".join(", ".join(map(shown, row)) for row in rows)


def shown(value: Any) -> str:
    """A value in SQL's words."""
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)


def checking() -> SessionContext:
    """A context that checks the schemas of aggregates, as users' own may. Ours don't."""
    context = datafusion.context()
    context.sql("SET datafusion.execution.skip_physical_aggregate_schema_check = false").collect()
    return context


def session(sql: str) -> SessionContext:
    """A session that reads a query: DataFusion's own SQL has no lambdas."""
    context = checking()
    if " -> " in sql:
        context.sql("SET datafusion.sql_parser.dialect = 'duckdb'")
    return context


@pytest.mark.parametrize(
    ("name", "sql", "gives"), [*BY_SQL, *(pytest.param(*side, id=f"{side[0]}-{n}") for n, side in enumerate(SIDES))]
)
def test_sql(name: str, sql: str, gives: str) -> None:
    found = given(lambda: session(sql).sql(sql).to_arrow_table(), gives)
    assert gives in found if sql.startswith("EXPLAIN") else found == gives, mended(name)


def test_every_defect_has_a_canary() -> None:
    assert set(DEFECTS) == set(defects_of(REWRITES))
    asked = {name for file in FOLDER.rglob("*.py") for name in re.findall(r'has_defect\("(\w+)"\)', file.read_text())}
    assert asked <= set(DEFECTS)
    by_sql = {parameters.id for parameters in BY_SQL}
    assert {name for name in DEFECTS if f"test_{name}" not in globals()} == by_sql
    assert {name for name, _, _ in SIDES} <= set(DEFECTS)


def test_every_defect_is_reported_or_says_that_it_is_not() -> None:
    said = {name: defect.issue for engine in built_in(DIALECT) for name, defect in load(engine).defects.items()}
    assert said.keys() >= DEFECTS.keys()
    address = r"https://github\.com/apache/(arrow|datafusion)/(issues|pull)/\d+"
    assert not {name for name, issue in said.items() if not re.fullmatch(f"{address}|not reported", issue)}


# ---- on plans


def table(names: str, *rows: tuple[Any, ...], kind: types.Type = types.I64) -> Relation:
    """Columns of one type, with the names, depth-first, that these letters are."""
    return VirtualTable([tuple([Literal(value, kind) for value in row]) for row in rows], names, [kind] * len(rows[0]))


def column(ordinal: int) -> Expression:
    return FieldReference(ordinal, types.I64)


def call(signature: str, *arguments: Expression) -> Expression:
    alias, _, name = signature.partition(":")
    declaration = registry.resolve("scalar", alias, name, tuple([argument.type for argument in arguments]))
    assert declaration is not None
    return ScalarFunction(declaration, arguments)


def ran(relation: Relation, gives: str, names: str = "a") -> str:
    """What a plan gives, with these letters for names of its columns."""
    return given(lambda: datafusion.execute(build(relation, list(names)), ctx=checking()), gives)


@pytest.mark.parametrize(
    ("value", "other", "key", "of_file"), [("2", "NULL", "[x]", "[p]"), ("-0e0", "-1e0", "x", "p + 0e0")]
)
def test_bounds_of_keys(tmp_path: Path, value: str, other: str, key: str, of_file: str) -> None:
    file = tmp_path / "p.parquet"
    pq.write_table(pa.table({"p": [int(float(value))] * 3}), file)
    context = datafusion.context().enable_url_table()
    sql = f"SELECT count(*) FROM (VALUES ({value}), ({other})) t(x) JOIN '{file}' ON {key} = {of_file}"
    gives = DEFECTS["bounds_of_keys"].gives
    assert given(lambda: context.sql(sql).to_arrow_table(), gives) == gives, mended("bounds_of_keys")


def test_bounds_of_totals(tmp_path: Path) -> None:
    for n in range(8):
        pq.write_table(
            pa.table({"p": pa.array([1 if n == 7 else None], pa.int64()), "q": [2 if n == 7 else 3]}),
            tmp_path / f"{n}.parquet",
        )
    context = SessionContext(SessionConfig().with_target_partitions(2))
    context.register_parquet("t", str(tmp_path))
    gives = DEFECTS["bounds_of_totals"].gives
    given_rows = given(lambda: context.sql("SELECT min(p), max(q) FROM t").to_arrow_table(), gives)
    assert given_rows == gives, mended("bounds_of_totals")


def test_limits_cut_groups_of_each_core() -> None:
    context = SessionContext(SessionConfig().with_target_partitions(2))
    thrice = " UNION ALL ".join(["SELECT * FROM s"] * 3)
    sql = f"WITH s(x) AS (VALUES (0), (1), (2) ORDER BY 1 LIMIT 3) SELECT DISTINCT x FROM ({thrice}) ORDER BY x LIMIT 3"
    results = {given(lambda: context.sql(sql).to_arrow_table(), "") for _ in range(20)}
    assert results - {"0; 1; 2"}, mended("limits_cut_groups")


def test_deals_rows_out() -> None:
    context = SessionContext(SessionConfig().with_target_partitions(2).with_batch_size(1))
    sql = "SELECT x + 1 AS y FROM (SELECT value AS x FROM generate_series(1, 100) ORDER BY value)"
    results = [context.sql(sql).to_arrow_table().column("y").to_pylist() for _ in range(20)]
    assert any(rows != list(range(2, 102)) for rows in results), mended("deals_rows_out")


def test_filters_go_by_name_below_groups(tmp_path: Path) -> None:
    for name, columns in {"a": {"id": [1], "k": [2]}, "b": {"id": [2]}}.items():
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    context = SessionContext(SessionConfig().set("datafusion.optimizer.join_reordering", "false"))
    for name in "ab":
        context.register_parquet(name, str(tmp_path / f"{name}.parquet"))
    groups = "SELECT a.id AS x, b.id AS y FROM a LEFT JOIN b ON k = b.id GROUP BY a.id, b.id"
    sql = f"SELECT x, y FROM b JOIN ({groups}) ON b.id = y"
    assert given(lambda: context.sql(sql).to_arrow_table(), "") == "", mended("filters_go_by_name")


def test_chained_conjuncts() -> None:
    query = "SELECT value FROM range(3) WHERE {' AND '.join(f'value <> {n}' for n in range(10_000))}"
    program = f'from datafusion import SessionContext\nSessionContext().sql(f"{query}").to_arrow_table()'
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert ended.returncode < 0, mended("chained_conjuncts")  # by a signal


def test_keys_of_one_side() -> None:
    gives = DEFECTS["keys_of_one_side"].gives
    join = Join(table("xy", (1, 1)), table("z", (1,)), "LEFT", call("comparison:equal", column(0), column(1)))
    assert ran(join, gives, "xyz") == gives, mended("keys_of_one_side")


def test_names_grow_with_every_use() -> None:
    relation = table("x", (1,))
    for _ in range(10):
        relation = Project(relation, [call("datafusion:add", column(0), column(0))]).select([1])
    plan = consumer.Serde.deserialize_bytes(build(relation, ["c"]).SerializeToString())
    text = consumer.Consumer.from_substrait_plan(datafusion.context(), plan).display_indent()
    assert text.count("x + ") > 2**10, mended("named_by_text")


def test_nested_required() -> None:
    gives = DEFECTS["nested_required"].gives
    structs = table("xf", ((1,),), kind=types.of("struct", types.I64, nullable=False))
    assert ran(structs, gives, "xf") == gives, mended("nested_required")


def test_lambdas_over_no_rows() -> None:
    context = datafusion.context()
    context.sql("SET datafusion.sql_parser.dialect = 'duckdb'")
    context.register_record_batches("t", [[pa.record_batch([pa.array([], pa.list_(pa.int32()))], ["l"])]])
    sql = "SELECT to_unixtime(concat('a', coalesce(cast(array_length(array_transform(l, x -> x)) AS varchar), ''))) FROM t"
    gives = DEFECTS["lambdas_over_no_rows"].gives
    assert given(lambda: context.sql(sql).to_arrow_table(), gives) == gives, mended("lambdas_over_no_rows")


def test_null_characters() -> None:
    gives = DEFECTS["null_characters"].gives
    null = Literal(None, types.I64)
    assert ran(Project(table("x", (1,)), [call("spark:char", null)]), gives, "xa") == gives, mended("null_characters")


@pytest.mark.parametrize("element", [pa.bool_(), pa.string(), pa.binary(), pa.list_(pa.int32())], ids=str)
def test_extremes_want_rows(element: pa.DataType) -> None:
    context = datafusion.context()
    context.register_record_batches("t", [[pa.record_batch([pa.array([], pa.list_(element))], ["x"])]])
    gives = DEFECTS["extremes_want_rows"].gives
    found = given(lambda: context.sql("SELECT array_max(x) FROM t").to_arrow_table(), gives)
    assert found == gives, mended("extremes_want_rows")


@pytest.mark.parametrize("name", ["array_max", "array_min"])
def test_extremes_of_no_rows(name: str) -> None:
    texts = types.of("list", types.of("string"))
    read = NamedTable(["t"], ["x"], [texts])
    plan = build(Project(read, [call(f"spark:{name}", FieldReference(0, texts))]).select([1]), ["m"])
    none = pa.table({"x": pa.array([], pa.list_(pa.string()))})
    assert datafusion.execute(lower(plan, "datafusion"), tables={"t": none}).num_rows == 0
    some = pa.table({"x": [["b", None, "a"], [], None]})
    found = datafusion.execute(lower(plan, "datafusion"), tables={"t": some}).column(0).to_pylist()
    assert found == ["b" if name == "array_max" else "a", None, None]


def test_keys_found_below() -> None:
    gives = DEFECTS["keys_found_below"].gives
    sum_ = call("arithmetic:add", column(0), Literal(0, types.I64))
    left = Project(table("x", (1,)), [sum_]).select([1])
    join = Join(left, table("x", (1,)), "LEFT", call("comparison:equal", column(1), column(0)))
    assert ran(join, gives, "xy") == gives, mended("keys_found_below")


def test_keys_named_below() -> None:
    gives = DEFECTS["keys_named_below"].gives
    is_positive = call("comparison:gt", column(0), Literal(0, types.I64))
    relation = Sort(Filter(table("x", (1,)), is_positive), [SortField(is_positive, True, False)])
    assert ran(relation, gives) == gives, mended("keys_named_below")


def test_marks_go_by_name() -> None:
    gives = DEFECTS["marks_go_by_name"].gives
    right = NamedTable(["t"], ["y"], [types.I64])
    computed = Project(right, [call("arithmetic:add", column(0), Literal(1, types.I64))])
    marked = Join(table("x", (1,)), computed, "LEFT_MARK", call("comparison:equal", column(0), column(2)))
    either = call("boolean:or", FieldReference(1, types.BOOLEAN), call("comparison:is_null", column(0)))
    plan = build(Filter(marked, either).select([0]), ["x"])
    tables = {"t": pa.table({"y": [0]})}
    assert given(lambda: datafusion.execute(plan, tables=tables), gives) == gives, mended("marks_go_by_name")


def test_unions_repeat_names() -> None:
    gives = DEFECTS["unions_repeat_names"].gives
    pairs = Join(table("v", (1,)), table("v", (1,)), "INNER", call("comparison:equal", column(0), column(1)))
    union = Set([pairs, pairs], "UNION_ALL")
    assert ran(Aggregate(union, [column(0), column(1)], []), gives, "xy") == gives, mended("unions_repeat_names")


def test_unions_of_inputs_without_rows() -> None:
    """DataFusion leaves out the first alone: the second has a row that it doesn't see through, so that its name is short."""
    first: Relation = VirtualTable([], ["v"], [types.I64])
    long: Relation = VirtualTable([], ["x"], [types.I64])
    for _ in range(9):
        long = Project(long, [call("arithmetic:add", column(0), column(0))]).select([1])
    plan = build(Project(Set([first, long], "UNION_ALL"), [call("arithmetic:add", column(0), column(0))]), ["v", "w"])
    assert datafusion.execute(lower(plan, "datafusion")).num_rows == 0


def test_unsigned_range_keys() -> None:
    gives = DEFECTS["unsigned_range_keys"].gives
    count = registry.resolve("aggregate", "aggregate_generic", "count", ())
    assert count is not None
    lower, upper = Bound("preceding", Literal(1, types.I64)), Bound("current")
    frame = WindowFunction(WindowCall(count, (), False, lower, upper), (), (SortField(column(0), True, False),))
    relation = Project(table("x", (0,), (1,), (2,)), [frame]).select([1])
    assert ran(relation, gives) == gives, mended("unsigned_range_keys")


# ---- what the dialect leaves out


def test_why_day_intervals_are_left_out() -> None:
    """Should this fail, DataFusion reads microseconds now: list INTERVAL_DAY with its precision."""
    interval = Literal(1_000_001, types.of("interval_day", 6, nullable=False))
    relation = Project(VirtualTable([()], [], []), [Cast(interval, types.STRING, True)])
    assert ran(relation, "") == "1.000 secs"
