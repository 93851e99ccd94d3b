"""The document that the JVM writes: decoded and emitted without a JVM, and refused, never worse, when it is broken."""

from __future__ import annotations

import copy
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
import slow
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from releases import later
from rows import assert_same_rows
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import check, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.catalyst import reader, tree
from substrait_spark.catalyst.document import decode
from substrait_spark.context import Context, Settings
from substrait_spark.conversion import emit_text
from substrait_spark.dialects.file import load
from substrait_spark.plan.message import build
from substrait_spark.rewrites import RULES, rewrite

FIXTURES = Path(__file__).parent / "documents"

QUERIES = {
    "local": "SELECT * FROM VALUES (1, 'a', array(1.5D, NULL)), (2, NULL, array()) t(k, s, l)",
    "aggregate": (
        "SELECT b.s, count(*) AS n, sum(a.c), max(a.k) FILTER (WHERE a.c > 1) FROM dv a LEFT JOIN dv b ON a.k = b.k "
        "WHERE a.k IN (1, 2, 3) AND a.s LIKE 'a%' GROUP BY b.s HAVING count(*) > 1 ORDER BY n DESC LIMIT 3"
    ),
    "subquery": (
        "SELECT CASE WHEN k > (SELECT min(k) FROM dv) THEN CAST(s AS INT) ELSE k + 1 END AS x, "
        "k IN (SELECT k FROM dv) AS y, rank() OVER (PARTITION BY s ORDER BY k) AS r FROM dv"
    ),
    "union": "SELECT k, t FROM dv UNION ALL SELECT k + 1, date'2024-01-01' FROM dv WHERE s IS NOT NULL",
}
"""Recorded with `pytest tests/test_document.py --record`, over `dv`."""


def recorded(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    return document


def emitted(document: Any, dialect: str | None = None) -> Plan | None:
    """The plan of a document, or None where it is refused; no other exception leaves."""
    context = Context(Settings(load(dialect), "auto", 100))
    plan = emit_text(context, lambda: document if isinstance(document, str) else json.dumps(document))
    assert (plan is None) == bool(context.problems)
    assert all(found.reason and "KeyError" not in found.reason for found in context.problems)
    return plan


@pytest.mark.parametrize("dialect", [None, "datafusion"])
@pytest.mark.parametrize("name", QUERIES)
def test_recorded_documents_need_no_jvm(name: str, dialect: str | None) -> None:
    plan = emitted(recorded(name), dialect)
    assert plan is not None
    assert plan == emitted(recorded(name), dialect)
    assert len(plan.relations) == 1


# Before 4.3, the optimizer puts the window of "subquery" below its join.
@pytest.mark.parametrize("name", [later("4.3", name) if name == "subquery" else name for name in QUERIES])
def test_recorded_documents_are_what_spark_gives(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config, name: str
) -> None:
    path = tmp_path_factory.mktemp("documents") / "dv"
    spark.sql(
        "SELECT * FROM VALUES (1, 'a', 1.5BD, date'2024-01-01'), (2, NULL, NULL, NULL) t(k, s, c, t)"
    ).write.parquet(str(path))
    spark.read.parquet(str(path)).createOrReplaceTempView("dv")
    df = spark.sql(QUERIES[name])
    if pytestconfig.getoption("--record"):
        text = reader.read(df, Settings(load(None), "auto", 100)).replace(str(path), "/data/dv")
        (FIXTURES / f"{name}.json").write_text(text.replace("],[", "],\n[") + "\n", "utf-8")
    expected, actual = emitted(recorded(name)), df_to_substrait(df)
    assert expected is not None
    for plan in (expected, actual):
        _forget_files(plan)
    assert expected == actual


@pytest.mark.parametrize("name", ["aggregate", "union"])
def test_columns_that_nothing_uses_make_no_nodes(name: str) -> None:
    document, plan = decode(json.dumps(recorded(name))), emitted(recorded(name))
    assert plan is not None
    made = {node["name"] for node in document.nodes if node.name == "AttributeReference"}
    schemas = [list(message.base_schema.names) for message in messages(plan) if isinstance(message, ReadRel)]
    assert schemas == [["k", "s", "c", "t"]] * 2
    assert made.isdisjoint({"t"} if name == "aggregate" else {"c"})
    assert "k" in made


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a.v, b.v, b.n.x FROM nested a FULL JOIN nested b ON a.v = b.v AND a.n.x > 0",
        "SELECT n.x, p FROM nested WHERE p = 1 UNION ALL SELECT v, count(*) FROM nested WHERE n.y IS NULL GROUP BY v",
        "SELECT V, v + 1, (SELECT max(n.x) FROM nested WHERE p > 1) FROM nested",
    ],
)
def test_a_column_is_one_node(spark: SparkSession, tmp_path: Path, query: str) -> None:
    """Also where it is one of a source's row, and where its type is another above: nullable, or a struct with fewer fields."""
    rows = "SELECT id AS v, named_struct('x', id, 'y', 'a') AS n, id % 2 AS p FROM range(4)"
    spark.sql(rows).write.partitionBy("p").parquet(str(tmp_path / "nested"))
    spark.read.parquet(str(tmp_path / "nested")).createOrReplaceTempView("nested")
    document = decode(reader.read(spark.sql(query), Settings(load(None), "auto", 100)))
    columns = [
        (node["name"], node["exprId"], node.type, node.nullable)
        for node in tree.children_first(document.root)
        if isinstance(node, tree.Expression) and node.name == "AttributeReference"
    ]
    assert len(columns) == len(set(columns)) > 2
    assert_same_rows(spark.sql(query))


