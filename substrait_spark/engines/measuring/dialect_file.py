"""The dialect file that a measurement gives: what was exact, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from ...dialects.dialect import CAST_OPTIONS, TYPE_NAMES, Abilities, Dialect
from ...dialects.file import aliases
from ...extensions import registry
from . import guards
from .case import Subject
from .findings import Findings, Tried, are_exact, not_for
from .judging import EXACT, REFUSED, WRONG

Document = dict[str, Any]

DIGITS = 6
"""How many digits of seconds are tried."""


def document(name: str, findings: Findings) -> Document:
    """The dialect as the specification's schema has it."""
    functions = {section: _functions(kind, findings) for kind, section in registry.KINDS.items()}
    used = sorted({entry["source"] for entries in functions.values() for entry in entries})
    made: Document = {
        "name": name,
        "metadata": {"abilities": abilities(findings)},
        "dependencies": {alias: registry.urn(alias) for alias in used},
        "supported_types": list(_types(findings)),
        "supported_relations": _variants(findings, "relations", "relation"),
        "supported_expressions": _expressions(findings),
        **{f"supported_{section}": entries for section, entries in functions.items()},
    }
    if found := defects(findings):
        made["metadata"] |= {"rewrites": guards.NAME, "defects": found}
    return {key: value for key, value in made.items() if value}


def dialect(name: str, findings: Findings) -> Dialect:
    """The dialect in which plans are written that show defects: that of all else that was measured."""
    made = document(name, findings)
    return Dialect(name, made, (), aliases(made))


def text(made: Mapping[str, Any], note: str) -> str:
    """A dialect as YAML, entries one a line, so that two releases of an engine differ in lines."""
    lines = [f"# {line}" for line in note.splitlines()]
    for key, value in made.items():
        if isinstance(value, list):
            lines.append(f"{key}:")
            lines += [f"  - {_flow(entry)}" for entry in value]
        else:
            lines.append(yaml.safe_dump({key: value}, sort_keys=False, width=120, allow_unicode=True).rstrip())
    return "\n".join(lines) + "\n"


def _flow(entry: Any) -> str:
    return yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=10_000).removesuffix("...\n").strip()


# ---- types, relations, expressions


def _types(findings: Findings) -> Iterator[Any]:
    for (kind,), variants in findings.of("types").items():
        in_columns = are_exact(variants.get("column", ()))
        if not in_columns and not are_exact(variants.get("literal", ())):
            continue
        entry: Document = {"type": TYPE_NAMES[str(kind)]}
        if kind == "decimal":
            entry |= {"max_precision": 38, "max_scale": 38}
        elif str(kind).startswith("precision") or kind == "interval_day":
            entry["max_precision"] = DIGITS
        if not in_columns:
            entry["system_metadata"] = {"supported_as_column": False}
        yield entry if len(entry) > 1 else entry["type"]


LISTED = 3
"""How many parts the key of a variant has: a name, the list of its variants, and the variant's name."""


def _variants(findings: Findings, section: str, noun: str) -> list[Any]:
    """The entries of relations or expressions, each with the variants that are exact."""
    entries: dict[str, Document] = {}
    for key, variants in findings.of(section).items():
        tried = variants.get("", ())
        if len(key) == 1 and _is_exact_in_a_form(key, tried, findings):
            entries.setdefault(str(key[0]), {noun: str(key[0])})
        elif len(key) == LISTED and key[1] != "conditions" and are_exact(tried):
            entry = entries.setdefault(str(key[0]), {noun: str(key[0])})
            entry.setdefault(str(key[1]), []).append(str(key[2]))
    listed = [kind for (kind,), variants in findings.of("types").items() if are_exact(variants.get("column", ()))]
    for name, entry in list(entries.items()):
        kinds = _kinds_lacking(findings.of(section).get((name,), {}), _KEYS.get(name, ()))
        if kinds is None:
            del entries[name]
        elif lacking := [kind for kind in kinds if kind in listed]:
            entry["metadata"] = {"not_for": lacking}
    return [entry if len(entry) > 1 else name for name, entry in entries.items()]


