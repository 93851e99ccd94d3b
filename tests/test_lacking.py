"""Dialects that lack single things: each plan of TPC-DS keeps to them in another form, or is refused by name.

The other forms are proven by rows, in DataFusion without the functions and relations that they are in place of.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tpc_data
from lacking import Document, Thing, everything, uses, without
from pyspark.sql import SparkSession
from rows import assert_same_outcome, assert_same_rows, plan_of
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError
from substrait_spark.algebra.message_walk import messages
from substrait_spark.algebra.relation import Relation
from substrait_spark.catalyst import reader
from substrait_spark.catalyst.document import decode
from substrait_spark.context import Context, Settings
from substrait_spark.conversion import relation_of
from substrait_spark.dialects import file
from substrait_spark.dialects.dialect import Dialect
from substrait_spark.engines import datafusion
from substrait_spark.errors import Origin, Unsupported
from substrait_spark.extensions import registry
from substrait_spark.extensions.yaml_text import parsed
from substrait_spark.lowering.lowering import Lowering
from substrait_spark.plan.message import build
from substrait_spark.rewrites import rewrite
from substrait_spark.testing import assert_well_formed
from substrait_spark.testing.conformance import departures

FILE = Path(datafusion.__file__).with_name("dialect.yaml")

MORE = (
    "SELECT ss_item_sk <> 3 OR nullif(ss_item_sk, 1) IS NULL, NOT (ss_item_sk = 2) FROM store_sales",
    "SELECT count(*) FILTER (WHERE ss_item_sk > 3), sum(ss_quantity) FILTER (WHERE ss_item_sk > 1) FROM store_sales",
    "SELECT transform(array(ss_item_sk, ss_quantity), x -> x + 1), struct(ss_item_sk AS a), map(1, ss_quantity) FROM store_sales",
    "SELECT ss_item_sk IN (ss_quantity, 1, NULL) FROM store_sales",
    "SELECT * FROM store_sales RIGHT JOIN item ON ss_item_sk = i_item_sk AND i_current_price > 5",
    "SELECT explode(array(ss_item_sk, ss_quantity)) FROM store_sales",
)
"""What no query of TPC-DS has."""


class Query(NamedTuple):
    """A canonical plan, and all that it uses."""

    root: Relation
    names: list[str]
    outputs: Any
    uses: set[Thing]


@pytest.fixture(scope="module")
def queries(spark: SparkSession, tpcds: Path) -> list[Query]:
    return [_canonical(spark, text) for text in (*tpc_data.queries(tpcds).values(), *MORE)]


def _canonical(spark: SparkSession, text: str) -> Query:
    context = Context(Settings(Dialect.canonical(), "auto", 100))
    df = spark.sql(text)
    reader.prepare(df, "optimized")
    registry.load_all()
    document = decode(reader.read(df, context.settings))
    root, names = relation_of(context, rewrite(document))
    assert not context.problems
    return Query(root, names, document.output, uses(root))


def _lowered(query: Query, dialect: Dialect) -> list[str]:
    """Why a query has no plan in a dialect; nothing where it has one, which keeps to the dialect."""
    found: list[str] = []

    def report(path: str, origin: Origin | None, problem: Unsupported) -> None:
        found.append(problem.reason)

    root = Lowering(dialect, report).lower(query.root, query.outputs, query.names)
    if found:
        return found
    try:
        plan = build(root, query.names)
    except Unsupported as problem:
        return [problem.reason]
    assert_well_formed(plan)
    assert departures(plan, dialect) == []
    if not dialect.abilities.emit:
        _assert_only_projects_emit(plan)
    return []


def _assert_only_projects_emit(plan: Plan) -> None:
    for message in messages(plan):
        common = getattr(message, "common", None)
        if common is not None and common.HasField("emit"):
            assert message.DESCRIPTOR.name == "ProjectRel"
            assert len(common.emit.output_mapping) == len(message.expressions)  # type: ignore[attr-defined]


# ---- a dialect of standard functions that lists everything, but for one thing


EXPRESSED = [
    *("ability emit", "ability grouping_sets", "ability measure_filters"),
    *("arguments boolean:and", "arguments boolean:or", "arguments string:concat"),
    *("expression SINGULAR_OR_LIST", "expression SUBQUERY SCALAR"),
    *("relation CONSISTENT_PARTITION_WINDOW", "relation CROSS", "relation EXPAND SWITCHING_FIELD"),
    *(f"relation JOIN {kind}" for kind in ("INNER", "LEFT", "LEFT_ANTI", "LEFT_MARK", "LEFT_SEMI", "OUTER", "RIGHT")),
    *(f"scalar boolean:{name}" for name in ("and", "not", "or")),
    *(f"scalar comparison:{name}" for name in ("coalesce", "equal", "gt", "gte", "is_not_distinct_from")),
    *(f"scalar comparison:{name}" for name in ("is_not_null", "is_null", "lt", "lte")),
]
"""What plans can always do without."""

TOO_DEEP = "Substrait readers stop at"


@pytest.mark.slow
def test_each_thing_is_expressed_otherwise_or_refused_by_name(queries: list[Query]) -> None:
    whole = everything()
    assert all(_lowered(query, Dialect("whole", whole)) == [] for query in queries if "Generate" not in str(query.uses))
    expressed = []
    for thing in sorted(set().union(*(query.uses for query in queries))):
        dialect = Dialect("lacking", without(whole, thing))
        users = [query for query in queries if thing in query.uses]
        refused = [reasons for query in users[:3] if (reasons := _lowered(query, dialect))]
        for reasons in refused:
            assert any(thing.told in reason or TOO_DEEP in reason for reason in reasons), (thing, reasons)
        if not refused and thing.what != "type":  # columns of which may not be used
            expressed.append(str(thing))
    assert sorted(EXPRESSED) == expressed


def test_expand_or_a_cross_join_or_a_union(queries: list[Query]) -> None:
    several = Thing("ability", "grouping_sets")
    users = [query for query in queries if several in query.uses]
    assert len(users) > 5
    expanded = without(without(everything(), several), Thing("relation", "EXPAND", "field_types", "SWITCHING_FIELD"))
    assert not any(_lowered(query, Dialect("lacking", expanded)) for query in users)
    united = without(expanded, Thing("relation", "CROSS"))
    assert not any(_lowered(query, Dialect("lacking", united)) for query in users)
    neither = Dialect("lacking", without(united, Thing("relation", "SET", "operations", "UNION_ALL")))
    assert all("UNION_ALL" in str(_lowered(query, neither)) for query in users)


def test_dialects_that_lack_several_things(queries: list[Query]) -> None:
    """Whatever a dialect lacks, a plan keeps to it or is refused."""
    whole, chance = everything(), random.Random(15)
    things = sorted(set().union(*(query.uses for query in queries)))
    outcomes = []
    for _ in range(40):
        document = whole
        for thing in chance.sample(things, chance.randint(2, 5)):
            document = without(document, thing)
        dialect = Dialect("lacking", document)
        outcomes += [not _lowered(query, dialect) for query in chance.sample(queries, 3)]
    assert any(outcomes)
    assert not all(outcomes)


# ---- DataFusion, but for one thing


def test_datafusion_lacking_each_thing(queries: list[Query]) -> None:
    dialect = file.load("datafusion")
    document: Document = parsed(FILE.read_text("utf-8"))
    used = []
    for query in queries:
        root = Lowering(dialect, lambda *_: pytest.fail("it is refused")).lower(query.root, query.outputs, query.names)
        used.append((query, uses(root)))
    for thing in sorted(set().union(*(things for _, things in used))):
        lacking = Dialect("lacking", without(document, thing), dialect.rewrites, dialect.aliases)
        for query in [query for query, things in used if thing in things][:2]:
            for reason in _lowered(query, lacking):
                assert reason.startswith("the dialect lacking "), reason


# ---- rows of the other forms


@pytest.fixture(scope="module", autouse=True)
def _rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("lacking")
    left = (
        "(1, 1, 'a', 1.5D, true), (2, NULL, '', double('NaN'), false), (NULL, 3, NULL, -0.0D, NULL), "
        "(4, 4, 'd', NULL, true), (2147483647, -2147483648, 'a', 0.0D, false), (1, 1, 'a', 1.5D, true)"
    )
    right = "(1, 1, 'a'), (2, 2, NULL), (NULL, NULL, ''), (1, 5, 'b')"
    spark.sql(f"SELECT * FROM VALUES {left} t(a, b, s, d, p)").write.parquet(f"{folder}/l")
    spark.sql(f"SELECT * FROM VALUES {right} t(x, y, z)").write.parquet(f"{folder}/r")
    spark.read.parquet(f"{folder}/l").createOrReplaceTempView("l")
    spark.read.parquet(f"{folder}/r").createOrReplaceTempView("r")


COMPARED = (
    "SELECT a, b, a {0} b, d {0} 0.0D, s {0} 'a', d {0} double('NaN'), p {0} (a > 1) FROM l WHERE a {0} b OR a = 2"
)


def function(name: str) -> Thing:
    alias, _, name = name.rpartition(":")
    return Thing("scalar", f"{registry.urn(alias or 'comparison')}:{name}")


LOGIC = "SELECT a, p {0} (a > b), p {0} NULL, p {0} (d > 1) {0} (s = 'a'), NOT (p {0} a > 1) FROM l WHERE p {0} a > 0 {0} b < 5"

ROWS = [
    (function("gt"), COMPARED.format(">")),
    (function("gte"), COMPARED.format(">=")),
    (function("lt"), COMPARED.format("<")),
    (function("lte"), COMPARED.format("<=")),
    (function("equal"), COMPARED.format("=")),
    (function("equal"), "SELECT a, p IN (a > 1, b > 1), a IN (1, b) FROM l JOIN r ON a = x"),
    (function("is_null"), "SELECT a, b, d IS NULL, coalesce(a, 7), nullif(a, b) FROM l WHERE s IS NULL OR b IS NULL"),
    (function("is_not_null"), "SELECT a, d IS NOT NULL FROM l WHERE s IS NOT NULL"),
    (function("coalesce"), "SELECT coalesce(a, b, 5), coalesce(s, 'x'), coalesce(d, 1), a <=> b FROM l"),
    (function("boolean:and"), LOGIC.format("AND")),
    (function("boolean:or"), LOGIC.format("OR")),
    (function("boolean:not"), "SELECT a, NOT p, NOT (a > b), a <> b, NOT (a IN (1, 2)) FROM l WHERE NOT (a = 4)"),
    (function("boolean:and")._replace(what="arguments"), LOGIC.format("AND")),
    (function("boolean:or")._replace(what="arguments"), LOGIC.format("OR")),
    (function("string:concat")._replace(what="arguments"), "SELECT concat(s, 'x', s, a, 'y') FROM l"),
    (Thing("expression", "SINGULAR_OR_LIST"), "SELECT a, a IN (1, 4, NULL), d IN (double('NaN'), 0), s IN ('', 'a') FROM l"),
    (Thing("expression", "SUBQUERY", "subquery_types", "SCALAR"), "SELECT a, (SELECT max(x) FROM r) FROM l WHERE a < (SELECT count(*) FROM r)"),
    (Thing("expression", "SUBQUERY", "subquery_types", "SCALAR"), "SELECT a, (SELECT x FROM r WHERE y = 5) + 1, (SELECT x FROM r WHERE y = 9) FROM l"),
    (Thing("expression", "SUBQUERY", "subquery_types", "SCALAR"), "SELECT a, (SELECT x FROM r) FROM l"),
    (Thing("relation", "CROSS"), "SELECT a, x FROM l CROSS JOIN r"),
    (Thing("relation", "JOIN", "join_types", "INNER"), "SELECT a, x, z FROM l JOIN r ON a = x AND b <> y"),
    (Thing("relation", "JOIN", "join_types", "LEFT"), "SELECT a, x, z FROM l LEFT JOIN r ON a = x AND b < y"),
    (Thing("relation", "JOIN", "join_types", "RIGHT"), "SELECT a, s, x, z FROM l RIGHT JOIN r ON a = x AND b < y"),
    (Thing("relation", "JOIN", "join_types", "OUTER"), "SELECT a, s, z, x FROM l FULL JOIN r ON a = x AND b < y"),
    (Thing("relation", "JOIN", "join_types", "OUTER"), "SELECT * FROM (SELECT a, b FROM l WHERE b > 0) FULL JOIN r ON a = x ORDER BY a, b, x, y, z"),
    (Thing("relation", "JOIN", "join_types", "LEFT_SEMI"), "SELECT a, b FROM l LEFT SEMI JOIN r ON a = x AND y > 0"),
    (Thing("relation", "JOIN", "join_types", "LEFT_ANTI"), "SELECT a, b FROM l LEFT ANTI JOIN r ON a = x AND y > 0"),
    (Thing("relation", "JOIN", "join_types", "LEFT_ANTI"), "SELECT a FROM l WHERE a NOT IN (SELECT y FROM r WHERE y > 1)"),
    (Thing("relation", "JOIN", "join_types", "LEFT_MARK"), "SELECT a, EXISTS (SELECT 1 FROM r WHERE x = a), b FROM l"),
    (Thing("ability", "measure_filters"), "SELECT s, count(*) FILTER (WHERE a > 1), sum(b) FILTER (WHERE p) FROM l GROUP BY s"),
    (Thing("ability", "measure_filters"), "SELECT max(s) FILTER (WHERE a > 9), avg(d) FILTER (WHERE a = 1) FROM l"),
    (Thing("ability", "emit"), "SELECT s, sum(a) AS n FROM l JOIN r ON a = x WHERE b < 5 GROUP BY s HAVING n > 0 ORDER BY s LIMIT 2"),
]  # fmt: skip
"""What DataFusion is to do without, and a query that it does with it."""


@pytest.mark.parametrize(("thing", "query"), ROWS, ids=[f"{thing}-{n}" for n, (thing, _) in enumerate(ROWS)])
def test_rows(spark: SparkSession, tmp_path: Path, thing: Thing, query: str) -> None:
    document = without(parsed(FILE.read_text("utf-8")), thing)
    (tmp_path / "lacking.yaml").write_text(json.dumps(document), "utf-8")
    df = spark.sql(query)
    lacking = tmp_path / "lacking.yaml"
    assert plan_of(df, "datafusion") != plan_of(df, str(lacking))
    assert_same_outcome(df, dialect=str(lacking))


@pytest.mark.parametrize("join", ["LEFT", "RIGHT", "FULL"])
def test_rows_of_outer_joins_without_any(spark: SparkSession, tmp_path: Path, join: str) -> None:
    document = parsed(FILE.read_text("utf-8"))
    for kind in ("LEFT", "RIGHT", "OUTER"):
        document = without(document, Thing("relation", "JOIN", "join_types", kind))
    lacking = tmp_path / "lacking.yaml"
    lacking.write_text(json.dumps(document), "utf-8")
    df = spark.sql(f"SELECT a, s, z, x FROM l {join} JOIN r ON a = x AND b <= y")
    assert_same_rows(df, dialect=str(lacking))
    limited = spark.sql(f"SELECT a, z FROM (SELECT * FROM l LIMIT 3) {join} JOIN (SELECT * FROM r LIMIT 3) ON a = x")
    with pytest.raises(UnsupportedPlanError, match=f"has no {join.replace('FULL', 'OUTER')}"):
        plan_of(limited, str(lacking))


def test_rows_of_equality_that_knows_nulls_by_connectives_alone(spark: SparkSession, tmp_path: Path) -> None:
    document = parsed(FILE.read_text("utf-8"))
    things = [function("is_not_distinct_from"), function("coalesce"), Thing("expression", "IF_THEN")]
    for thing in things:
        document = without(document, thing)
    document["supported_expressions"] = [
        entry for entry in document["supported_expressions"] if entry != "CAST" and "CAST" not in str(entry)
    ]
    lacking = tmp_path / "lacking.yaml"
    lacking.write_text(json.dumps(document), "utf-8")
    assert_same_rows(
        spark.sql("SELECT a, x, b <=> a AS e, a <=> 4 AS f FROM l JOIN r ON a <=> x"), dialect=str(lacking)
    )