def _forget_files(plan: Plan) -> None:
    for message in messages(plan):
        if isinstance(message, ReadRel) and message.HasField("local_files"):
            for item in message.local_files.items:
                item.ClearField("uri_file")
                item.ClearField("length")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a document there is something to break."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            found += places(element, (*path, index))
    return found


STRANGE: list[Any] = [None, True, -1, 0, 10**9, 1.5, "", "Nonsense", [], {}, [[]]]
STRANGE += [{"i": 1}, {"o": "x.Y"}, {"t": 0}, {"c": -1}, {"zz": 1}, {"row": []}]


def broken(document: dict[str, Any], path: tuple[Any, ...], chance: random.Random) -> Any:
    """A copy with something at a place dropped, doubled, swapped with a neighbour, or of another kind."""
    changed = copy.deepcopy(document)
    parent: Any = changed
    for step in path[:-1]:
        parent = parent[step]
    last = path[-1]
    action = chance.choice(["drop", "replace", "replace", "swap", "double", "number"])
    if action == "drop":
        del parent[last]
    elif action == "swap" and isinstance(parent, list) and len(parent) > 1:
        other = chance.randrange(len(parent))
        parent[last], parent[other] = parent[other], parent[last]
    elif action == "double" and isinstance(parent, list):
        parent.insert(last, copy.deepcopy(parent[last]))
    elif action == "number" and type(parent[last]) is int:
        parent[last] = max(0, parent[last] + chance.choice([-1, 1]))
    else:
        parent[last] = chance.choice(STRANGE)
    return changed


WRONG: list[Any] = [None, True, 10**9, -1, 1.5, "Nonsense", [], {}, {"o": "x.Y"}, {"t": 0}]
"""Values of every kind that a field may have; not all fit in any one place."""


