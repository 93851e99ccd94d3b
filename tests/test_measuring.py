"""Measuring an engine: what is tried, what is made of the outcomes, and engines that end, hang and take all memory. No JVM runs."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from corpus import cases

from substrait_spark import SubstraitSparkError, engines
from substrait_spark.dialects import load
from substrait_spark.engines import measure
from substrait_spark.engines.measuring.corpus.functions import of_kind
from substrait_spark.engines.measuring.findings import Findings, not_for
from substrait_spark.engines.measuring.judging import Answer, judged, questions
from substrait_spark.engines.measuring.measure import MARKDOWN, Measurement
from substrait_spark.engines.measuring.outcome import FILE, Outcome
from substrait_spark.engines.measuring.page import markdown
from substrait_spark.engines.measuring.recorded import truths
from substrait_spark.engines.measuring.tpch import lacking
from substrait_spark.plan.message import build
from substrait_spark.plan.type_aliases import without_aliases
from substrait_spark.reading.encodings import up_to_date

ENGINE = """
from substrait.plan_pb2 import Plan
from substrait_spark.engines import datafusion

def run(plan, tables):
    return datafusion.execute(Plan.FromString(plan), tables=tables)
"""

pytestmark = pytest.mark.usefixtures("corpus_made_once")

SORTS = "relations SORT: "

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = Path(engines.__file__).parent


def measured(folder: Path, only: str = SORTS, **said: object) -> Measurement:
    engine = folder / "engine.py"
    engine.write_text(ENGINE)
    return measure(engine, folder / "out", only=only, processes=1, **said)  # type: ignore[arg-type]


def test_an_engine_is_listed_with_what_is_exact(tmp_path: Path) -> None:
    found = measured(tmp_path, only="types i6")
    assert found.tried == found.exact > 5
    dialect = load(found.dialect)
    assert dialect.allows_type(of_kind("i64"), column=True)
    assert not dialect.allows_type(of_kind("string"))


def test_defects_are_asked_again_where_more_is_measured(tmp_path: Path) -> None:
    """They are asked in forms of what was measured, by which the engine may show another one, or none."""
    assert load(measured(tmp_path, only="defects equals_in_keys").dialect).defects
    assert not load(measured(tmp_path, only="types i64").dialect).defects


ANYTHING = """
import os, sys, time
from pathlib import Path
import pyarrow as pa
from datafusion import SessionContext

COUNT = Path(__file__).with_suffix(".count")

def refuse(table):
    raise ValueError("no")

ANSWERS = [
    lambda table: table.slice(0, 0),
    lambda table: table.select([0]),
    lambda table: pa.table({"a": pa.array([{"b": 1}])}),
    lambda table: SessionContext().sql("SELECT arrow_cast('1 month', 'Interval(YearMonth)')").to_arrow_table(),
    refuse,
    lambda table: sys.exit(1),
    lambda table: None,
    lambda table: bytearray(2**33),
    lambda table: os._exit(3),
    lambda table: time.sleep(100),
]

def run(plan, tables):
    number = int(COUNT.read_text()) if COUNT.exists() else 0
    COUNT.write_text(str(number + 1))
    return ANSWERS[number % len(ANSWERS)](next(iter(tables.values())))
