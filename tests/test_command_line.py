"""The installed command `substrait-spark`: what it writes, where, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from pyspark.sql import SparkSession
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan, PlanRel, Version

from substrait_spark import declare_function, df_to_substrait, explain, write_extension_file
from substrait_spark.algebra.message_walk import messages
from substrait_spark.command_line import foreign_files
from substrait_spark.command_line.waiting import waiting
from substrait_spark.dialects.loading import module_from

pytest.importorskip("click")

pytestmark = pytest.mark.starts_spark

SCRIPT = Path(sys.executable).with_name("substrait-spark")
QUERY = "SELECT item, sum(price) AS total FROM orders WHERE price > 1 GROUP BY item ORDER BY item"


def command(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([SCRIPT, *map(str, arguments)], input=stdin, capture_output=True, check=False, timeout=300)


class Answer(NamedTuple):
    """What a command wrote, and how it ended."""

    code: int
    stdout: str
    stderr: str


SEVERAL = """
import io, json, sys
from substrait_spark.command_line import main

def stream(content=""):
    return io.TextIOWrapper(io.BytesIO(content.encode()), "utf-8", write_through=True)

def answer(arguments, stdin):
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.argv = ["substrait-spark", *arguments]
    sys.stdin, sys.stdout, sys.stderr = streams = stream(stdin), stream(), stream()
    try:
        main()
    except SystemExit as end:
        return end.code, *(each.buffer.getvalue().decode() for each in streams[1:])
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept

commands = json.load(sys.stdin)
path = sys.argv[1]
answers = {name: answer(*command) for name, command in commands.items()}
json.dump(answers, open(path, "w"))
"""


def several(folder: Path, given: Mapping[str, tuple[Sequence[str], str]]) -> dict[str, Answer]:
    """What comes of several commands, each with its arguments and its input, in one process: Spark takes long to start."""
    path = folder / "answers.json"
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, path], input=json.dumps(given).encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return {name: Answer(*answer) for name, answer in json.loads(path.read_text("utf-8")).items()}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "the orders.parquet"
    pq.write_table(pa.table({"item": ["tea", "rye", "tea", None], "price": [3, 5, 4, 1]}), path)
    return path


@pytest.fixture(scope="module")
def exported(orders: Path) -> Path:
    """A plan for DataFusion that the command exported."""
    path = orders.with_name("total.plan")
    done = command("export", QUERY, "--table", f"orders={orders}", "--dialect", "datafusion", "-o", path)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert_only_progress(done.stderr)
    return path


def assert_only_progress(stderr: bytes) -> None:
    lines = stderr.decode().splitlines()
    assert all(line.startswith("substrait-spark: ") and line.endswith(" …") for line in lines), lines


# ---- without Spark


def test_help_teaches() -> None:
    shown = command("--help").stdout.decode()
    for word in (
        "export",
        "lower",
        "explain",
        "check",
        "compare",
        "diff",
        "run",
        "support",
        "Exit codes:",
        "--table orders=orders.parquet",
    ):
        assert word in shown
    for name in ("export", "lower", "explain", "check", "diff", "run", "support"):
        assert f"substrait-spark {name}" in command(name, "-h").stdout.decode()


def test_as_module() -> None:
    done = subprocess.run([sys.executable, "-m", "substrait_spark", "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"substrait-spark, version ")


ISTHMUS = Path(__file__).parent / "producers" / "isthmus" / "q06.plan"
"""A canonical plan of another producer."""

WITHOUT_SPARK = """
import sys
sys.modules["pyspark"] = sys.modules["py4j"] = None
import substrait_spark.testing.plugin, substrait_spark.testing.snapshot
from substrait_spark.command_line import main
main()
"""


@pytest.mark.slow
def test_without_spark(exported: Path) -> None:
    """Only `export` and `check --sql` need PySpark, and say so."""
    for arguments, code, said in (
        (("--help",), 0, "substrait-spark export"),
        (("explain", exported), 0, "substrait plan text"),
        (("run", exported), 0, "(2 rows)"),
        (("lower", ISTHMUS, "--dialect", "datafusion"), 0, "substrait plan text"),
        (("lower", exported, "--dialect", "datafusion"), 1, "it is in the forms of an engine already"),
        (("export", "SELECT 1"), 2, "This needs PySpark: pip install pyspark."),
        (("check", "--sql", "SELECT 1"), 2, "This needs PySpark: pip install pyspark."),
    ):
        program = [sys.executable, "-c", WITHOUT_SPARK, *map(str, arguments)]
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert said in done.stdout + done.stderr


@pytest.mark.parametrize(
    "call",
    [
        "substrait_spark.df_to_substrait(object())",
        "substrait_spark.check(object())",
        "substrait_spark.capture(object()).__enter__()",
        "substrait_spark.engines.spark.execute(Plan(), object())",
    ],
)
def test_python_without_spark(call: str) -> None:
    """The package says what the command says."""
    program = f"""
