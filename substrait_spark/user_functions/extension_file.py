"""The extension files of users' own functions, made of the calls in a plan: what an engine's implementers are to be given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ..algebra.expression import AggregateFunction, ScalarFunction, WindowCall, WindowFunction
from ..algebra.relation import Relation
from ..algebra.traversal import inputs_first, subexpressions
from ..algebra.types import nullable
from ..errors import FunctionError, InvalidPlanError
from ..extensions.registry import KINDS
from ..reading.plan import read_plan
from .declared import (
    ARGUMENT_FIELDS,
    ARGUMENT_NAMES,
    HANDED_ON,
    METHOD,
    RELEASE,
    RESULT_FIELDS,
    TIME_ZONE,
    UserFunction,
    UserFunctions,
)

if TYPE_CHECKING:
    from substrait.plan_pb2 import Plan

Call = ScalarFunction | AggregateFunction | WindowCall

DESCRIPTION = "A function of the plan's author. It is called for null arguments, too; what it raises is an error."

OPTIONS = {
    RELEASE: "The release of Spark whose conversions of arguments and results are meant.",
    TIME_ZONE: "The time zone that the function sees instants in.",
    METHOD: "How the function gets rows, as the method of that name of a DataFrame in PySpark gives them.",
    HANDED_ON: "The function that gets the result as it is returned, of whatever type, as all that it gets.",
    ARGUMENT_NAMES: "The names of the columns that the function gets.",
    ARGUMENT_FIELDS: "The names of the fields of structs in the arguments, depth-first.",
    RESULT_FIELDS: "The names of the fields of structs in the result, depth-first.",
}


def written(path: str | Path, plan: Plan, functions: UserFunctions) -> list[Path]:
    """Write the extension files of the functions that a plan calls; returns their paths."""
    texts = documents(plan, functions)
    target = Path(path)
    if not texts:
        raise FunctionError("The plan calls none of the functions.")
    if target.suffix not in (".yaml", ".yml"):
        target.mkdir(parents=True, exist_ok=True)
        paths = {urn: target / f"{urn.removeprefix('extension:').replace(':', '_')}.yaml" for urn in texts}
    elif len(texts) > 1:
        raise FunctionError(
            f"The plan calls functions of {len(texts)} URNs, {' and '.join(texts)}, and a file has one: give a folder for a file of "
            "each, or give the functions one URN, as declare_function(function, urn='extension:com.example:functions')."
        )
    else:
        paths = dict.fromkeys(texts, target)
    for urn, each in paths.items():
        each.write_text(texts[urn], "utf-8")
    return list(paths.values())


def documents(plan: Plan, functions: UserFunctions) -> dict[str, str]:
    """By URN, the extension files of the functions given as objects, of as much of them as a plan calls."""
    read = read_plan(plan, functions.nondeterministic)
    if read.root is None or read.problems:
        raise InvalidPlanError(f"The plan can't be read: {read.problems[0].reason}.")
    given = {(each.urn, each.name): each for each in functions.objects}
    entries: dict[str, dict[str, dict[str, Any]]] = {}
    for call in _calls(read.root):
        declaration = call.declaration
        function = given.get((declaration.urn, declaration.name))
        if function is None:
            continue
        kind = "aggregate" if isinstance(call, WindowCall) else declaration.kind
        named = entries.setdefault(declaration.urn, {}).setdefault(
            declaration.name, {"section": KINDS[kind], "name": declaration.name, "impls": []}
        )
        entry = _implementation(call, function)
        same = next((each for each in named["impls"] if _signature(each) == _signature(entry)), None)
        if same is None:
            named["impls"].append(entry)
        else:
            _merge(same.get("options") or {}, entry.get("options") or {})
    return {urn: _text(urn, list(named.values())) for urn, named in entries.items()}


def _implementation(call: Call, function: UserFunction) -> dict[str, Any]:
    arguments = call.children() if isinstance(call, ScalarFunction) else call.expressions()
    entry: dict[str, Any] = {"args": [{"value": str(nullable(each.type))} for each in arguments]}
    if call.options:
        entry["options"] = {
            name: {"description": OPTIONS.get(name, ""), "values": [value]} for name, value in call.options
        }
    entry["nullability"] = "DECLARED_OUTPUT"
    if function.spark is not None and not function.spark.deterministic:
        entry["deterministic"] = False
    entry["return"] = str(call.declaration.result)
    return entry


def _signature(entry: dict[str, Any]) -> tuple[Any, ...]:
    return (tuple(each["value"] for each in entry["args"]), entry["return"])


def _merge(options: dict[str, Any], others: dict[str, Any]) -> None:
    """Add the values of options that another call of the same types states."""
    for name, other in others.items():
        known = options.setdefault(name, other)
        known["values"] += [value for value in other["values"] if value not in known["values"]]


def _text(urn: str, functions: list[dict[str, Any]]) -> str:
    document: dict[str, Any] = {"urn": urn}
    for function in functions:
        entry = {"name": function["name"], "description": DESCRIPTION, "impls": function["impls"]}
        document.setdefault(function["section"], []).append(entry)
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return f"%YAML 1.2\n---\n{text}"


def _calls(root: Relation) -> Iterator[Call]:
    """The calls in a plan, those of its subqueries too."""
    for relation in inputs_first(root, subqueries=True):
        yield from relation.functions()
        for expression in relation.expressions():
            for part in subexpressions(expression):
                if isinstance(part, ScalarFunction):
                    yield part
                elif isinstance(part, WindowFunction):
                    yield part.call
