"""`lower`: plans that were made before, by us or by other producers, in the forms of DataFusion, with Spark's rows."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import slow
import tpc_data
from datafusion import SessionConfig, SessionContext
from datafusion.substrait import Serde
from google.protobuf.message import DecodeError, Message
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import Expression, Rel
from substrait.builders import extended_expression as expressions
from substrait.builders import plan as relations
from substrait.builders import type as types
from substrait.extension_registry import ExtensionRegistry
from substrait.extensions.extensions_pb2 import SimpleExtensionURN
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from substrait_spark import UnsupportedPlanError, lower
from substrait_spark.algebra.message_walk import messages
from substrait_spark.dialects.file import load
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.reading.encodings import up_to_date
from substrait_spark.testing import departures, structural_problems

PRODUCERS = Path(__file__).parent / "producers"
"""Plans of other producers: Isthmus 0.89.1's of TPC-H, and some of ibis-substrait 4.0.1 (tests/producers/README.md)."""


def assert_same(df: DataFrame, plan: Plan, tables: dict[str, Any], frames: dict[str, DataFrame]) -> None:
    """The plan, in Spark and lowered for DataFusion, has the rows of a DataFrame, in the plan's names and types."""
    _assert_rows(df, spark_table(spark_engine.execute(plan, other_session(df.sparkSession), tables=frames)))
    lowered = lower(plan, "datafusion")
    assert not departures(lowered, load("datafusion"))
    _assert_rows(df, datafusion.execute(lowered, tables=tables))


def _assert_rows(df: DataFrame, actual: pa.Table) -> None:
    kinds = [field.dataType for field in from_arrow_schema(actual.schema)]
    wanted = df.toDF(*actual.column_names)
    columns = [f"`{name.replace('`', '``')}`" for name in actual.column_names]
    wanted = wanted.select(*(F.col(name).cast(kind) for name, kind in zip(columns, kinds, strict=True)))
    found = differences(spark_table(wanted), actual)
    assert not found, "\n".join(["Spark (-) and the engine (+) differ:", *found])
    assert actual.num_rows, "vacuous: there was no row to compare"


def tables_of(spark: SparkSession, directory: Path) -> tuple[dict[str, Path], dict[str, DataFrame]]:
    """The tables of a folder, for DataFusion and for Spark."""
    files = {file.stem: file for file in directory.glob("*.parquet")}
    return files, {name: spark.table(name) for name in files}


# ---- Isthmus


@pytest.fixture(scope="module")
def upper_case(tpch: Path) -> dict[str, pa.Table]:
    """The tables of TPC-H as Isthmus names them and their columns."""
    tables = {file.stem.upper(): pq.read_table(file) for file in tpch.glob("*.parquet")}
    return {
        name: table.rename_columns([column.upper() for column in table.column_names]) for name, table in tables.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted((PRODUCERS / "isthmus").glob("*.plan")), ids=lambda file: file.stem)
def test_isthmus(spark: SparkSession, tpch: Path, upper_case: dict[str, pa.Table], file: Path) -> None:
    query = tpc_data.queries(tpch)[int(file.stem[1:])]
    tables = {name: spark.table(name).toDF(*table.column_names) for name, table in upper_case.items()}
    assert_same(spark.sql(query), Plan.FromString(file.read_bytes()), upper_case, tables)


# ---- DataFusion's own producer, which names functions without files and states no types


@pytest.fixture(scope="module")
def producer(tpch: Path) -> SessionContext:
    # By itself, DataFusion takes 0.06 for a floating-point number.
    context = SessionContext(SessionConfig().set("datafusion.sql_parser.parse_float_as_decimal", "true"))
    for file in tpch.glob("*.parquet"):
        context.register_parquet(file.stem, str(file))
    return context


@pytest.mark.parametrize("number", slow.some(range(1, 23), lambda number: number % 3 != 0))
def test_datafusion(spark: SparkSession, tpch: Path, producer: SessionContext, number: int) -> None:
    query = tpc_data.queries(tpch)[number]
    plan = Plan.FromString(Serde.serialize_bytes(query.replace("`", '"'), producer))
    assert_same(spark.sql(query), plan, *tables_of(spark, tpch))