import sys
sys.modules["pyspark"] = sys.modules["py4j"] = None
import substrait_spark, substrait_spark.engines.spark
from substrait.plan_pb2 import Plan
{call}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last == "substrait_spark.errors.UnsupportedSessionError: This needs PySpark: pip install pyspark."


NO_ENGINE = "This needs the package pyarrow: pip install 'datafusion==55.*' numpy pyarrow regex."

WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
"""


def test_without_the_engine(exported: Path) -> None:
    """The command and the package say what is missing."""
    runs = f"from substrait_spark.command_line import main; sys.argv[1:] = ['run', {str(exported)!r}]; main()"
    executes = "from substrait_spark.engines import datafusion; datafusion.execute(None)"
    for program, said in ((runs, f"Error: {NO_ENGINE}"), (executes, f"errors.SubstraitSparkError: {NO_ENGINE}")):
        command = [sys.executable, "-c", WITHOUT_PYARROW + program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode
        assert done.stderr.strip().splitlines()[-1].endswith(said)


def test_explain(exported: Path) -> None:
    plan = Plan.FromString(exported.read_bytes())
    assert command("explain", exported).stdout.decode() == explain(plan).rstrip("\n") + "\n"
    json_with_mark = json_format.MessageToJson(plan).encode("utf-8-sig")
    verbose = command("explain", "--verbose", "-", stdin=json_with_mark).stdout.decode()
    assert verbose == explain(plan, verbose=True).rstrip("\n") + "\n"


def test_run(exported: Path, orders: Path, tmp_path: Path) -> None:
    done = command("run", exported)
    assert done.stdout.decode().splitlines() == ["item  total", "----  -----", "rye       5", "tea       7", "(2 rows)"]
    assert command("run", exported, "--format", "csv").stdout == b'"item","total"\n"rye",5\n"tea",7\n'
    assert command("run", exported, "-o", tmp_path / "rows.parquet").returncode == 0
    assert pq.read_table(tmp_path / "rows.parquet").to_pydict() == {"item": ["rye", "tea"], "total": [5, 7]}


def test_run_with_named_tables(spark: SparkSession, orders: Path, tmp_path: Path) -> None:
    plan = df_to_substrait(spark.read.parquet(str(orders)).select("item"), dialect="datafusion", reads="files")
    plan.relations[0].root.input.read.named_table.names.extend(["shop", "orders"])
    path = tmp_path / "named.plan"
    path.write_bytes(plan.SerializeToString())
    missing = command("run", path)
    assert (missing.returncode, missing.stdout) == (2, b"")
    assert "The plan reads the table 'shop.orders' by name: say where its files are by -t orders=PATH." in (
        missing.stderr.decode()
    )
    assert b"tea" in command("run", path, "-t", f"orders={orders}").stdout
    other = command("run", path, "-t", f"orders={orders}", "-t", f"refunds={orders}")
    assert (other.returncode, other.stdout) == (2, b"")
    assert "doesn't read the table 'refunds' given by --table: the tables that it reads by name are shop.orders." in (
        other.stderr.decode()
    )


def test_run_where_the_engine_raises(spark: SparkSession, tmp_path: Path) -> None:
    plan = df_to_substrait(spark.range(3).selectExpr("10 div id"), dialect="datafusion")
    done = command("run", "-", stdin=plan.SerializeToString())
    assert (done.returncode, done.stdout) == (1, b"")
    *progress, error = done.stderr.splitlines(keepends=True)
    assert_only_progress(b"".join(progress))
    assert error.startswith(b"DataFusion failed: ")


def test_run_says_what_datafusion_lacks(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "canonical.plan"
    path.write_bytes(
        df_to_substrait(spark.sql("SELECT to_date(concat('2024-01-0', id + 1)) AS j FROM range(3)")).SerializeToString()
    )
    done = command("run", path)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert "scalar function date:str" in said
    assert "substrait-spark lower PLAN --dialect datafusion" in said
    lowered = tmp_path / "lowered.plan"
    assert command("lower", path, "--dialect", "datafusion", "-o", lowered).returncode == 0
    assert command("run", lowered, "-f", "csv").stdout.decode().splitlines() == [
        '"j"',
        *(f"2024-01-0{n}" for n in (1, 2, 3)),
    ]


def test_run_says_what_datafusion_takes_in_its_own_way(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.range(3).selectExpr("id + 1 AS next"))
    done = command("run", "-", "-f", "csv", stdin=plan.SerializeToString())
    assert (done.returncode, done.stdout.decode().splitlines()) == (0, ['"next"', "1", "2", "3"])
    said = done.stderr.decode()
    assert "rows may be others than Spark's" in said
    assert "add:i64_i64 of extension:io.substrait:functions_arithmetic with overflow=ERROR" in said
    assert "substrait-spark lower PLAN --dialect datafusion" in said


TYPED = """
from pyspark.sql.functions import udf
from pyspark.sql.types import StringType


