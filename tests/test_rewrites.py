"""What each rewrite makes of a tree, as pairs of texts in `tests/rewrites/`, a file for each module: no JVM is needed.

A title, the tree, a line `=>`, and what becomes of it, or `as it is`. `pytest tests/test_rewrites.py --record` writes the trees
anew, to be looked at before they are kept.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import catalyst_text
import pytest

from substrait_spark import rewrites
from substrait_spark.catalyst.tree import children_first
from substrait_spark.rewrites.transform import transform

FOLDER = Path(__file__).parent / "rewrites"

AS_IT_IS = "as it is"


class Pair(NamedTuple):
    """A tree, and what a module's rules make of it."""

    title: str
    before: str
    after: str


def pairs(file: Path) -> Iterator[Pair]:
    """The pairs of a file, which may still lack what becomes of a tree."""
    for block in file.read_text("utf-8").split("\n# "):
        title, _, trees = block.removeprefix("# ").partition("\n")
        before, _, after = trees.strip().partition("\n=>\n")
        yield Pair(title, before, after)


FILES = sorted(FOLDER.glob("*.txt"))
PAIRS = {f"{file.stem}: {pair.title}": (file.stem, pair) for file in FILES for pair in pairs(file)}


@pytest.mark.parametrize(("module", "pair"), PAIRS.values(), ids=PAIRS)
def test_a_rewrite_makes_of_a_tree(module: str, pair: Pair) -> None:
    assert rewritten(module, pair.before) == pair.after


def rewritten(module: str, before: str) -> str:
    """What a module's rules make of a tree, as text."""
    root = catalyst_text.parsed(before)
    rules: dict[str, list[rewrites.Rule]] = {}
    for name, rule in importlib.import_module(f"substrait_spark.rewrites.{module}").RULES:
        rules.setdefault(name, []).append(rule)
    found = transform(children_first(root), rules).get(root, root)
    return AS_IT_IS if found is root else catalyst_text.text(found)


def test_each_module_has_pairs() -> None:
    modules = {rule.__module__.rpartition(".")[2] for _, rule in rewrites.RULES}
    assert modules == {file.stem for file in FILES}
    for file in FILES:
        outcomes = [pair.after for pair in pairs(file)]
        assert any(after != AS_IT_IS for after in outcomes), f"{file.name} shows nothing that is rewritten"


def test_texts_are_what_they_were_read_from(pytestconfig: pytest.Config) -> None:
    for file in FILES:
        written = [
            (pair.title, catalyst_text.text(catalyst_text.parsed(pair.before)), rewritten(file.stem, pair.before))
            for pair in pairs(file)
        ]
        text = "\n\n".join(f"# {title}\n{before}\n=>\n{after}" for title, before, after in written) + "\n"
        if pytestconfig.getoption("--record"):
            file.write_text(text, "utf-8")
        assert file.read_text("utf-8") == text
