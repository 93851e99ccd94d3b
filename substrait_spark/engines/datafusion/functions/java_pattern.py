r"""Java's regular expressions as those of the package `regex`, where both find the same matches.

What Rust's engine can say goes there (`java_regex.py`, whose parser is extended here). Beyond that, here are look-around,
back-references, atomic groups, possessive quantifiers, word boundaries, Unicode's general categories, and anchors anywhere. Refused is
what the two could treat in different ways: repeating what can be empty, groups that only some rounds of a repetition set, classes of
classes, flags within, `\G`, `\R`, `\X`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, NamedTuple

from .java_regex import (
    LAST,
    SURROGATES,
    Anchor,
    Choice,
    Group,
    One,
    Parser,
    Ranges,
    Refused,
    Repeated,
    Series,
    complement,
)

LINE_END = r"(?=(?:\r\n|[\r\x85\u2028\u2029]|(?<!\r)\n)?\Z)"
"""Java's $ without MULTILINE."""

ASCII_WORD = "[0-9A-Z_a-z]"
BOUNDARY = f"(?:(?<={ASCII_WORD})(?!{ASCII_WORD})|(?<!{ASCII_WORD})(?={ASCII_WORD}))"
"""Java's word boundary from 19 on."""

LETTER = r"[\p{L}\p{Nd}]"
IN_WORD = rf"(?<=[_\p{{L}}\p{{Nd}}]|{LETTER}\p{{Mn}}+)"
BEFORE_WORD = rf"(?:(?=[_\p{{L}}\p{{Nd}}])|(?<={LETTER}\p{{Mn}}*)(?=\p{{Mn}}))"
OLD_BOUNDARY = f"(?:{IN_WORD}(?!{BEFORE_WORD})|(?!{IN_WORD}){BEFORE_WORD})"
"""Java's word boundary before 19: letters and digits of Unicode are in words, with the marks upon them."""


@dataclass(frozen=True)
class Around:
    """What must follow, or come before, or must not."""

    ahead: bool
    negated: bool
    part: Any


@dataclass(frozen=True)
class Atomic:
    """What is not tried in another way once it has matched."""

    part: Any


@dataclass(frozen=True)
class Back:
    """What a group has matched, again."""

    number: int


@dataclass(frozen=True)
class Boundary:
    """A word's beginning or end, or no such place."""

    negated: bool


@lru_cache
def category(name: str) -> Ranges:
    """The characters of one of Unicode's general categories, or of a class of them."""
    ranges: Ranges = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1] = (ranges[-1][0], code)
            else:
                ranges.append((code, code))
    return ranges


CATEGORY = r"(?:\{(?:Is)?(L|M|N|P|S|Z|Lu|Ll|Lt|Lm|Lo|Mn|Mc|Me|Nd|Nl|No|Pc|Pd|Ps|Pe|Pi|Pf|Po|Sm|Sc|Sk|So|Zs|Zl|Zp)\}|([LMNPSZ]))"