_KEYS = {"AGGREGATE": ("keys", "keys in the old form"), "SORT": ("keys",), "SINGULAR_OR_LIST": ("values",)}
"""The variants that try a relation or an expression with values of each kind of type, each in another form."""


def _kinds_lacking(variants: Mapping[str, Sequence[Tried]], keys: Sequence[str]) -> Sequence[str] | None:
    """The kinds of types that a relation or an expression isn't for, in the form that it is for others; None where there is none."""
    tried = [variants[key] for key in keys if variants.get(key)]
    return next((kinds for each in tried if (kinds := not_for(each)) is not None), None if tried else ())


def _is_exact_in_a_form(key: tuple[object, ...], tried: Sequence[Tried], findings: Findings) -> bool:
    """Whether a relation is exact, in today's form of its message or in an older one."""
    older = {"FETCH": "fetch_expressions", "AGGREGATE": "grouping_references"}.get(str(key[0]))
    return are_exact(tried) or (older is not None and findings.has(Subject("abilities", (older,), "old form")))


def _expressions(findings: Findings) -> list[Any]:
    entries = _variants(findings, "expressions", "expression")
    lacking = [
        str(kind)
        for (kind,), variants in findings.of("types").items()
        if are_exact(variants.get("column", ())) and not are_exact(variants.get("literal", ()))
    ]
    if "LITERAL" in entries and lacking:
        entries[entries.index("LITERAL")] = {"expression": "LITERAL", "metadata": {"not_for": lacking}}
    if any(are_exact(variants.get("", ())) for variants in findings.of("scalar").values()):
        entries.append("SCALAR_FUNCTION")
    if any("lambda" in each.case.about and each.is_exact for each in findings.tried):
        entries.append("LAMBDA")
    casts = _casts(findings)
    if any(casts.values()):
        entries.append({"expression": "CAST", "metadata": {"exact": casts}})
    return entries


def _casts(findings: Findings) -> dict[str, dict[str, list[str]]]:
    exact: dict[str, dict[str, list[str]]] = {option: {} for option in CAST_OPTIONS.values()}
    for (source, target, option), variants in findings.of("casts").items():
        if are_exact(variants.get("", ())):
            exact[str(option)].setdefault(str(source), []).append(str(target))
    return exact


# ---- abilities


def abilities(findings: Findings) -> dict[str, bool]:
    """The abilities that an engine was found to lack."""
    tried = findings.of("abilities")
    lacking = {name: False for name in Abilities._fields if not are_fine(tried.get((name,), {}).get("", ()))}
    relations = findings.of("relations")
    told_by_relations = {
        name: False for name, keys in BY_RELATIONS.items() if not all(_is_fine(relations, key) for key in keys)
    }
    return lacking | told_by_relations | ({"emit": False} if _lacks_emit(findings) else {})


BY_RELATIONS = {
    "computed_keys": (("SORT", "expressions"), ("AGGREGATE", "expressions")),
    "join_conditions": tuple(
        ("JOIN", "conditions", tried) for tried in ("turned", "two keys", "no equality", "a key and more")
    ),
}
"""Abilities, and the relations by which they are told."""


def _is_fine(relations: Mapping[tuple[object, ...], Mapping[str, Sequence[Tried]]], key: tuple[str, ...]) -> bool:
    """Whether a relation is exact in a form: of joins an inner one, since engines may lack the others."""
    tried = relations.get(key, {}).get("", ())
    return are_fine([each for each in tried if key[0] != "JOIN" or each.case.about == "INNER"])


def _lacks_emit(findings: Findings) -> bool:
    """Whether a relation that the engine has reads no `emit`, in whatever form its message is."""
    listed = [
        entry if isinstance(entry, str) else entry["relation"] for entry in _variants(findings, "relations", "relation")
    ]
    variants = findings.of("abilities").get(("emit",), {})
    return any(
        not are_fine(variants.get(name, ())) and not are_exact(variants.get(f"old form of {name}", ()))
        for name in listed
    )


# ---- defects


def defects(findings: Findings) -> dict[str, dict[str, str]]:
    """What an engine gets wrong in the forms that it has, by the first case of each kind that shows it."""
    shown = {
        str(name): next((each for each in tried if not each.is_exact), None)
        for (name,), variants in findings.of("defects").items()
        for tried in variants.values()
    }
    return {name: _told(each) for name, each in shown.items() if each is not None}