REFUSED_BY_NAME = {
    "SELECT l_comment LIKE 'a\\_b' AS x FROM lineitem": "a LIKE by a pattern that is no literal, or has a backslash",
    "SELECT date_part('doy', l_shipdate) AS x FROM lineitem": "date_part is read for the literal parts YEAR",
    "SELECT substr(l_comment, l_linenumber) AS x FROM lineitem": "substr is read for literal positions",
    "SELECT to_hex(l_linenumber) AS x FROM lineitem": "no standard one has that name",
    "SELECT count(l_tax) AS x FROM lineitem GROUP BY ROLLUP (l_shipmode)": "several groupings is read only",
}


@pytest.mark.parametrize("query", REFUSED_BY_NAME)
def test_datafusion_means_something_else(producer: SessionContext, query: str) -> None:
    plan = Plan.FromString(Serde.serialize_bytes(query, producer))
    with pytest.raises(UnsupportedPlanError, match=REFUSED_BY_NAME[query]):
        lower(plan, "datafusion")


# ---- ibis-substrait

IBIS = {
    "case": "SELECT o_orderkey, CASE WHEN o_totalprice > 100000 THEN 'big' ELSE 'small' END FROM orders",
    "dates": "SELECT o_orderkey, year(o_orderdate) FROM orders",
    "isin": "SELECT o_orderkey FROM orders WHERE o_orderpriority IN ('1-URGENT', '2-HIGH')",
    "like": "SELECT l_orderkey FROM lineitem WHERE l_shipmode LIKE '%AIR%'",
    "limit": "SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_totalprice DESC, o_orderkey LIMIT 7 OFFSET 2",
    "union": "SELECT l_orderkey FROM lineitem UNION ALL SELECT o_orderkey FROM orders",
}


@pytest.mark.parametrize("name", IBIS)
def test_ibis(spark: SparkSession, tpch: Path, name: str) -> None:
    plan = Plan.FromString((PRODUCERS / "ibis" / f"{name}.plan").read_bytes())
    assert_same(spark.sql(IBIS[name]), plan, *tables_of(spark, tpch))


# ---- substrait-python


def test_substrait_python(spark: SparkSession) -> None:
    schema = types.named_struct(["item", "price"], types.struct([types.string(), types.i64()], nullable=False))
    table = relations.read_named_table("sales", schema)
    column, literal = expressions.column, expressions.literal
    dear = expressions.scalar_function(
        "extension:io.substrait:functions_comparison",
        "gt",
        expressions=[column("price"), literal(1, types.i64(nullable=False))],
    )
    total = expressions.aggregate_function(
        "extension:io.substrait:functions_arithmetic", "sum", expressions=[column("price")], alias="total"
    )
    unbound = relations.aggregate(relations.filter(table, dear), [column("item")], [total])
    plan = unbound(ExtensionRegistry(load_default_extensions=True))
    rows = {"item": ["tea", "rye", "tea", None, "rye"], "price": [3, 1, 4, 5, None]}
    df = spark.createDataFrame(list(zip(*rows.values(), strict=True)), "item string, price bigint")
    wanted = df.where("price > 1").groupBy("item").sum("price")
    assert_same(wanted, plan, {"sales": pa.table(rows)}, {"sales": df})


# ---- older encodings


def removed(number: int, value: int | bytes) -> bytes:
    """A field that this release has no name for, as it is in a message."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value % 2**64)


def varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def plan_of(rel: Rel, minor: int = 80) -> Plan:
    plan = Plan()
    plan.version.minor_number = minor
    plan.relations.add().root.input.CopyFrom(rel)
    return plan


def renewed(rel: Rel, minor: int = 80) -> Rel:
    """A relation in today's encodings, of a plan without problems that stays as it was."""
    plan = plan_of(rel, minor)
    before = plan.SerializeToString()
    new, problems = up_to_date(plan)
    assert not problems
    assert plan.SerializeToString() == before
    return new.relations[0].root.input


def literal(value: int) -> Expression:
    return Expression(literal=Expression.Literal(i64=value))