class ExtendedParser(Parser):
    """Reads a pattern with what Rust's engine hasn't, too. Raises `Refused`."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.closed: set[int] = set()
        """The numbers of the groups that are complete."""
        self.numbers: dict[str, int] = {}
        """The numbers of the groups by their names."""
        self.has_negated_category = False

    def item(self) -> Any:
        part = self.atom()
        if self.peek() not in tuple("*+?{"):
            return part
        if isinstance(part, Anchor | Series | Around | Boundary):
            raise Refused("an anchor or a quotation is repeated")
        least, most = self.quantifier()
        lazy = self.accept("?")
        possessive = not lazy and self.accept("+")
        if self.peek() in tuple("*+?{"):
            raise Refused("a quantifier is quantified")
        if widths(part)[0] == 0:
            raise Refused("what can be empty is repeated")
        if most == 0:
            raise Refused("something is repeated 0 times")
        if possessive and least > 1 and not isinstance(part, One):
            raise Refused("a group is repeated possessively, more than once")
        repeated = Repeated(part, least, most, lazy)
        return Atomic(repeated) if possessive else repeated

    def atom(self) -> Any:
        if self.peek() == "\\":
            digits = self.take(r"\\([1-9][0-9]*)")
            if digits:
                return self.reference(digits[1])
            name = self.take(r"\\k<([A-Za-z][A-Za-z0-9]*)>")
            if name:
                return self.back(self.numbers.get(name[1], 0))
            boundary = self.take(r"\\([bB])(?!\{)")
            if boundary:
                return Boundary(boundary[1] == "B")
        return super().atom()

    def reference(self, digits: str) -> Any:
        """A group by its number, which has as many digits as there are such groups; the rest is text."""
        count = 1
        while count < len(digits) and int(digits[: count + 1]) <= self.groups:
            count += 1
        self.position -= len(digits) - count
        return self.back(int(digits[:count]))

    def back(self, number: int) -> Back:
        if number not in self.closed or self.any_case:
            raise Refused("a back-reference is to a group that is not complete, or in another case")
        return Back(number)

    def group(self) -> Any:
        around = self.take(r"\?(<?)([=!])")
        if around is None and not self.accept("?>"):
            before = self.groups
            part: Any = super().group()
            if part.number is not None:
                self.closed.add(before + 1)
                if len(self.names) > len(self.numbers):
                    self.numbers[self.names[-1]] = before + 1
            return part
        groups = self.groups
        self.depth += 1
        part = self.choice()
        self.depth -= 1
        if not self.accept(")"):
            raise Refused("a group is not closed")
        if around is None:
            return Atomic(part)
        if self.groups > groups and (around[1] or around[2] == "!"):
            raise Refused("a group captures in what must not follow, or come before")
        if around[1] and widths(part)[1] is None:
            raise Refused("what must come before has no greatest length")
        if around[1] and any(isinstance(each, Atomic) for each in all_parts(part)):
            raise Refused("what must come before is atomic, which is read from its end elsewhere")
        return Around(not around[1], around[2] == "!", part)

    def posix(self, negated: bool) -> Ranges:
        name = self.take(CATEGORY)
        if name is None or self.any_case:
            return super().posix(negated)
        self.has_negated_category |= negated
        ranges = category(name[1] or name[2])
        return complement(ranges) if negated else ranges


Widths = tuple[int, "int | None"]
NOTHING: Widths = (0, 0)


def widths(part: Any) -> Widths:
    """How many characters a part matches at least and at most."""
    if isinstance(part, One):
        return 1, 1
    if isinstance(part, Anchor | Around | Boundary):
        return 0, 0
    if isinstance(part, Back):
        return 0, None
    if isinstance(part, Series):
        return reduce(_added, map(widths, part.parts), NOTHING)
    if isinstance(part, Choice):
        each = [widths(branch) for branch in part.parts]
        most = [most for _, most in each]
        return min(least for least, _ in each), None if None in most else max(m for m in most if m is not None)
    least, most_ = widths(part.part)
    if isinstance(part, Repeated):
        return least * part.least, None if most_ is None or part.most is None else most_ * part.most
    return least, most_


def _added(left: Widths, right: Widths) -> Widths:
    return left[0] + right[0], None if left[1] is None or right[1] is None else left[1] + right[1]


def hazy_groups(part: Any, repeated: bool = False, hazy: bool = False) -> Iterator[int]:
    """The groups whose text isn't the same everywhere.

    Only some rounds of a repetition set them; or they are in what is looked at, or matched once and for all, where Java leaves them
    set though what follows then fails.
    """
    if isinstance(part, Series):
        for each in part.parts:
            yield from hazy_groups(each, repeated, hazy)
    elif isinstance(part, Choice):
        for each in part.parts:
            yield from hazy_groups(each, repeated, hazy or repeated)
    elif isinstance(part, Repeated):
        again = part.most is None or part.most > 1
        yield from hazy_groups(part.part, repeated or again, hazy or (repeated and part.least == 0))
    elif isinstance(part, Around | Atomic):
        yield from hazy_groups(part.part, repeated, hazy=True)
    elif isinstance(part, Group):
        if part.number is not None and hazy:
            yield part.number
        yield from hazy_groups(part.part, repeated, hazy)


def all_parts(part: Any) -> Iterator[Any]:
    """A part and all in it."""
    yield part
    within = part.parts if isinstance(part, Series | Choice) else ()
    if isinstance(part, Group | Around | Atomic | Repeated):
        within = (part.part,)
    for each in within:
        yield from all_parts(each)


# ---- the syntax of `regex`


ANCHORS = {"start": r"\A", "end": r"\Z", "line end": LINE_END}


def _written(part: Any, boundary: str) -> str:
    if isinstance(part, One):
        return _set(part.ranges)
    if isinstance(part, Anchor):
        return ANCHORS[part.where]
    if isinstance(part, Boundary):
        return f"(?!{boundary})" if part.negated else boundary
    if isinstance(part, Back):
        return f"(?:\\{part.number})"
    if isinstance(part, Series | Choice):
        return ("" if isinstance(part, Series) else "|").join(_written(each, boundary) for each in part.parts)
    within = _written(part.part, boundary)
    if isinstance(part, Repeated):
        most = "" if part.most is None else part.most
        return f"{within}{{{part.least},{most}}}{'?' if part.lazy else ''}"
    return f"({_kind(part)}{within})"


def _kind(group: Any) -> str:
    if isinstance(group, Group):
        return "?:" if group.number is None else ""
    if isinstance(group, Atomic):
        return "?>"
    return f"?{'' if group.ahead else '<'}{'!' if group.negated else '='}"


def _set(ranges: Ranges) -> str:
    if any(SURROGATES[0] <= code <= SURROGATES[1] for bounds in ranges for code in bounds):
        raise Refused("a class has surrogates in it")
    if not ranges:
        raise Refused("a class is empty")
    if ranges == [(0, LAST)]:
        return "(?s:.)"
    return (
        "[" + "".join(f"\\U{low:08X}" if low == high else f"\\U{low:08X}-\\U{high:08X}" for low, high in ranges) + "]"
    )


# ---- patterns


class Translated(NamedTuple):
    """A pattern in the syntax of `regex`, and what is known of it."""

    text: str
    before_19: str | None
    """With the word boundaries that Java had before 19, if it has any."""
    groups: int
    names: Mapping[str, int]
    hazy: frozenset[int]
    """The groups whose text isn't known."""
    can_be_empty: bool
    by_characters: bool
    """Whether what matches from the second half of a character on matches from the first, too: Java tries both."""


@lru_cache(1000)
def translated(pattern: str) -> Translated:
    """A pattern of Java's. Raises `Refused`."""
    parser = ExtendedParser(pattern)
    part = parser.parse()
    parts = list(all_parts(part))
    hazy = frozenset(hazy_groups(part))
    if any(isinstance(each, Back) and each.number in hazy for each in parts):
        raise Refused("a back-reference is to a group whose text depends on the engine")
    boundaries = [each for each in parts if isinstance(each, Boundary)]
    before = any(isinstance(each, Around) and not each.ahead for each in parts)
    return Translated(
        _written(part, BOUNDARY),
        _written(part, OLD_BOUNDARY) if boundaries else None,
        parser.groups,
        parser.numbers,
        hazy,
        widths(part)[0] == 0,
        not before and not parser.has_negated_category and not any(each.negated for each in boundaries),
    )