@pytest.mark.stumbles
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("table", ["types", "columns", "nodes"])
def test_every_field_of_every_entry_may_be_wrong(table: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropped, of another kind (in turn), or, for the class of a node, one that is unknown."""
    monkeypatch.setattr("substrait_spark.conversion.build", build)
    document = recorded(name)
    unknown = len(document["classes"])
    document["classes"].append(["FutureClass", "e", "value"])
    wrong = itertools.cycle(WRONG)
    dialects = itertools.cycle([None, "datafusion", "datafusion", None])
    for entry in [document[table]] if table == "columns" else document[table]:
        for position, value in enumerate(entry):
            is_class = table == "nodes" and position == 0
            for _ in range(2):
                entry[position] = unknown if is_class else next(wrong)
                plan = emitted(document, next(dialects))
                assert plan is None or not is_class, f"the class of {entry} was not missed"
            del entry[position]
            emitted(document, next(dialects))
            entry.insert(position, value)
    assert emitted(document) == emitted(recorded(name))


@pytest.mark.stumbles
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("seed", slow.some(range(4), lambda seed: seed > 0))
def test_broken_documents_are_refused_or_make_a_plan(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    document, chance = recorded(name), random.Random(f"{name} {seed}")
    everywhere = places(document)
    # A document that lies about its types, which Spark has checked, may make a plan that breaks the structural rules.
    monkeypatch.setattr("substrait_spark.conversion.build", build)
    for _ in range(150):
        emitted(broken(document, chance.choice(everywhere), chance), chance.choice([None, "datafusion"]))


@pytest.mark.stumbles
@pytest.mark.parametrize("name", QUERIES)
def test_every_class_may_be_unknown(name: str) -> None:
    document = recorded(name)
    for number, entry in enumerate(document["classes"]):
        renamed = copy.deepcopy(document)
        renamed["classes"][number][0] = f"Future{entry[0]}"
        plan = emitted(renamed)
        harmless = entry[1] == "v" or entry[0] in HARMLESS
        assert plan is None or harmless, f"{entry[0]} was not missed"


HARMLESS = {"LocalLimit", "SortOrder", "SpecifiedWindowFrame", "WindowSpecDefinition"}
"""Classes that are told by the place where they are, or that mean nothing to a plan."""


@pytest.mark.stumbles
@pytest.mark.parametrize("name", QUERIES)
def test_every_field_may_be_missing(name: str) -> None:
    document = recorded(name)
    for number, entry in enumerate(document["classes"]):
        for position in range(2, len(entry)):
            renamed = copy.deepcopy(document)
            renamed["classes"][number][position] = f"future_{entry[position]}"
            emitted(renamed)


@pytest.mark.stumbles
@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "{", "3", '{"classes": [], "types": [], "nodes": []}', "[" * 100_000, '{"root": 0}'],
)
def test_no_document(text: str) -> None:
    assert emitted(text) is None


@pytest.mark.parametrize("length", [10, 7_000, 9_000, 100_000])
def test_documents_of_any_length(spark: SparkSession, length: int) -> None:
    """Short ones come as they are, longer ones compressed, and those that are still long in parts."""
    text = "".join(random.Random(length).choices("ab\\\"'\n\t,]é中𝄞", k=length))
    document = reader.read(spark.createDataFrame([(text,)], "s string"), Settings(load(None), "auto", 100))
    assert text in [value for rows in rows_of(json.loads(document)) for row in rows for value in row]


def rows_of(document: dict[str, Any]) -> list[Any]:
    return [value["row"] for node in document["nodes"] for value in node if isinstance(value, dict) and "row" in value]


def test_deep_documents(spark: SparkSession) -> None:
    """Python's stack is not what limits a plan: the specification's depth is."""
    df = spark.range(200)
    for level in range(60):
        df = df.orderBy((F.col("id") + level).desc()).limit(150 - level)
    report = check(df)
    assert not report
    assert "messages deep" in str(report)


def test_what_is_shared_is_looked_at_once() -> None:
    """Written out, these would be 2^100 expressions."""
    number = tree.DataType("integer")

    def doubled() -> tree.Expression:
        expression = tree.make("AttributeReference", number, name="x", exprId=1)
        for _ in range(100):
            expression = tree.make("Add", number, left=expression, right=expression)
        return expression

    one, other = doubled(), doubled()
    assert [node["name"] for node in tree.attributes(one)] == ["x"]
    assert tree.outermost([one, one], "AttributeReference") == tree.attributes(one)
    assert tree.words(one) == tree.words(other)
    assert tree.same(one, other)
    assert not tree.same(one, other["left"])


@pytest.mark.parametrize("name", QUERIES)
def test_rules_of_the_one_who_asks_come_behind_the_others(name: str) -> None:
    document = decode(json.dumps(recorded(name)))
    met: list[str] = []
    more = [(of, lambda node: met.append(node.name)) for of, _ in RULES]
    with_more = rewrite(document, more)
    assert tree.same(with_more.root, rewrite(document).root)
    assert bool(met) == bool(document.classes & {of for of, _ in RULES})
