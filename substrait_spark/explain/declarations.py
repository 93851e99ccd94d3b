"""What a plan declares under anchors, functions and types, and the names that they get in its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from ..errors.quotation import declared_name, quoted
from ..errors.quotation import urn as shown_urn

_KINDS = {
    "extension_function": "function_anchor",
    "extension_type": "type_anchor",
    "extension_type_variation": "type_variation_anchor",
}
_TITLES = {"extension_function": "", "extension_type": "type ", "extension_type_variation": "variation "}


class _Declared(NamedTuple):
    kind: str
    anchor: int
    urn: str
    name: str


class Declarations:
    """The names of a plan's functions and types."""

    def __init__(self, plan: Plan | ExtendedExpression) -> None:
        self._urns: dict[int, str] = {}
        for entry in plan.extension_urns:
            self._urns.setdefault(entry.extension_urn_anchor, entry.urn)
        self._declared = [entry for entry in map(self._read, plan.extensions) if entry is not None]
        self._names = {kind: self._named(kind) for kind in _KINDS}

    def _read(self, declaration: Any) -> _Declared | None:
        kind = declaration.WhichOneof("mapping_type")
        if kind is None:
            return None
        entry = getattr(declaration, kind)
        urn = self._urns.get(entry.extension_urn_reference, f"undeclared URN {entry.extension_urn_reference}")
        return _Declared(kind, getattr(entry, _KINDS[kind]), urn, entry.name)

    def _named(self, kind: str) -> dict[int, str]:
        """By anchor, the shortest name that is unambiguous: the simple name, the compound name, with the URN."""
        entries = {entry.anchor: entry for entry in reversed(self._declared) if entry.kind == kind}
        distinct = {(entry.urn, entry.name) for entry in entries.values()}
        simple = Counter(_simple(name) for _, name in distinct)
        compound = Counter(name for _, name in distinct)

        def shortest(entry: _Declared) -> str:
            if simple[_simple(entry.name)] == 1:
                return declared_name(_simple(entry.name))
            name = declared_name(entry.name)
            return name if compound[entry.name] == 1 else f"{self.alias(entry.urn)}.{name}"

        return {anchor: shortest(entry) for anchor, entry in entries.items()}

    def alias(self, urn: str) -> str:
        """A URN's last part where no other URN of the plan ends in it, else the URN."""
        ends = Counter(map(_last_part, set(self._urns.values())))
        last = _last_part(urn)
        return shown_urn(last) if ends[last] == 1 else quoted(urn)

    def function(self, anchor: int) -> str:
        return self._names["extension_function"].get(anchor, f"undeclared_function_{anchor}")

    def type(self, anchor: int) -> str:
        return self._names["extension_type"].get(anchor, f"undeclared_type_{anchor}")

    def variation(self, anchor: int) -> str:
        return self._names["extension_type_variation"].get(anchor, f"undeclared_variation_{anchor}")

    def names(self) -> frozenset[tuple[str, str]]:
        """The name of everything that is declared, and its URN."""
        return frozenset((_titled(entry), shown_urn(entry.urn)) for entry in self._declared)

    def legend(self, *, anchors: bool) -> Iterable[str]:
        """A line for each URN, with what is declared of it; with the numbers of the anchors where they are wanted."""
        entries: dict[str, set[str]] = {urn: set() for urn in self._urns.values()}
        for entry in self._declared:
            number = f" @{entry.anchor}" if anchors else ""
            entries.setdefault(entry.urn, set()).add(f"{_titled(entry)}{number}")
        numbers = {urn: sorted(anchor for anchor, known in self._urns.items() if known == urn) for urn in entries}
        for urn in sorted(entries):
            shown = "".join(f" @{anchor}" for anchor in numbers[urn]) if anchors else ""
            yield f"extension {quoted(urn)}{shown}: {', '.join(sorted(entries[urn])) or 'nothing'}"


def _titled(entry: _Declared) -> str:
    return f"{_TITLES[entry.kind]}{declared_name(entry.name)}"


def _simple(name: str) -> str:
    return name.partition(":")[0]


def _last_part(urn: str) -> str:
    return urn.rpartition(":")[2].removeprefix("functions_")
