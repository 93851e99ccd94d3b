"""The house keeps its plan: rooms know the rooms before them, and few modules stand at the root."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import substrait_spark
from substrait_spark.algebra import extension_messages
from substrait_spark.algebra.flat_map import FlatMap
from substrait_spark.algebra.relation import BaseSchema, Reference, Relation
from substrait_spark.catalyst.plan_classes import PLAN_CLASSES
from substrait_spark.engines.spark.relations import RULES
from substrait_spark.reading.relation import EXTENSIONS
from substrait_spark.rel.dispatch import HANDLERS

PACKAGE = Path(substrait_spark.__file__).parent

TOGETHER = {
    "algebra": "algebra and extensions",
    "extensions": "algebra and extensions",
    "api": "api and testing",  # `lower` refuses plans that break the structural rules, and snapshots make plans
    "testing": "api and testing",
    "expr": "emission",
    "functions": "emission",
    "rel": "emission",
}
"""Rooms that know each other, as their first lines say."""

JVM = re.compile(r"\bpy4j\b|\._(?:jdf|jvm|jsparkSession|jsc|jc)\b")


def test_few_modules_stand_at_the_root() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 8


def test_only_what_reads_spark_touches_the_jvm() -> None:
    rooms = {file.relative_to(PACKAGE).parts[0] for file in PACKAGE.rglob("*.py") if JVM.search(file.read_text())}
    assert rooms == {"catalyst", "connect"}


def test_exceptions_are_made_where_they_are_raised() -> None:
    """One that is kept in its module holds every frame that it was ever raised through, and what is in these."""
    kept = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(_parsed(file))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id.isupper()
    ]
    assert kept == []


def test_of_each_plan_node_it_is_known_what_it_does() -> None:
    assert sorted(set(HANDLERS) - set(PLAN_CLASSES)) == [], (
        "say in catalyst/plan_classes.py what they do with rows and columns"
    )
    assert sorted(set(PLAN_CLASSES) - set(HANDLERS)) == ["Tail"]


def test_each_relation_is_read_and_run() -> None:
    made = {each for each in _below(Relation) if not _below(each)} | {FlatMap}
    unlisted = sorted(each.__name__ for each in made - set(RULES) - {BaseSchema, Reference})
    assert unlisted == [], "engines/spark/relations.py runs or refuses each relation"
    messages = {each.DESCRIPTOR.name for each in extension_messages.RELATIONS}
    assert sorted(messages ^ set(EXTENSIONS)) == [], "reading/relation.py reads each extension relation"


def _below(cls: type[Any]) -> set[type[Any]]:
    return {each for direct in cls.__subclasses__() for each in (direct, *_below(direct))}


def test_no_module_needs_itself_to_be_imported() -> None:
    names = _modules()
    known = {name: _imports(name, file, names, at_run_time=True) for name, file in names.items()}
    assert _circle(known) is None


def test_rooms_know_only_those_before_them() -> None:
    names = _modules()
    known: dict[str, set[str]] = {}
    for name, file in names.items():
        others = map(_room, _imports(name, file, names, at_run_time=False))
        known.setdefault(_room(name), set()).update(others)
    del known[""]  # what the package offers, and its version
    assert _circle({room: others - {room} for room, others in known.items()}) is None


def _room(module: str) -> str:
    name = module.partition(".")[0]
    return TOGETHER.get(name, name)


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def _modules() -> dict[str, Path]:
    """The package's modules, by their names within it."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def _imports(name: str, file: Path, names: dict[str, Path], *, at_run_time: bool) -> set[str]:
    """The modules that a module imports: when it is imported itself, or at any time and for the type checker too."""
    base = name.split(".") if name else []
    if file.name != "__init__.py":
        base = base[:-1]
    found = set()
    for statement in _statements(_parsed(file), at_run_time=at_run_time):
        if isinstance(statement, ast.ImportFrom) and statement.level:
            above = base[: len(base) - statement.level + 1]
            source = ".".join([*above, *([statement.module] if statement.module else [])])
            wanted = [f"{source}.{alias.name}".removeprefix(".") for alias in statement.names]
            found |= {each if each in names else source for each in wanted}
    return found - {name}


def _statements(tree: ast.AST, *, at_run_time: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if at_run_time and (isinstance(node, ast.FunctionDef) or _is_for_types(node)):
            continue
        yield node
        yield from _statements(node, at_run_time=at_run_time)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _circle(known: dict[str, set[str]]) -> list[str] | None:
    """Names that each know the next, the last the first; None where there are none such."""
    left = {name: set(others) for name, others in known.items()}
    while free := [name for name, others in left.items() if others.isdisjoint(left)]:
        for name in free:
            del left[name]
    if not left:
        return None
    way = [next(iter(left))]
    while way[-1] not in way[:-1]:
        way.append(next(other for other in left[way[-1]] if other in left))
    return way[way.index(way[-1]) :]