@udf(StringType())
def clean_item(text):
    return None if text is None else text.strip().upper()
"""
OWN = f"""{TYPED}

import pandas as pd
from pyspark.sql.functions import pandas_udf
from substrait_spark import declare_function


@pandas_udf("double")
def with_tax(price: pd.Series) -> pd.Series:
    return price * 1.25


halve = udf(lambda price: price / 2, "double")
twice = declare_function(udf(lambda price: price * 2, "double"), name="doubled", urn="extension:com.example:twice")
number = 5
"""
OWN_CALLED = (
    "SELECT clean_item(item) AS name, sum(doubled(halve(with_tax(price)))) AS total FROM orders GROUP BY 1 ORDER BY 1"
)
OWN_NAMES = ("clean_item", "with_tax", "halve", "twice")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with functions of a user's own."""
    path = tmp_path_factory.mktemp("own") / "mine.py"
    path.write_text(OWN, "utf-8")
    return path


def test_own_functions(orders: Path, own: Path, tmp_path: Path) -> None:
    """Where a type is text, PySpark needs a session for it: running the plan starts one."""
    given = [word for name in OWN_NAMES for word in ("--functions", f"{own}:{name}")]
    plan = tmp_path / "own.plan"
    done = command("export", OWN_CALLED, "-t", f"orders={orders}", *given, "-d", "datafusion", "-o", plan)
    assert done.returncode == 0, done.stderr
    done = command("run", plan, *given, "-f", "csv")
    assert done.stdout.decode().splitlines() == ['"name","total"', ",1.25", '"RYE",6.25', '"TEA",8.75'], done.stderr


