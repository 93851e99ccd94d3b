"""Dialects that extend another: `metadata.extends` names it, `metadata.without` what of its lists they take away.

What the dialect lists itself comes behind the other's lists, or in the place of an entry of the same name; functions have no such
names, and are taken away first. Abilities, dependencies and defects are the other's, and the dialect's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..errors import DialectError
from ..extensions import registry

NAMED = {"types": "type", "relations": "relation", "expressions": "expression"}
"""The lists whose entries have a name, and under which key."""

TAKEN_AWAY = (*NAMED, "functions", "defects")
"""What `without` may list."""

Document = dict[str, Any]


def extended(base: Mapping[str, Any], own: Mapping[str, Any], origin: str) -> Document:
    """The document of a dialect that extends another's. Raises DialectError where `without` names what the other lacks."""
    metadata = dict(own.get("metadata") or {})
    without = metadata.pop("without", None) or {}
    metadata.pop("extends")
    _require_lists(without, origin)
    found: Document = {"name": own.get("name") or base.get("name"), **_maps(base, own)}
    known = dict(base.get("metadata") or {})
    defects = {**(known.get("defects") or {}), **(metadata.get("defects") or {})}
    abilities = {**(known.get("abilities") or {}), **(metadata.get("abilities") or {})}
    kept = {key: value for key, value in known.items() if key != "extensions"}
    found["metadata"] = {**kept, **metadata, "abilities": abilities, "defects": _left(defects, without, origin)}
    for section, key in NAMED.items():
        name = f"supported_{section}"
        found[name] = _entries(base.get(name) or [], own.get(name) or [], key, without.get(section, []), origin)
    sections = [f"supported_{section}" for section in registry.KINDS.values()]
    gone = without.get("functions", [])
    listed = [_function(entry) for section in sections for entry in base.get(section) or []]
    _require_known([each for each in gone if not any(fnmatchcase(name, each) for name in listed)], "functions", origin)
    for section in sections:
        entries = base.get(section) or []
        stay = [entry for entry in entries if not any(fnmatchcase(_function(entry), each) for each in gone)]
        found[section] = [*stay, *(own.get(section) or [])]
    for name, value in found.items():
        if name.startswith("supported_") and base.get(name) and not value:
            raise DialectError(
                f"{origin}: metadata.without leaves nothing of {name}, which would stand for all that there is."
            )
    return {key: value for key, value in found.items() if value}


def _maps(base: Mapping[str, Any], own: Mapping[str, Any]) -> Document:
    behaviour = "supported_execution_behavior"
    return {
        "dependencies": {**(base.get("dependencies") or {}), **(own.get("dependencies") or {})},
        behaviour: own.get(behaviour) or base.get(behaviour),
    }


def _require_lists(without: Any, origin: str) -> None:
    if not isinstance(without, dict) or not set(without) <= set(TAKEN_AWAY):
        raise DialectError(f"{origin}: metadata.without may list {', '.join(TAKEN_AWAY)}.")
    for key, value in without.items():
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise DialectError(f"{origin}: metadata.without.{key} is no list of texts.")


def _left(defects: Mapping[str, Any], without: Mapping[str, Sequence[str]], origin: str) -> dict[str, Any]:
    gone = without.get("defects", [])
    _require_known([name for name in gone if name not in defects], "defects", origin)
    return {name: entry for name, entry in defects.items() if name not in gone}


def _entries(base: Sequence[Any], own: Sequence[Any], key: str, gone: Sequence[str], origin: str) -> list[Any]:
    """The entries of a list: those of the other, without some, and with those of the dialect in the place of their namesakes."""
    names = [_name(entry, key) for entry in base]
    _require_known([name for name in gone if name not in names], f"{key}s", origin)
    mine = {_name(entry, key): entry for entry in own}
    found = [mine.pop(name, entry) for name, entry in zip(names, base, strict=True) if name not in gone]
    return [*found, *mine.values()]


def _name(entry: Any, key: str) -> str:
    return entry if isinstance(entry, str) else str(entry[key])


def _function(entry: Mapping[str, Any]) -> str:
    """What `without` calls the entry of a function, or many with an asterisk: `comparison:lt`, `boolean:*`."""
    return f"{entry['source']}:{entry['name']}"


def _require_known(unknown: Sequence[str], noun: str, origin: str) -> None:
    if unknown:
        raise DialectError(
            f"{origin}: metadata.without.{noun} names {unknown[0]!r}, which the dialect that it extends lacks."
        )