@pytest.mark.parametrize(
    ("old", "minor", "offset", "count"),
    [
        (removed(3, 2) + removed(4, 7), 80, 2, 7),
        (removed(4, -1), 80, None, None),
        (removed(4, 0), 80, None, 0),
        (b"", 80, None, None),
        (removed(3, 2), 57, 2, 0),
    ],
)
def test_fetch_without_expressions(old: bytes, minor: int, offset: int | None, count: int | None) -> None:
    rel = Rel()
    rel.fetch.SetInParent()
    rel.fetch.MergeFromString(old)
    wanted = Rel()
    wanted.fetch.SetInParent()
    if offset is not None:
        wanted.fetch.offset_expr.CopyFrom(literal(offset))
    if count is not None:
        wanted.fetch.count_expr.CopyFrom(literal(count))
    assert renewed(rel, minor) == wanted


def test_groupings_with_their_expressions() -> None:
    one, two = literal(1), literal(2)
    rel = Rel()
    for keys in ([one, two], [two], []):
        grouping = rel.aggregate.groupings.add()
        grouping.MergeFromString(b"".join(removed(1, key.SerializeToString()) for key in keys))
    wanted = Rel()
    wanted.aggregate.grouping_expressions.extend([one, two])
    for references in ([0, 1], [1], []):
        wanted.aggregate.groupings.add().expression_references.extend(references)
    assert renewed(rel) == wanted
    # Plans that say both say the same.
    wanted.aggregate.groupings[0].MergeFromString(removed(1, one.SerializeToString()))
    assert list(renewed(wanted).aggregate.groupings[0].expression_references) == [0, 1]


def test_tables_of_literals() -> None:
    row = Expression.Literal.Struct(fields=[Expression.Literal(i64=1), Expression.Literal(string="a")])
    rel = Rel()
    rel.read.virtual_table.MergeFromString(removed(1, row.SerializeToString()))
    found = renewed(rel).read.virtual_table.expressions
    assert [[field.literal for field in row.fields] for row in found] == [list(row.fields)]


def test_times_without_precision() -> None:
    nullable = Type.Boolean(nullability=Type.NULLABILITY_NULLABLE).SerializeToString()
    rel = Rel()
    for number in (14, 17, 29):
        rel.read.base_schema.struct.types.add().MergeFromString(removed(number, nullable))
    wanted = ("precision_timestamp", "precision_time", "precision_timestamp_tz")
    for kind, name in zip(renewed(rel).read.base_schema.struct.types, wanted, strict=True):
        assert kind.WhichOneof("kind") == name
        assert (getattr(kind, name).precision, getattr(kind, name).nullability) == (6, Type.NULLABILITY_NULLABLE)
    rel = Rel()
    rel.filter.condition.literal.MergeFromString(removed(14, -5))
    found = renewed(rel).filter.condition.literal.precision_timestamp
    assert (found.precision, found.value) == (6, -5)


def test_extension_files_by_address() -> None:
    plan = plan_of(Rel())
    address = "https://github.com/substrait-io/substrait/blob/main/extensions/functions_comparison.yaml"
    uri = SimpleExtensionURN(extension_urn_anchor=7, urn=address)  # the message of an address had the same fields
    plan.MergeFromString(removed(1, uri.SerializeToString()))
    function = plan.extensions.add().extension_function
    function.name = "gt:any_any"
    function.MergeFromString(removed(1, 7))
    new, problems = up_to_date(plan)
    assert not problems
    (urn,) = new.extension_urns
    assert urn.urn == "extension:io.substrait:functions_comparison"
    assert new.extensions[0].extension_function.extension_urn_reference == urn.extension_urn_anchor


def test_an_address_beside_the_greatest_anchor() -> None:
    plan = plan_of(Rel())
    plan.extension_urns.add(extension_urn_anchor=2**32 - 1, urn="extension:org.example:functions")
    plan.MergeFromString(removed(1, SimpleExtensionURN(extension_urn_anchor=7, urn="/f.yaml").SerializeToString()))
    new, problems = up_to_date(plan)
    assert not problems
    assert [entry.extension_urn_anchor for entry in new.extension_urns] == [2**32 - 1, 1]