def test_own_functions_without_spark(spark: SparkSession, orders: Path, tmp_path: Path) -> None:
    own = tmp_path / "typed.py"
    own.write_text(TYPED, "utf-8")
    clean_item = module_from(own).clean_item
    df = spark.read.parquet(str(orders)).select(clean_item("item").alias("name")).where("name > 'T'")
    canonical, lowered = tmp_path / "canonical.plan", tmp_path / "lowered.plan"
    declared = [declare_function(clean_item, name="clean_item", urn="extension:com.example:shop")]
    canonical.write_bytes(df_to_substrait(df, functions=declared).SerializeToString())
    refused = command("lower", canonical, "-d", "datafusion")
    assert refused.returncode == 1
    said = refused.stderr.decode()
    assert "it calls functions that nobody declares: clean_item of extension:com.example:shop" in said
    assert "hint: Give your own as functions=[clean_item]. If they are an engine's: lower the canonical plan" in said
    (file,) = write_extension_file(tmp_path / "shop.yaml", df_to_substrait(df, functions=declared), declared)
    assert command("lower", canonical, "-d", "datafusion", "--functions", file, "-o", lowered).returncode == 0
    lacking = command("check", lowered, "-d", "datafusion")
    assert (lacking.returncode, b"scalar function clean_item:str" in lacking.stdout) == (1, True)
    assert command("check", lowered, "-d", "datafusion", "--functions", file).returncode == 0
    missing = command("run", lowered)
    assert missing.returncode == 2
    assert b"calls the function clean_item of extension:com.example:shop, which is not there" in missing.stderr
    other = command("run", lowered, "--functions", f"{own}:clean_item")
    assert (other.returncode, other.stdout) == (2, b"")
    plan = tmp_path / "own.plan"
    plan.write_bytes(df_to_substrait(df, functions=[clean_item], dialect="datafusion").SerializeToString())
    done = command("run", plan, "--functions", f"{own}:clean_item", "-f", "csv")
    assert done.stdout.decode().splitlines() == ['"name"', '"TEA"', '"TEA"'], done.stderr
    assert b"starting Spark" not in done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("{own}:total", "AttributeError: module 'mine' has no attribute 'total'"),
        ("{own}:number", "functions= takes functions that udf, pandas_udf or arrow_udf has made"),
        ("{own}.txt:number", "--functions"),
        ("nowhere.py:number", "FileNotFoundError: there is no file 'nowhere.py'"),
        ("no_such_module:number", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("number", "--functions takes FILE.yaml, MODULE:NAME or FILE.py:NAME, not 'number'."),
        ("nowhere.yaml", "The extension file nowhere.yaml can't be read: No such file or directory."),
    ],
)
def test_what_is_no_function_is_told(exported: Path, own: Path, name: str, said: str) -> None:
    done = command("run", exported, "--functions", name.format(own=own))
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_own_functions_with_spark(orders: Path, own: Path, tmp_path: Path) -> None:
    given = [word for name in OWN_NAMES for word in ("--functions", f"{own}:{name}")]
    called, plan = [OWN_CALLED, "-t", f"orders={orders}", *given], str(tmp_path / "own.plan")
    commands: dict[str, Sequence[str]] = {
        "compared": ("compare", *called),
        "compared in Spark": ("compare", *called, "-e", "spark"),
        "checked": ("check", "--sql", *called, "-d", "datafusion"),
        "exported": ("export", *called, "-o", plan),
        "run": ("run", plan, "-e", "spark", *given, "-f", "csv"),
    }
    answers = several(tmp_path, {name: (arguments, "") for name, arguments in commands.items()})
    assert not any(answer.code for answer in answers.values()), answers
    assert answers["compared"].stdout.startswith("Spark and DataFusion have the same 3 rows")
    assert answers["run"].stdout.splitlines() == ['"name","total"', ",1.25", '"RYE",6.25', '"TEA",8.75']


