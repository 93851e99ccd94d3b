"""What Java's regular expressions find in texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import regex

from ...datafusion.functions.java_pattern import Translated, translated
from ...datafusion.functions.java_regex import Refused

Match = regex.Match[str]


class JavaPattern:
    """A pattern of Java's: what it finds in a text."""

    def __init__(self, pattern: Translated) -> None:
        self.groups, self.names = pattern.groups, pattern.names
        self._hazy, self._of_first = pattern.hazy, pattern.by_characters
        self._of_all = pattern.by_characters and not pattern.can_be_empty
        self._program = regex.compile(pattern.text, regex.V0)
        self._before_19 = None if pattern.before_19 is None else regex.compile(pattern.before_19, regex.V0)

    def all(self, text: str) -> Sequence[Match]:
        """All matches: the next is looked for where the last one ended, a character further if that was empty."""
        return self._in_each_java(text, self._of_all, lambda program: list(_all(program, text)))

    def first(self, text: str) -> Match | None:
        """The first match."""
        matches = self._in_each_java(text, self._of_first, lambda program: list(islice(_all(program, text), 1)))
        return matches[0] if matches else None

    def require_group(self, number: int) -> None:
        """Raise for a group that the pattern hasn't, or whose text isn't known."""
        if not 0 <= number <= self.groups:
            raise ValueError(f"[INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX] the pattern has no group {number}")
        if number in self._hazy:
            raise NotImplementedError("[UNSUPPORTED_PATTERN] what the group has then depends on the engine")

    def _in_each_java(
        self, text: str, by_characters: bool, matches: Callable[[regex.Pattern[str]], Sequence[Match]]
    ) -> Sequence[Match]:
        """The matches, where all releases of Java have the same."""
        if text.isascii():
            return matches(self._program)
        if not by_characters and max(text) > "\uffff":
            raise NotImplementedError("[UNSUPPORTED_TEXT] the pattern may match between the halves of a character")
        today = matches(self._program)
        if self._before_19 is not None and _places(today) != _places(matches(self._before_19)):
            raise NotImplementedError("[UNSUPPORTED_TEXT] what is a word here depends on the Java version")
        return today


def _places(matches: Sequence[Match]) -> list[Any]:
    return [match.regs for match in matches]


def _all(program: regex.Pattern[str], text: str) -> Iterator[Match]:
    at = 0
    while at <= len(text) and (match := program.search(text, at)):
        yield match
        at = match.end() + (match.start() == match.end())


@lru_cache(1000)
def compiled(pattern: str) -> JavaPattern:
    """A pattern as it is used. Raises NotImplementedError for one that is refused."""
    try:
        return JavaPattern(translated(pattern))
    except Refused as problem:
        raise NotImplementedError(f"[UNSUPPORTED_PATTERN] {pattern}: {problem}") from problem