"""


@pytest.mark.slow
def test_an_engine_may_do_anything(tmp_path: Path) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(ANYTHING)
    found = measure(engine, tmp_path / "out", only="relations SORT", processes=1, seconds=20, memory=3 * 2**30)
    lines = [json.loads(line) for line in (found.folder / FILE).read_text().splitlines()]
    expected = ["wrong", "wrong", "wrong", "wrong", "refused", "refused", "refused", "refused", "ended", "hung"]
    assert [verdict for _, _, verdict, *_ in lines[: len(expected)]] == expected
    assert "memory" in lines[7][3].lower()
    assert not found.exact
    assert "SORT" not in found.dialect.read_text()
    page = (found.folder / MARKDOWN).read_text()
    assert "the process ended with code 3" in page
    assert "ascending, nulls first" in page


def test_rows_where_there_are_none_are_told() -> None:
    (case,) = [each for each in cases() if each.name == "aggregate arithmetic sum i32 of no row: i32?"]
    (question,) = questions(case, truths()[case.name])
    found = judged(case, question, Answer(pa.table({"c0": pa.array([0], pa.int64())})))
    assert found.verdict == "wrong"


def test_a_measurement_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = measured(tmp_path, only="relations SORT: nulls")
    told: list[str] = []
    both = measured(tmp_path, tell=told.append)
    assert first.tried == 1
    assert len(told) == both.tried - 1 > 1
    assert "left" in told[0]
    told.clear()
    measured(tmp_path, tell=told.append)
    assert not told


def test_a_new_release_is_asked_one_case_of_what_was_exact(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    earlier = measured(tmp_path / "old")
    told: list[str] = []
    later = measured(tmp_path, since=earlier.folder / FILE, tell=told.append)
    assert len(told) == 1
    assert later.dialect.read_text() == earlier.dialect.read_text()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("walk = 1", "run"),
        ("import os; os._exit(3)", "can't be loaded: the process ended with code 3"),
        ("import time; time.sleep(100)", "can't be loaded: no answer in 5 seconds"),
    ],
)
def test_what_is_no_engine_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, told: str) -> None:
    monkeypatch.setattr("substrait_spark.engines.measuring.pool.START", 5.0 if "sleep" in content else 100.0)
    file = tmp_path / "engine.py"
    file.write_text(content)
    with pytest.raises(SubstraitSparkError, match=told):
        measure(file, tmp_path / "out", only=SORTS)


def test_kinds_that_differ_are_told_from_the_others() -> None:
    some = [case for case in cases() if case.subject.variant == "keys" and case.subject.key == ("SORT",)]
    wrong = {case.name: case for case in some if case.kinds == ("fp32",) and "descending" in case.about}
    outcomes = {
        case.name: Outcome(case.name, truths()[case.name].digest, "wrong" if case.name in wrong else "exact", "", False)
        for case in some
    }
    assert not_for(Findings(some, truths(), outcomes).tried) == ("fp32",)


def test_what_tpch_would_take_is_told() -> None:
    """Of Acero: what tests/test_query_outcomes.py has of it by comparing rows."""
    assert not lacking(FOLDER / "datafusion" / "dialect.yaml").refused
    found = lacking(FOLDER / "acero" / "dialect.yaml")
    recorded = json.loads((DOCS / "measurements" / "engines.json").read_text("utf-8"))["acero"]["tpch"]
    assert recorded
    assert {str(number) for number in found.refused} == recorded.keys()
    assert found.by_reason.keys() == {reason for reasons in recorded.values() for reason in reasons}
    told = markdown("acero", Findings((), {}, {}), found)
    assert f"Of 22 queries, {22 - len(recorded)} have a plan" in told
    for reason, numbers in found.by_reason.items():
        assert f"- `{reason}`: {'query' if len(numbers) == 1 else 'queries'} {', '.join(map(str, numbers))}\n" in told


def test_older_forms_are_read_back(tmp_path: Path) -> None:
    older = [case for case in cases() if case.old is not None]
    assert older
    for case in older:
        plan, problems = up_to_date(case.plan())
        today = build(case.relation, case.names)
        assert not problems
        assert case.plan() != today
        plan = without_aliases(plan)
        plan.ClearField("advanced_extensions")  # a note, which says nothing of the rows
        assert plan == today or "all from" in case.about  # whose count is a number that no rows reach


OLD_READER = """
from substrait.plan_pb2 import Plan
from substrait_spark.engines import datafusion
from substrait_spark.reading.encodings import up_to_date

def run(plan, tables):
    given = Plan.FromString(plan)
    today, _ = up_to_date(given)
    if given.extension_urns and today == given:
        raise ValueError("no extension file has a URI")
    if given.type_aliases or given.advanced_extensions.optimization:
        raise ValueError("there are fields that I don't know")
    return datafusion.execute(today, tables=tables)
"""


def test_what_a_reader_of_an_older_release_lacks_is_found(tmp_path: Path) -> None:
    """Functions are asked by files that the engine knows, so that it isn't taken to lack what it only didn't find."""
    engine = tmp_path / "engine.py"
    engine.write_text(OLD_READER)
    found = load(measure(engine, tmp_path / "out", only="abilities", processes=1).dialect).abilities
    assert (found.extension_urns, found.optimizations, found.type_aliases) == (False, False, False)
    assert (found.measure_filters, found.fetch_expressions, found.row_expressions) == (True, True, True)