@pytest.mark.slow
def test_run_in_spark(spark: SparkSession, orders: Path, tmp_path: Path) -> None:
    """A canonical plan with a function that DataFusion lacks, of a table by name."""
    df = spark.read.parquet(str(orders)).selectExpr("item", "format_number(price / 2, 2) AS half").where("item = 'tea'")
    plan = df_to_substrait(df, reads="files")
    reads = [message for message in messages(plan) if isinstance(message, ReadRel)]
    reads[0].named_table.names.append("orders")
    path = tmp_path / "canonical.plan"
    path.write_bytes(plan.SerializeToString())
    done = command(
        "run", path, "-e", "spark", "-t", f"orders={orders}", "-c", "spark.sql.ansi.enabled=false", "-f", "csv"
    )
    assert (done.returncode, done.stdout) == (0, b'"item","half"\n"tea","1.50"\n"tea","2.00"\n'), done.stderr
    assert_only_progress(done.stderr)
    not_for_spark = command("run", path, "-c", "spark.sql.ansi.enabled=false", "-t", f"orders={orders}")
    assert (not_for_spark.returncode, not_for_spark.stdout) == (2, b"")
    assert b"--conf is for the Spark session of --engine spark." in not_for_spark.stderr
    raising = df_to_substrait(spark.range(3).selectExpr("10 div id AS n"))
    done = command("run", "-", "-e", "spark", stdin=raising.SerializeToString())
    assert (done.returncode, done.stdout) == (1, b"")
    *progress, error = done.stderr.splitlines(keepends=True)
    assert_only_progress(b"".join(progress))
    assert error.startswith(b"Spark failed: ")


def test_diff(exported: Path, tmp_path: Path) -> None:
    same = command("diff", exported, exported)
    assert (same.returncode, same.stdout) == (0, b"")
    plan = Plan.FromString(exported.read_bytes())
    plan.relations[0].root.names[0] = "product"
    (tmp_path / "other.json").write_text(json_format.MessageToJson(plan), "utf-8")
    done = command("diff", exported, tmp_path / "other.json")
    assert done.returncode == 1
    assert b"product" in done.stdout


def test_check_of_a_plan(exported: Path, tmp_path: Path) -> None:
    fine = command("check", exported, "--dialect", "datafusion")
    assert (fine.returncode, fine.stdout) == (0, b"datafusion has everything that the plan needs.\n")
    dialect = tmp_path / "reader.yaml"
    dialect.write_text("name: Reader\nsupported_relations: [READ, PROJECT, FILTER]\n", "utf-8")
    lacking = command("check", exported, "--dialect", dialect)
    assert lacking.returncode == 1
    assert lacking.stdout.decode().splitlines() == [
        "Reader lacks what the plan needs:",
        "  sort: relation SORT",
        "  sort / project / aggregate: relation AGGREGATE",
    ]


