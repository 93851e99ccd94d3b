"""What the documentation tells of adding a relation is all that it takes: a copy of the package with it has the relation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import substrait_spark
from substrait_spark.compiled import DIGESTS

PACKAGE = Path(substrait_spark.__file__).parent
PAGE = PACKAGE.parent / "docs" / "how-to" / "add-a-relation.md"

DOCUMENT = Path(__file__).parent / "documents" / "union.json"

BLOCK = re.compile(
    r"in `(?P<file>substrait_spark/[\w/]+\.py)`(?:, (?P<how>table|before) `(?P<name>\w+)`)?:\n\n    ```\{\.python \.edit\}\n(?P<code>.*?)\n    ```",
    re.DOTALL,
)


class Edit(NamedTuple):
    """Code for a file: a line of a table, something before a table, or without either an import or a new file."""

    file: str
    how: str
    name: str
    code: str


def edits() -> Iterator[Edit]:
    for found in BLOCK.finditer(PAGE.read_text("utf-8")):
        code = textwrap.dedent(found["code"])
        yield Edit(found["file"], found["how"] or "", found["name"] or "", code)


def edited(text: str, edit: Edit) -> str:
    if not edit.how:
        return text.replace(
            "\n\nfrom __future__ import annotations\n", f"\n\nfrom __future__ import annotations\n{edit.code}\n", 1
        )
    (start,) = re.finditer(rf"^{edit.name}\b[^\n]*? = ?", text, re.MULTILINE)
    if edit.how == "before":
        return f"{text[: start.start()]}{edit.code}\n\n{text[start.start() :]}"
    first = text.index("{", start.end()) + 1
    return f"{text[:first]}{edit.code} {text[first:]}"


PROGRAM = """
import sys
from pathlib import Path

from substrait_spark import UnsupportedPlanError, explain, lower
from substrait_spark.catalyst.document import decode
from substrait_spark.catalyst.tree import DataType, make, make_plan
from substrait_spark.context import Context, Settings
from substrait_spark.conversion import emit_document
from substrait_spark.dialects import load
from substrait_spark.engines.spark.relations import RULES
from substrait_spark.plan.message import build
from substrait_spark.reading.plan import read_plan
from substrait_spark.testing import assert_well_formed

document = decode(Path(sys.argv[1]).read_text("utf-8"))
count = make("Literal", DataType("integer"), False, value=3)
tail = make_plan("Tail", limitExpr=count, child=document.root)
document = document._replace(root=tail, nodes=[*document.nodes, count, tail], classes=document.classes | {"Tail"})
context = Context(Settings(load(None)))
plan = emit_document(context, document)
assert not context.problems, context.problems
assert_well_formed(plan)
read = read_plan(plan)
assert not read.problems, read.problems
assert build(read.root, read.names) == plan
assert type(read.root) in RULES
print([line.strip() for line in explain(plan).splitlines() if "Tail" in line])
try:
    lower(plan, "datafusion")
except UnsupportedPlanError as error:
    print(error.problems[0].reason)
"""

EXPECTED = """\
["expected_type_urls ['type.googleapis.com/substrait_spark.Tail']", 'ExtensionSingle substrait_spark.Tail {count: 3}']
the dialect datafusion has no relation that takes the last rows
"""


def test_the_page_names_all_that_a_relation_takes(tmp_path: Path) -> None:
    copy = tmp_path / "substrait_spark"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so", DIGESTS))
    listed = list(edits())
    assert {edit.how for edit in listed} == {"", "table", "before"}
    for edit in listed:
        path = tmp_path / edit.file
        path.write_text(edited(path.read_text("utf-8"), edit) if path.exists() else f"{edit.code}\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(DOCUMENT)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == EXPECTED
