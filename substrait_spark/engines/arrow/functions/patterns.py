"""Functions of regular expressions that Rust's engine can't say, or that are in columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..function import PythonFunction, Signature
from .java_matches import JavaPattern, Match, compiled
from .rows import of_rows, of_typed_rows


def rlike(text: str, pattern: str) -> bool:
    """Whether the pattern is found."""
    return compiled(pattern).first(text) is not None


def count(text: str, pattern: str) -> int:
    """How many matches there are."""
    return len(compiled(pattern).all(text))


def position(text: str, pattern: str, _: int) -> int:
    """Where the first match is, from 1; 0 without one."""
    match = compiled(pattern).first(text)
    return 0 if match is None else match.start() + 1


def extract(text: str, pattern: str, group: int) -> str:
    """A group of the first match; empty without one."""
    java = compiled(pattern)
    match = java.first(text)
    if match is None:
        return ""
    java.require_group(group)
    return match[group] or ""


def extract_all(text: str, pattern: str, group: int) -> list[str]:
    """A group of each match."""
    java = compiled(pattern)
    matches = java.all(text)
    if matches:
        java.require_group(group)
    return [match[group] or "" for match in matches]


# ---- replacing

REFERENCE = re.compile(
    r"\\(?P<escaped>.)|\$\{(?P<name>[A-Za-z][A-Za-z0-9]*)\}|\$(?P<digits>[0-9]+)|(?P<text>[^\\$]+)", re.DOTALL
)


@lru_cache(1000)
def replacement(pattern: str, text: str) -> tuple[str | int, ...]:
    """Text, and the numbers of groups. Raises ValueError for what is no replacement."""
    return tuple(_replacement(compiled(pattern), text))


def _replacement(java: JavaPattern, text: str) -> Iterator[str | int]:
    at = 0
    while at < len(text):
        part = REFERENCE.match(text, at)
        if part is None or (part["name"] and part["name"] not in java.names):
            raise ValueError(f"[INVALID_REPLACEMENT] {text} is no replacement for the pattern")
        at = part.end()
        if part["name"]:
            yield java.names[part["name"]]
        elif part["digits"]:
            digits = part["digits"]
            used = 1
            while used < len(digits) and int(digits[: used + 1]) <= java.groups:
                used += 1
            at -= len(digits) - used
            yield int(digits[:used])
        else:
            yield part["escaped"] or part["text"]


def replace(text: str, pattern: str, shown: str, position: int) -> str:
    """The text with all matches from a position on replaced."""
    if position < 1:
        raise ValueError("[INVALID_PARAMETER_VALUE] the position is below 1")
    if position > 1 and text and max(text) > "\uffff":
        raise NotImplementedError("[UNSUPPORTED_TEXT] positions count halves of characters")
    java = compiled(pattern)
    rest = text[position - 1 :]
    if not rest and position > 1:
        return text
    made, at = [text[: position - 1]], 0
    for match in java.all(rest):
        made += [rest[at : match.start()], *_shown(java, match, replacement(pattern, shown))]
        at = match.end()
    return "".join([*made, rest[at:]])


def _shown(java: JavaPattern, match: Match, parts: Sequence[str | int]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, int):
            java.require_group(part)
            yield match[part] or ""
        else:
            yield part


# ---- splitting


def split(text: str, pattern: str, limit: int, *, truncating: bool = False) -> list[str]:
    """The parts around the matches, as java.lang.String.split has them; the empty pattern splits into characters."""
    if text and not pattern:
        return _characters(text, limit, truncating)
    parts: list[str] = []
    at = 0
    for match in compiled(pattern).all(text):
        if limit > 0 and len(parts) == limit - 1:
            break
        if match.end() > 0:
            parts.append(text[at : match.start()])
            at = match.end()
    return [*parts, text[at:]]


def _characters(text: str, limit: int, truncating: bool) -> list[str]:
    if limit <= 0 or limit >= len(text):
        return list(text)
    rest = [] if truncating else [text[limit - 1 :]]
    return [*text[: limit if truncating else limit - 1], *rest]


def _str_to_map(signature: Signature) -> Callable[..., Any]:
    last_wins = dict(signature.options)["duplicate_keys"] == "LAST_WINS"

    def pairs(text: str | None, between: str | None, within: str | None) -> list[tuple[str, str | None]] | None:
        if text is None or between is None or within is None:
            return None
        by_key: dict[str, str | None] = {}
        for pair in split(text, between, -1):
            key, *value = split(pair, within, 2)
            if key in by_key and not last_wins:
                raise ValueError(f"[DUPLICATED_MAP_KEY] {key}")
            by_key[key] = value[0] if value else None
        return list(by_key.items())

    return pairs


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_regexp_count": of_rows(count),
    "spark_regexp_extract": of_rows(extract),
    "spark_regexp_extract_all": of_rows(extract_all),
    "spark_regexp_instr": of_rows(position),
    "spark_regexp_replace": of_rows(replace),
    "spark_rlike": of_rows(rlike),
    "spark_split": of_rows(split),
    "spark_split_truncating": of_rows(lambda text, pattern, limit: split(text, pattern, limit, truncating=True)),
    "spark_str_to_map": of_typed_rows(_str_to_map),
}