def test_lower(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.range(4).groupBy("id").count()
    canonical = tmp_path / "canonical.plan"
    canonical.write_bytes(df_to_substrait(df).SerializeToString())
    lowered = tmp_path / "lowered.json"
    assert command("lower", canonical, "--dialect", "datafusion", "-o", lowered).returncode == 0
    assert json_format.Parse(lowered.read_text("utf-8"), Plan()) == df_to_substrait(df, dialect="datafusion")
    dialect = tmp_path / "reader.yaml"
    dialect.write_text("name: Reader\nsupported_relations: [READ, PROJECT]\n", "utf-8")
    refused = command("lower", canonical, "--dialect", dialect)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert "the dialect Reader has no AGGREGATE relations" in refused.stderr.decode()


def test_support() -> None:
    summary = command("support").stdout.decode()
    assert summary.startswith("Of the ")
    assert "Aggregate, " in summary
    upper = command("support", "UPPER")
    assert upper.returncode == 0
    assert "canonical:  yes, as string:upper" in upper.stdout.decode()
    assert command("support", "input_file_name").returncode == 1
    unknown = command("support", "no_such_function")
    assert unknown.returncode == 2
    assert "has no function no_such_function" in unknown.stderr.decode()
    mixed = command("support", "date_trnc", "ABS", "to_dat")
    assert mixed.returncode == 2
    assert mixed.stdout.decode().startswith("abs (Abs)\n")
    assert "has no function date_trnc. Did you mean date_trunc" in mixed.stderr.decode()
    assert "has no function to_dat. Did you mean to_date" in mixed.stderr.decode()
    assert "input_file_name" in command("support", "--refused").stdout.decode()


EMPTY = Plan(relations=[PlanRel()]).SerializeToString()
MISTAKES = {
    "no command": ((), b"", "Usage"),
    "unknown command": (("explode",), b"", "No such command"),
    "no such file": (("explain", "nowhere.plan"), b"", "does not exist"),
    "no plan": (("explain", "-"), b"SELECT 1", "stdin holds no Substrait plan: it is text"),
    "JSON that is cut off": (("explain", "-"), b'{"relations": [', "stdin holds no Substrait plan: it is cut off"),
    "a string that is cut off": (("explain", "-"), b'{"version": "0.', "it is cut off"),
    "broken JSON": (("explain", "-"), b'{"relations"; []}', "it is no JSON: Expecting ':' delimiter: line 1 column 13"),
    "JSON of a large number": (
        ("explain", "-"),
        b'{"a": %s}' % (b"1" * 5000),
        "a number of more digits than Python reads",
    ),
    "other JSON": (("explain", "-"), b'{"rows": []}', "it is JSON of something else"),
    "rows as JSON": (("explain", "-"), b'[{"a": 1}]', "it is JSON, but of a list"),
    "Parquet": (("explain", "-"), b"PAR1\x15\x04", "stdin holds no Substrait plan: it is a Parquet file."),
    "bytes": (("explain", "-"), b"\xff\xfe\xfd\xfc", "it is neither a plan's message nor JSON."),
    "nothing": (("explain", "-"), b"", "it is empty"),
    "a plan of nothing": (
        ("explain", "-"),
        Plan(version=Version(minor_number=106)).SerializeToString(),
        "no relation in it",
    ),
    "lowered to nothing": (("lower", "-"), EMPTY, "Missing option '-d' / '--dialect'"),
    "unknown dialect": (
        ("check", "-", "--dialect", "duckdb2"),
        b"",
        "or the name of an engine (acero, datafusion, datafusion-plain, datafusion-with-catalyst, isthmus, isthmus-postgresql, pyarrow).",
    ),
    "neither plan nor query": (("check",), b"", "Give a PLAN, or a query by --sql."),
    "both from stdin": (("diff", "-", "-"), b"", "Only one of the plans can come from stdin."),
    "no pair": (("run", "-", "-t", "orders"), b"", "'orders' is not of the form name=value"),
    "no such folder": (("explain", "-", "-o", "nowhere/x.txt"), EMPTY, "No such file or directory: nowhere/x.txt."),
    "text": (("explain", "-"), b"substrait plan text 1\nversion 0.106.0\n", "export with --format binary or json"),
    "check of a plan against nothing": (("check", "-"), EMPTY, "Say by --dialect what to check the plan against."),
    "plan and query": (("check", "-", "--sql", "SELECT 1"), b"", "are for a query, without a PLAN"),
    "table twice": (("run", "-", "-t", "t=a", "-t", "t=b"), EMPTY, "'t' is given more than once"),
    "table of nothing": (("run", "-", "-t", "t=a"), EMPTY, "it reads no table by name"),
    "unknown form of rows": (("run", "-", "-o", "rows.xlsx"), EMPTY, "What form .xlsx means isn't known"),
    "no UTF-8": (("export", "-"), "SELECT 'é'".encode("latin-1"), "stdin is not text in UTF-8"),
}


@pytest.mark.parametrize(("arguments", "stdin", "said"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_told_in_sentences(arguments: tuple[str, ...], stdin: bytes, said: str) -> None:
    done = command(*arguments, stdin=stdin)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert b"None" not in done.stderr
    assert done.stdout == b""


def test_a_plan_that_is_cut_off(exported: Path) -> None:
    """Wherever it is cut, but behind its relations."""
    whole = exported.read_bytes()
    for end in range(1, len(whole)):
        try:
            read = Plan.FromString(whole[:end])
        except DecodeError:
            assert foreign_files.described(whole[:end], DecodeError("…")) == foreign_files.CUT_OFF
        else:
            assert read.relations or foreign_files.described(whole[:end], None) == foreign_files.NO_RELATION
    assert not foreign_files.is_cut_off(whole)


def test_a_table_in_a_format_that_is_not_taken(tmp_path: Path) -> None:
    table = tmp_path / "t.avro"
    table.write_bytes(b"Obj\x01 and so on")
    done = command("export", "SELECT * FROM t", "-t", f"t={table}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert (
        "Tables are Parquet, or by their suffix ORC (.orc), CSV (.csv), JSON (.json), TEXT (.txt)."
        in done.stderr.decode()
    )


def test_closed_stdin() -> None:
    done = subprocess.run(["/bin/sh", "-c", f"'{SCRIPT}' explain - <&-"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"There is no stdin to read from" in done.stderr


def test_no_java(tmp_path: Path) -> None:
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run([SCRIPT, "export", "SELECT 1"], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Spark doesn't start: it needs Java 17 or later, on the PATH or in the folder that JAVA_HOME names." in (
        done.stderr
    )


def test_who_has_seen_enough_gets_no_complaint(exported: Path) -> None:
    shell = f"'{SCRIPT}' explain '{exported}' | true"
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=True)
    assert done.stderr == b""


def test_waiting_is_told_after_a_while(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("substrait_spark.command_line.waiting.PATIENCE", 0.05)
    with waiting("counting sheep"):
        pass
    assert capsys.readouterr().err == ""
    with waiting("counting sheep"):
        time.sleep(0.5)
    assert capsys.readouterr().err == "substrait-spark: counting sheep …\n"


# ---- with Spark, in one process


@pytest.fixture(scope="module")
def answers(orders: Path, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    folder = tmp_path_factory.mktemp("answers")
    (folder / "query.sql").write_text(QUERY, "utf-8")
    options = ("-t", f"orders={orders}", "-d", "datafusion")
    commands = {
        "from a file": ((str(folder / "query.sql"), *options, "-o", str(orders.with_name("plan.json"))), ""),
        "from stdin": (("-", *options), QUERY),
        "refused": (("SELECT input_file_name(), spark_partition_id()", "-o", "-"), ""),
        "no query": (("SELEC 1",), ""),
        "a statement": ((f"INSERT OVERWRITE DIRECTORY '{folder / 'out'}' USING parquet SELECT 1",), ""),
        "a program": (("EXECUTE IMMEDIATE 'SHOW TABLES'",), ""),
        "no table": (("SELECT 1", "-t", f"t={folder / 'query.sql'}"), ""),
        "no name": (("SELECT 1", "-t", f"my-orders={orders}"), ""),
        "with more": (
            ("SELECT decimal(id), decimal(id + 1) FROM range(2)", "--with", "type-aliases", "--with", "provenance"),
            "",
        ),
        "with too much": (("SELECT 1", "--with", "detach", "-d", "datafusion"), ""),
    }
    given = {name: (("export", *arguments), stdin) for name, (arguments, stdin) in commands.items()}
    other = QUERY.replace("sum(price)", "sum(price) + 1")
    plan = ("--plan", str(exported))
    given["compared"] = (("compare", "-", *options[:2], *plan), QUERY)
    given["compared with another"] = (("compare", other, *options[:2], *plan, "--files-under", str(orders.parent)), "")
    given["compared in Spark"] = (("compare", QUERY, *options[:2], "-e", "spark", "--tolerance", "0"), "")
    given["checked"] = (("check", "--sql", "SELECT spark_partition_id()"), "")
    found = several(folder, given)
    assert not (folder / "out").exists()
    return found


def test_export_in_every_form(exported: Path, answers: dict[str, Answer]) -> None:
    """From a file and from stdin, as JSON and as text, the plan is the one that was exported before."""
    plan = Plan.FromString(exported.read_bytes())
    assert answers["from a file"].code == 0
    assert json_format.Parse(exported.with_name("plan.json").read_text("utf-8"), Plan()) == plan
    assert answers["from stdin"].stdout == explain(plan).rstrip("\n") + "\n"
    assert_only_progress(answers["from stdin"].stderr.encode())


def test_export_with_what_plans_may_have_besides(answers: dict[str, Answer]) -> None:
    code, stdout, _ = answers["with more"]
    assert code == 0
    assert "alias@1: decimal" in stdout
    assert "substrait_spark.Provenance" in stdout
    code, _, stderr = answers["with too much"]
    assert code == 2
    assert "detach can be True only without a dialect" in stderr


def test_compare(answers: dict[str, Answer]) -> None:
    assert answers["compared"][:2] == (0, "Spark and DataFusion have the same 2 rows, in the order of item.\n")
    assert answers["compared in Spark"][:2] == (
        0,
        "Spark and the plan in Spark have the same 2 rows, in the order of item.\n",
    )
    code, stdout, stderr = answers["compared with another"]
    assert code == 1
    assert stdout.splitlines()[1:] == [
        "Rows of one side alone: -2 and +2, which differ in total.",
        "- (item: 'rye', total: 6)",
        "- (item: 'tea', total: 8)",
        "+ (item: 'rye', total: 5)",
        "+ (item: 'tea', total: 7)",
    ]
    assert_only_progress(stderr.encode())


def test_what_cannot_be_exported(answers: dict[str, Answer]) -> None:
    code, stdout, stderr = answers["refused"]
    assert (code, stdout) == (1, "")
    assert "2 obstacles on the way to a Substrait plan:" in stderr
    code, stdout, stderr = answers["checked"]
    assert code == 1
    assert stdout.startswith("1 obstacle on the way to a Substrait plan:")
    assert_only_progress(stderr.encode())


def test_what_spark_does_not_take(answers: dict[str, Answer]) -> None:
    code, stdout, stderr = answers["no query"]
    assert (code, stdout) == (2, "")
    assert "Spark doesn't take the query: [PARSE_SYNTAX_ERROR]" in stderr
    assert "query.sql is not a Parquet file" in answers["no table"].stderr
    assert "'my-orders' can't be the name of a table as it is: put it in backticks" in answers["no name"].stderr


def test_other_statements_than_queries_are_not_run(answers: dict[str, Answer]) -> None:
    code, stdout, stderr = answers["a statement"]
    assert (code, stdout) == (2, "")
    assert "This is no query but another statement (InsertIntoDir), which wasn't run." in stderr
    assert answers["a program"].code == 2
    assert "CommandResult" not in answers["a program"].stderr


@pytest.mark.slow
def test_export_of_statements(tmp_path: Path) -> None:
    sql = "CREATE TABLE one USING parquet AS SELECT 1 AS one"
    one, no = str(tmp_path / "one.plan"), str(tmp_path / "no.plan")
    commands: dict[str, Sequence[str]] = {
        "refused": ("export", sql, "-o", one),
        "exported": ("export", "--statements", sql, "-o", one),
        "explained": ("explain", one),
        "unknown": ("export", "--statements", "SELEC 1", "-o", no),
    }
    answers = several(tmp_path, {name: (arguments, "") for name, arguments in commands.items()})
    assert answers["refused"].code == 2
    assert "This is no query but another statement" in answers["refused"].stderr
    assert answers["exported"].code == 0, answers["exported"].stderr
    assert "Write CTAS spark_catalog.default.one" in answers["explained"].stdout
    assert answers["unknown"].code in {1, 2}
    assert "Spark itself can't plan it: [PARSE_SYNTAX_ERROR]" in answers["unknown"].stderr