@pytest.mark.parametrize("old", [removed(1, b"\xff"), removed(1, 5)])
def test_what_is_no_address_is_refused(old: bytes) -> None:
    plan = plan_of(Rel())
    plan.MergeFromString(old)
    with pytest.raises(UnsupportedPlanError, match="a removed field holds no SimpleExtensionURN"):
        lower(plan, "datafusion")


@pytest.mark.parametrize("old", [removed(99, 1), removed(3, b"two"), removed(4, b"")])
def test_what_is_not_known_is_refused_by_place(old: bytes) -> None:
    rel = Rel()
    rel.filter.input.fetch.MergeFromString(old)
    with pytest.raises(UnsupportedPlanError, match="Filter / Fetch"):
        lower(plan_of(rel), "datafusion")


def test_enhancements_are_refused() -> None:
    rel = Rel()
    rel.filter.advanced_extension.enhancement.type_url = "example.com/semi_filter"
    with pytest.raises(UnsupportedPlanError, match="an enhancement changes what a part of the plan means"):
        lower(plan_of(rel), "datafusion")


PLANS = {file: Plan.FromString(file.read_bytes()) for file in sorted(PRODUCERS.glob("*/*.plan"))}
# Our own plans there call functions of Spark that DataFusion lacks.
LOWERABLE = [plan for file, plan in PLANS.items() if file.parent.name != "spark"]


def broken(plan: Plan, chance: random.Random) -> Plan:
    """The plan with some fields of its messages left out, changed, repeated or exchanged."""
    new = Plan()
    new.CopyFrom(plan)
    parts = [message for message in messages(new) if message.ListFields()]
    for _ in range(chance.randint(1, 3)):
        part = chance.choice(parts)
        if not part.ListFields():
            continue
        field, value = chance.choice(part.ListFields())
        if chance.random() < 0.4:
            part.ClearField(field.name)
        elif isinstance(value, Message):
            with contextlib.suppress(DecodeError):
                value.MergeFromString(chance.choice(parts).SerializeToString()[: chance.randrange(200)])
        elif isinstance(value, bool | int | float | str | bytes):
            with contextlib.suppress(ValueError):  # an unsigned field takes no negative number
                setattr(part, field.name, type(value)(chance.choice(OTHERS[type(value)])))
        elif chance.random() < 0.5:
            del value[chance.randrange(len(value))]
        elif isinstance(value[0], Message):
            value.add().CopyFrom(value[0])
    return new


OTHERS: dict[type, Sequence[Any]] = {
    bool: (False, True), int: (0, -1, 1, 7, 2**31 - 1), float: (0.0, -0.0, 1e300, math.inf, math.nan),
    str: ("", "x", "🦊"), bytes: (b"", b"\xff" * 16)
}  # fmt: skip


@pytest.mark.stumbles
def test_broken_plans_are_lowered_or_refused() -> None:
    ends = Counter[str]()
    for file, number in itertools.product(PLANS, range(8)):
        chance = random.Random(f"{file.relative_to(PRODUCERS).as_posix()} {number}")  # whatever other files there are
        try:
            lowered = lower(broken(PLANS[file], chance), "datafusion")
        except UnsupportedPlanError:
            ends["refused"] += 1
        else:
            assert not structural_problems(lowered)
            ends["lowered"] += 1
    assert min(ends["refused"], ends["lowered"]) > 10, ends


def test_plans_that_are_lowered_already() -> None:
    """They are refused where they call functions of an engine; else to lower them again changes nothing."""
    ends = Counter[str]()
    for plan in LOWERABLE:
        once = lower(plan, "datafusion")
        try:
            assert lower(once, "datafusion") == once
        except UnsupportedPlanError as error:
            (problem,) = error.problems
            assert "it is in the forms of an engine already, whose functions extension:" in problem.reason
            assert problem.hint == "Lower the canonical plan, which df_to_substrait makes without a dialect."
            ends["refused"] += 1
        else:
            ends["same"] += 1
    assert min(ends["refused"], ends["same"]) > 5, ends


def test_no_plan() -> None:
    with pytest.raises(TypeError, match=r"plan must be a .*Plan or .*, not str"):
        lower("plan", "datafusion")  # type: ignore[call-overload]
