"""What a dialect lists, one line for each thing, so that two dialects can be compared: what is written with what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...dialects.dialect import CAST_OPTIONS
from ...extensions import registry

Document = Mapping[str, Any]


class Differences(NamedTuple):
    """What one of two dialects lists and the other doesn't."""

    only_listed: tuple[str, ...]
    only_measured: tuple[str, ...]


def differences(listed: Document, measured: Document) -> Differences:
    """What only one of the two lists, of the functions that can be measured: those of the standard's files and of Spark's."""
    written, found = tuple(things(listed)), tuple(things(measured))
    return Differences(
        tuple(each for each in written if each not in set(found)),
        tuple(each for each in found if each not in set(written)),
    )


def things(document: Document) -> Iterator[str]:
    """What a dialect lists: `types I8`, `relations JOIN INNER`, `casts i8 string THROW_EXCEPTION`, `scalar arithmetic add i8_i8`, …"""
    yield from _types(document)
    for section, noun in (("relations", "relation"), ("expressions", "expression")):
        yield from _variants(section, noun, document.get(f"supported_{section}") or ())
    yield from _casts(document.get("supported_expressions") or ())
    for name, has in sorted((document.get("metadata", {}).get("abilities") or {}).items()):
        if not has:
            yield f"abilities no {name}"
    yield from (f"defects {name}" for name in sorted(document.get("metadata", {}).get("defects") or ()))
    yield from _functions(document)


def _types(document: Document) -> Iterator[str]:
    for entry in document.get("supported_types") or ():
        kind = entry if isinstance(entry, str) else entry["type"]
        only_in_columns = not isinstance(entry, str) and (entry.get("metadata") or {}).get("only_as_column")
        yield f"types {kind} in columns only" if only_in_columns else f"types {kind}"


def _variants(section: str, noun: str, entries: Any) -> Iterator[str]:
    for entry in entries:
        name = entry if isinstance(entry, str) else entry[noun]
        variants = [] if isinstance(entry, str) else [each for each in entry.values() if isinstance(each, list)]
        yield from (f"{section} {name} {variant}" for some in variants for variant in some)
        if not variants:
            yield f"{section} {name}"


def _casts(expressions: Any) -> Iterator[str]:
    for entry in expressions:
        if isinstance(entry, dict) and entry["expression"] == "CAST":
            exact = (entry.get("metadata") or {}).get("exact") or {}
            for option in CAST_OPTIONS.values():
                for source, targets in (exact.get(option) or {}).items():
                    # A cast to its own type is no cast, but for decimals of other digits.
                    others = [target for target in targets if target != source or source == "decimal"]
                    yield from (f"casts {source} {target} {option}" for target in others)


class Function(NamedTuple):
    """A function that a dialect lists with one of its signatures: of the standard's files, or of Spark's."""

    kind: str
    alias: str
    name: str
    signature: str
    options: tuple[tuple[str, str], ...]
    """Those that a call must state."""
    metadata: Mapping[str, Any]


def functions(document: Document) -> Iterator[Function]:
    """The functions that a dialect lists, but for an engine's own, which no one else knows."""
    aliases = {registry.urn(alias): alias for alias in registry.CANONICAL}
    for kind, section in registry.KINDS.items():
        for entry in document.get(f"supported_{section}") or ():
            alias = aliases.get(document["dependencies"][entry["source"]])
            options = tuple(sorted((entry.get("required_options") or {}).items()))
            for signature in entry["supported_impls"] if alias else ():
                yield Function(kind, str(alias), entry["name"], signature, options, entry.get("metadata") or {})


def _functions(document: Document) -> Iterator[str]:
    for function in functions(document):
        options = "".join(f" {name}={value}" for name, value in function.options)
        said = " ".join(filter(None, (function.kind, function.alias, function.name, function.signature))) + options
        yield said
        yield from (f"{said}: {each}" for each in _ways(function.kind, function.metadata))


def _ways(kind: str, metadata: Mapping[str, Any]) -> Iterator[str]:
    """In which ways a function is called, or not."""
    if kind == "aggregate":
        window = metadata.get("window", "any")
        has = {
            "of distinct values": metadata.get("distinct", True),
            "with an order": metadata.get("sorts", True),
            "over windows": bool(window),
            "over windows that lose rows": window not in ("growing", False),
        }
        yield from (way for way, can in has.items() if can)
    elif literals := metadata.get("literals"):
        yield f"literals at {', '.join(map(str, literals))}"
    if lacking := metadata.get("not_for"):
        yield f"not for {', '.join(lacking)}"
