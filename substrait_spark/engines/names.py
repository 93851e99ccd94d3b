"""Names of tables and columns that a plan asks for, among those that there are: others' plans have them in upper case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def found(name: str, among: Iterable[str], wanted: Iterable[str] = ()) -> str | None:
    """The name itself, or else the only one that differs in case, if none of all `wanted` names does; None where there is none."""
    names = list(among)
    if name in names:
        return name
    similar = [each for each in names if _are_alike(each, name)]
    others = [each for each in wanted if each != name and _are_alike(each, name)]
    return similar[0] if len(similar) == 1 and not others else None


def _are_alike(name: str, other: str) -> bool:
    return name.lower() == other.lower()


def table_name(parts: Sequence[str], given: Iterable[str]) -> str | None:
    """By which name a table was given: its dotted full name, or its last part; exactly, or else but for case."""
    names = list(given)
    full, last = ".".join(parts), parts[-1]
    exact = next((name for name in (full, last) if name in names), None)
    return exact or found(full, names) or found(last, names)