def _told(tried: Tried) -> dict[str, str]:
    """What shows a defect; of an error as much as is the same in each run, without what an engine made up names of."""
    said = tried.outcome.detail
    end = r"[\"\n]|_\d"
    gives = "; ".join(said.splitlines()[1:]) if tried.outcome.verdict == WRONG else re.split(end, said)[0].strip()
    return {"sql": tried.case.about, "gives": gives}


# ---- functions


def _functions(kind: str, findings: Findings) -> list[Document]:
    """The entries of functions: signatures that are alike in all else are one entry."""
    entries: dict[str, Document] = {}
    for (alias, name, signature, options), variants in findings.of(kind).items():
        metadata = _METADATA[kind](variants)
        if metadata is None:
            continue
        entry: Document = {"source": alias, "name": name, "supported_impls": []}
        if options:
            entry["required_options"] = dict(options)  # type: ignore[call-overload]
        if (most := metadata.pop(MOST, None)) is not None:
            entry["variadic"] = {"max": most}
        if metadata:
            entry["metadata"] = metadata
        entry = entries.setdefault(repr(entry), entry)
        entry["supported_impls"].append(signature)
    return list(entries.values())


def _scalar(variants: Mapping[str, Sequence[Tried]]) -> Document | None:
    metadata: Document = {}
    tried = variants.get("", ())
    kinds = not_for(tried)
    if kinds is None:
        tried = [] if _differs(tried) else variants.get("literals", ())
        kinds = not_for(tried)
        if kinds is None:
            return None
        metadata["literals"] = list(range(1, len(_arguments(tried[0]))))
    if kinds:
        metadata["not_for"] = list(kinds)
    many = variants.get("many", ())
    if many and not are_exact(many):
        metadata[MOST] = len(_arguments(tried[0]))
    if any(each.is_exact and each.outcome.raised for each in tried) and not _states_errors(tried[0]):
        metadata["raises"] = True
    return metadata


def _differs(tried: Sequence[Tried]) -> bool:
    """Whether an engine takes what was tried and has other rows: one literal that is right says nothing of others then."""
    return any(each.outcome.verdict not in (EXACT, REFUSED) for each in tried)


MOST = "most"
"""What stands for the schema's `variadic` until an entry is made."""


def _arguments(tried: Tried) -> list[str]:
    """The arguments of the call that was tried, as its name tells them."""
    return ARGUMENT.findall(tried.case.about)


ARGUMENT = re.compile(r"[^<>,\s][^<>,]*(?:<(?:[^<>]|<[^<>]*>)*>)?")


def _states_errors(tried: Tried) -> bool:
    return "ERROR" in [value for _, value in tried.case.subject.key[3]]


def _aggregate(variants: Mapping[str, Sequence[Tried]]) -> Document | None:
    kinds = not_for(variants.get("", ()))
    if kinds is None or not all(are_fine(variants.get(each, ())) for each in ("of all", "of no row")):
        return None
    metadata: Document = {"not_for": list(kinds)} if kinds else {}
    if not are_exact(variants.get("distinct", ())):
        metadata["distinct"] = False
    if not are_exact(variants.get("sorted", ())):
        metadata["sorts"] = False
    if not are_exact(variants.get("moving window", ())):
        metadata["window"] = "growing" if are_exact(variants.get("window", ())) else False
    return metadata


def are_fine(tried: Sequence[Tried]) -> bool:
    """Whether nothing that was tried is wrong."""
    return all(each.is_exact for each in tried)


def _window(variants: Mapping[str, Sequence[Tried]]) -> Document | None:
    tried = variants.get("", ())
    kinds = not_for(tried)
    metadata: Document = {}
    if kinds is None:
        tried = [] if _differs(tried) else variants.get("literals", ())
        kinds = not_for(tried)
        if kinds is None:
            return None
        metadata["literals"] = list(range(1, len(_arguments(tried[0])))) or [0]
    return metadata | ({"not_for": list(kinds)} if kinds else {})


_METADATA = {"scalar": _scalar, "aggregate": _aggregate, "window": _window}
