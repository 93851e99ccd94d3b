r"""Java's regular expressions in Rust's syntax, where both find the same matches in every text.

Spark's patterns are java.util.regex patterns without flags. What the two dialects could treat in different ways is
refused: look-around, backreferences, possessive quantifiers, word boundaries, Unicode classes, nested classes, anchors
other than at the ends, quantifiers over what can be empty. Every class is written out as ranges of code points, so that
no flag of the other engine matters. Accepted are alternation, groups, a leading `(?i)`, `(?s)` or `(?is)`, greedy and
lazy quantifiers, literals, `.`, simple classes, the usual escapes, `\Q…\E`, the ASCII classes `\p{Alpha}`…; `^` and
`\A` at the beginning, `$`, `\Z` and `\z` at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....errors import NotInDialect

Ranges = list[tuple[int, int]]
"""A set of characters: ranges of code points, in order, that neither meet nor touch."""

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
LINE_ENDS: Ranges = [(10, 10), (13, 13), (0x85, 0x85), (0x2028, 0x2029)]
"""What '.' excludes, and what may follow '$', in Java."""
END_OF_LINE = r"(?:\x{0D}\x{0A}|[\x{0A}\x{0D}\x{85}\x{2028}\x{2029}])?\z"
LARGEST = 400
"""How many characters a pattern may stand for: engines limit the size of what they compile it to."""
DEEPEST = 50
"""How deep groups may be nested."""


class Refused(NotInDialect):
    """A pattern that might mean something else to the other engine."""


WORD_BOUNDARY = (
    r"To find or extract ASCII words, look for \W around them in the text between blanks, as in "
    r"concat(' ', x, ' ') RLIKE '\\Wword\\W'."
)
"""What to do without word boundaries."""


# ---- sets of characters


def united(ranges: Ranges) -> Ranges:
    merged: Ranges = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def complement(ranges: Ranges) -> Ranges:
    outside, start = [], 0
    for low, high in united(ranges):
        if low > start:
            outside.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        outside.append((start, LAST))
    return outside


def overlap(left: Ranges, right: Ranges) -> bool:
    return any(a <= high and b >= low for low, high in left for a, b in right)


def in_both_cases(ranges: Ranges) -> Ranges:
    """With the other case of ASCII letters, which is all that Java's `(?i)` means."""
    both = list(ranges)
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            start, end = max(low, first), min(high, last)
            if start <= end:
                both.append((start + shift, end + shift))
    return united(both)


DIGIT: Ranges = [(48, 57)]
WORD: Ranges = [(48, 57), (65, 90), (95, 95), (97, 122)]
SPACE: Ranges = [(9, 13), (32, 32)]
CLASSES = {
    "d": DIGIT,
    "w": WORD,
    "s": SPACE,
    "D": complement(DIGIT),
    "W": complement(WORD),
    "S": complement(SPACE),
}
POSIX: dict[str, Ranges] = {
    "Lower": [(97, 122)],
    "Upper": [(65, 90)],
    "ASCII": [(0, 127)],
    "Alpha": [(65, 90), (97, 122)],
    "Digit": DIGIT,
    "Alnum": [(48, 57), (65, 90), (97, 122)],
    "Punct": [(33, 47), (58, 64), (91, 96), (123, 126)],
    "Graph": [(33, 126)],
    "Print": [(32, 126)],
    "Blank": [(9, 9), (32, 32)],
    "Cntrl": [(0, 31), (127, 127)],
    "XDigit": [(48, 57), (65, 70), (97, 102)],
    "Space": SPACE,
}
CONTROLS = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}


# ---- what a pattern consists of


@dataclass(frozen=True)
class One:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True)
class Anchor:
    """`start`, `end` or `line end`: the end, or before a line terminator at the end."""

    where: str


@dataclass(frozen=True)
class Series:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Group:
    """A group; `number` is None where it doesn't capture."""

    number: int | None
    part: Part


@dataclass(frozen=True)
class Repeated:
    part: Part
    least: int
    most: int | None
    lazy: bool


Part = One | Anchor | Series | Choice | Group | Repeated


class Parser:
    """Reads a pattern. Raises `Refused` for what is not accepted, and for what is no pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.groups = 0
        self.depth = 0
        self.names: list[str] = []
        self.any_case = self.dot_all = False
        if any(SURROGATES[0] <= ord(c) <= SURROGATES[1] for c in pattern):
            raise Refused("the pattern has an unpaired surrogate")
        flags = self.take(r"\(\?(i|s|is|si)\)")
        if flags:
            self.any_case, self.dot_all = "i" in flags[1], "s" in flags[1]

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def next(self) -> str:
        self.position += 1
        return self.pattern[self.position - 1]

    def accept(self, text: str) -> bool:
        is_next = self.pattern.startswith(text, self.position)
        if is_next:
            self.position += len(text)
        return is_next

    def take(self, expression: str) -> re.Match[str] | None:
        match = re.compile(expression).match(self.pattern, self.position)
        if match:
            self.position = match.end()
        return match

    def parse(self) -> Part:
        part = self.choice()
        if self.peek():
            raise Refused("a group is closed that is not open")
        return part

    def choice(self) -> Part:
        parts = [self.sequence()]
        while self.accept("|"):
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Part:
        parts: list[Part] = []
        while self.peek() not in ("", "|", ")"):
            part = self.item()
            parts += part.parts if isinstance(part, Series) else (part,)
        return Series(tuple(parts))

    def item(self) -> Part:
        part = self.atom()
        if self.peek() not in tuple("*+?{"):
            return part
        if isinstance(part, Anchor | Series):
            raise Refused("an anchor or a quotation is repeated")
        least, most = self.quantifier()
        lazy = self.accept("?")
        if not lazy and self.peek() == "+":
            raise Refused("a quantifier is possessive")
        if self.peek() in tuple("*+?{"):
            raise Refused("a quantifier is quantified")
        if can_be_empty(part):
            raise Refused("what can be empty is repeated")
        if most == 0:
            raise Refused("something is repeated 0 times")
        return Repeated(part, least, most, lazy)

    def quantifier(self) -> tuple[int, int | None]:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self.peek())
        if simple:
            self.position += 1
            return simple
        match = self.take(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}")
        if not match:
            raise Refused("a brace is no quantifier")
        least = int(match[1])
        most = least if match[2] is None else int(match[3]) if match[3] else None
        if most is not None and most < least:
            raise Refused("a quantifier's bounds are reversed")
        return least, most

    def atom(self) -> Part:
        c = self.next()
        if c == "(":
            return self.group()
        if c == "[":
            return One(self.bracket())
        if c == ".":
            return One([(0, LAST)] if self.dot_all else complement(LINE_ENDS))
        if c in "^$":
            return Anchor("start" if c == "^" else "line end")
        if c in "*+?{":
            raise Refused("a quantifier has nothing to repeat")
        if c != "\\":
            return self.character(ord(c))
        if self.accept("Q"):
            return self.quotation()
        anchor = {"A": "start", "Z": "line end", "z": "end"}.get(self.peek())
        if anchor:
            self.position += 1
            return Anchor(anchor)
        escaped = self.escape()
        return self.character(escaped) if isinstance(escaped, int) else One(escaped)

    def character(self, code: int) -> One:
        return One(in_both_cases([(code, code)]) if self.any_case else [(code, code)])

    def group(self) -> Part:
        number = None
        if not self.accept("?:"):
            self.groups += 1
            number = self.groups
            if self.peek() == "?":
                name = self.take(r"\?<([A-Za-z][A-Za-z0-9]*)>")
                if not name or name[1] in self.names:
                    raise Refused("a group looks around, or sets flags")
                self.names.append(name[1])
        self.depth += 1
        if self.depth > DEEPEST:
            raise Refused("its groups are nested too deep")
        part = self.choice()
        self.depth -= 1
        if not self.accept(")"):
            raise Refused("a group is not closed")
        return Group(number, part)

    def quotation(self) -> Part:
        text, _, rest = self.pattern[self.position :].partition("\\E")
        self.position = len(self.pattern) - len(rest)
        if not text:
            raise Refused("a quotation is empty")
        parts = tuple(self.character(ord(c)) for c in text)
        return parts[0] if len(parts) == 1 else Series(parts)

    def escape(self) -> Ranges | int:
        """What a backslash is followed by: a class, or the code of a character."""
        if not self.peek():
            raise Refused("a backslash ends the pattern")
        c = self.next()
        if c in CLASSES:
            return CLASSES[c]
        if c in "pP":
            return self.posix(negated=c == "P")
        if c in CONTROLS:
            return CONTROLS[c]
        if c in "xu":
            return self.hexadecimal(c)
        if c == "0":
            octal = self.take("[0-3][0-7][0-7]|[0-7]{1,2}")
            if not octal:
                raise Refused("an octal escape has no digits")
            return int(octal[0], 8)
        if c.isascii() and not c.isalnum():
            return ord(c)
        if c in "bB":
            raise Refused(f"what the word boundary \\{c} takes for a word depends on the Java version", WORD_BOUNDARY)
        raise Refused(f"the escape \\{c} is not known")

    def posix(self, negated: bool) -> Ranges:
        name = self.take(r"\{([A-Za-z]+)\}")
        if not name or name[1] not in POSIX or self.any_case:
            raise Refused("a Unicode class is used")
        return complement(POSIX[name[1]]) if negated else POSIX[name[1]]

    def hexadecimal(self, kind: str) -> int:
        digits = self.take(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\}" if kind == "x" else r"([0-9A-Fa-f]{4})")
        if not digits:
            raise Refused(f"the escape \\{kind} is not known")
        code = int(digits[digits.lastindex or 0], 16)
        if code > LAST or SURROGATES[0] <= code <= SURROGATES[1]:
            raise Refused("an escape is no character")
        return code

    def bracket(self) -> Ranges:
        """A class in brackets, behind the opening one."""
        negated = self.accept("^")
        if self.peek() == "]":
            raise Refused("a class begins with a bracket")
        members: Ranges = []
        first = True
        while not self.accept("]"):
            members += self.member(first)
            first = False
        ranges = in_both_cases(united(members)) if self.any_case else united(members)
        return complement(ranges) if negated else ranges

    def member(self, first: bool) -> Ranges:
        """A character, a range or a class inside brackets."""
        c = self.peek()
        if c == "":
            raise Refused("a class is not closed")
        if c in "[^" or self.pattern.startswith("&&", self.position):
            raise Refused("a class is made of classes")
        following = self.pattern[self.position + 1 : self.position + 2]
        if c == "-" and (first == (following == "]") or (first and following == "-")):
            raise Refused("a hyphen stands where its meaning is not plain")
        self.position += 1
        low: Ranges | int = self.escape() if c == "\\" else ord(c)
        following = self.pattern[self.position + 1 : self.position + 2]
        ranged = self.peek() == "-" and following not in ("]", "")
        if not isinstance(low, int):
            if self.peek() == "-" and following != "]":
                raise Refused("a hyphen follows a class")
            return low
        return [(low, self.end_of_range(low))] if ranged else [(low, low)]

    def end_of_range(self, low: int) -> int:
        self.position += 1
        c = self.next()
        if c in "[&^-":
            raise Refused("the end of a range is not plain")
        high = self.escape() if c == "\\" else ord(c)
        if not isinstance(high, int) or high < low:
            raise Refused("the end of a range is no later character")
        return high


# ---- what is known of a pattern


def can_be_empty(part: Part) -> bool:
    """Whether a part can match the empty string."""
    if isinstance(part, One):
        return False
    if isinstance(part, Anchor):
        return True
    if isinstance(part, Series):
        return all(map(can_be_empty, part.parts))
    if isinstance(part, Choice):
        return any(map(can_be_empty, part.parts))
    return can_be_empty(part.part) or (isinstance(part, Repeated) and part.least == 0)


def ends(part: Part, last: bool) -> Ranges:
    """The characters that a match of a part can begin with, or end with."""
    if isinstance(part, One):
        return part.ranges
    if isinstance(part, Anchor):
        return []
    if isinstance(part, Series):
        characters: Ranges = []
        for each in reversed(part.parts) if last else part.parts:
            characters = characters + ends(each, last)
            if not can_be_empty(each):
                break
        return united(characters)
    if isinstance(part, Choice):
        return united([bounds for each in part.parts for bounds in ends(each, last)])
    return ends(part.part, last)


def has_anchors(part: Part) -> bool:
    if isinstance(part, Series | Choice):
        return any(map(has_anchors, part.parts))
    if isinstance(part, Group | Repeated):
        return has_anchors(part.part)
    return isinstance(part, Anchor)


def size(part: Part) -> int:
    """About how many characters a part stands for when its quantifiers are written out."""
    if isinstance(part, Series | Choice):
        return sum(map(size, part.parts)) + 1
    if isinstance(part, Group):
        return size(part.part)
    if isinstance(part, Repeated):
        return size(part.part) * max(part.least, part.most or 1, 1) + 1
    return 1


def is_repeated(part: Part, group: int, inside: bool = False) -> bool:
    """Whether a capturing group can take part in a match several times."""
    if isinstance(part, Group):
        return inside if part.number == group else is_repeated(part.part, group, inside)
    if isinstance(part, Series | Choice):
        return any(is_repeated(each, group, inside) for each in part.parts)
    if isinstance(part, Repeated):
        return is_repeated(part.part, group, inside or part.most is None or part.most > 1)
    return False


# ---- writing Rust's syntax


def write(part: Part, captured: Sequence[int] = ()) -> str:
    """A part in Rust's syntax; of its groups, only these capture."""
    if isinstance(part, One):
        return _set(part.ranges)
    if isinstance(part, Anchor):
        return {"start": "^", "end": r"\z"}[part.where]
    if isinstance(part, Series):
        return "".join(write(each, captured) for each in part.parts)
    if isinstance(part, Choice):
        return "|".join(write(each, captured) for each in part.parts)
    if isinstance(part, Group):
        return ("(" if part.number in captured else "(?:") + write(part.part, captured) + ")"
    return write(part.part, captured) + _quantifier(part)


def _set(ranges: Ranges) -> str:
    if any(SURROGATES[0] <= code <= SURROGATES[1] for bounds in ranges for code in bounds):
        raise Refused("a class has surrogates in it")
    if ranges == [(0, LAST)]:
        return "(?s:.)"
    if not ranges:
        raise Refused("a class is empty")
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _character(ranges[0][0])
    return "[" + "".join(_character(a) if a == b else f"{_character(a)}-{_character(b)}" for a, b in ranges) + "]"


def _character(code: int) -> str:
    character = chr(code)
    return character if character.isascii() and character.isalnum() else f"\\x{{{code:02X}}}"


def _quantifier(part: Repeated) -> str:
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((part.least, part.most))
    if simple is None:
        most = "" if part.most is None else str(part.most)
        simple = f"{{{part.least}}}" if part.least == part.most else f"{{{part.least},{most}}}"
    return simple + ("?" if part.lazy else "")


# ---- whole patterns


class Anchored(NamedTuple):
    """A pattern, or a branch of one: whether it must begin at the start, its body, and where it must end."""

    start: str
    body: Part
    end: str

    def write(self, captured: Sequence[int] = ()) -> str:
        return self.start + write(self.body, captured) + TAILS[self.end]


TAILS = {"": "", "line end": END_OF_LINE, "end": r"\z"}


def parse(pattern: str) -> tuple[Parser, Part]:
    parser = Parser(pattern)
    part = parser.parse()
    if size(part) > LARGEST:
        raise Refused("the pattern is too long")
    return parser, part


def anchored(part: Part, several: bool) -> Anchored:
    """A pattern whose anchors are at its ends, to be found once in a text or several times."""
    parts = part.parts if isinstance(part, Series) else (part,)
    start = end = ""
    if parts and parts[0] == Anchor("start"):
        start, parts = "^", parts[1:]
    if parts and isinstance(parts[-1], Anchor) and parts[-1].where != "start":
        end, parts = parts[-1].where, parts[:-1]
    body = Series(parts)
    if has_anchors(body):
        raise Refused("an anchor stands within the pattern")
    if end == "line end":
        if overlap(ends(body, last=True), [(13, 13)]):
            raise Refused("$ follows what can be a carriage return")
        if several and (can_be_empty(body) or overlap(ends(body, last=False), LINE_ENDS)):
            raise Refused("a match before the final line end could overlap another")
    return Anchored(start, body, end)


def anchored_whole(part: Part, several: bool) -> Anchored:
    """As `anchored`; alternatives at the top must have no anchors."""
    if not isinstance(part, Choice):
        return anchored(part, several)
    if has_anchors(part):
        raise Refused("alternatives are anchored")
    return Anchored("", Group(None, part), "")


def search(pattern: str) -> str:
    """The pattern for telling whether a text has a match."""
    _, part = parse(pattern)
    branches = part.parts if isinstance(part, Choice) else (part,)
    return "|".join(anchored(branch, several=False).write() for branch in branches)


def every(pattern: str) -> str:
    """The pattern for finding all matches. Java finds an empty match right after another match, Rust does not."""
    _, part = parse(pattern)
    whole = anchored_whole(part, several=True)
    if can_be_empty(whole.body):
        raise Refused("the pattern can match the empty string")
    return whole.write()


def extraction(pattern: str, group: int) -> str:
    """The pattern whose first match's only group is this group of the pattern's first match; no group for group 0."""
    parser, part = parse(pattern)
    whole = anchored_whole(part, several=False)
    if not 0 <= group <= parser.groups:
        raise Refused("the pattern has no such group")
    if group and is_repeated(part, group):
        raise Refused("the group is repeated")
    if group == 0 and whole.end == "line end":
        return f"{whole.start}({write(whole.body)}){END_OF_LINE}"
    return whole.write((group,))


def replacement(pattern: str, text: str) -> tuple[str, str]:
    """The pattern and the text for replacing all matches, with references to groups as `${1}`."""
    parser, part = parse(pattern)
    whole = anchored_whole(part, several=True)
    if can_be_empty(whole.body):
        raise Refused("the pattern can match the empty string")
    parts = _replacement_parts(text, parser.groups)
    used = {each for each in parts if isinstance(each, int)}
    if any(group and is_repeated(part, group) for group in used):
        raise Refused("a group that the replacement names is repeated")
    groups = sorted(used - {0})
    numbers = {group: number for number, group in enumerate(groups, 1)} | {0: 0}
    body = write(whole.body, groups)
    if 0 in used and whole.end == "line end":
        numbers = {group: number + 1 for group, number in numbers.items()}
        body = f"({body})"
    shown = "".join(each.replace("$", "$$") if isinstance(each, str) else f"${{{numbers[each]}}}" for each in parts)
    if whole.end == "line end":  # what follows the match is part of Rust's match, and must stay
        kept = max(numbers[group] for group in (*groups, 0)) + 1
        return f"{whole.start}{body}({END_OF_LINE.removesuffix(chr(92) + 'z')})" + r"\z", f"{shown}${{{kept}}}"
    return whole.start + body + TAILS[whole.end], shown


def _replacement_parts(text: str, groups: int) -> list[str | int]:
    r"""A replacement in Java's syntax: `\x` is x, `$n` the group with the longest number that there is."""
    parts: list[str | int] = []
    rest = text
    while rest:
        c, rest = rest[0], rest[1:]
        if c == "$":
            if not rest or not "0" <= rest[0] <= "9":
                raise Refused("the replacement refers to a group by name, or to none")
            group, rest = int(rest[0]), rest[1:]
            if group > groups:
                raise Refused("the replacement refers to a group that is not there")
            while rest and "0" <= rest[0] <= "9" and group * 10 + int(rest[0]) <= groups:
                group, rest = group * 10 + int(rest[0]), rest[1:]
            parts.append(group)
            continue
        if c == "\\":
            if not rest:
                raise Refused("a backslash ends the replacement")
            c, rest = rest[0], rest[1:]
            if c == "\\":
                raise Refused("the replacement has a backslash in it")
        parts.append(c)
    return parts


class Splitter(NamedTuple):
    """How to split a text: at a separator, after every match of a pattern, if there is one, became that separator."""

    pattern: str | None
    separator: str


def splitter(pattern: str) -> Splitter:
    """What a text is split at: literal text, or a set of characters, repeated or not, between optional others."""
    _, part = parse(pattern)
    if not isinstance(part, Series) or not part.parts or has_anchors(part):
        raise Refused("texts can be split at plain separators only")
    literal = [_literal(each) for each in part.parts]
    if all(literal):
        return Splitter(None, "".join(literal))
    needed = [ranges for each in part.parts if (ranges := _one_or_more(each)) is not None]
    optional = [ranges for each in part.parts if (ranges := _any_number(each)) is not None]
    if len(needed) != 1 or len(needed) + len(optional) != len(part.parts):
        raise Refused("texts can be split at plain separators only")
    if any(overlap(ranges, needed[0]) for ranges in optional):
        raise Refused("what may be around a separator could be one")
    return Splitter(write(part), _separator(needed[0]))


def _literal(part: Part) -> str:
    """The one character that a part matches, empty where it could match another."""
    if isinstance(part, One) and len(part.ranges) == 1 and part.ranges[0][0] == part.ranges[0][1]:
        return chr(part.ranges[0][0])
    return ""


def _one_or_more(part: Part) -> Ranges | None:
    if isinstance(part, Repeated) and (part.least, part.most, part.lazy) == (1, None, False):
        part = part.part
    return part.ranges if isinstance(part, One) else None


def _any_number(part: Part) -> Ranges | None:
    if isinstance(part, Repeated) and (part.least, part.most, part.lazy) == (0, None, False):
        return part.part.ranges if isinstance(part.part, One) else None
    return None


def _separator(ranges: Ranges) -> str:
    """A character of the set, which therefore is in no piece, and that a replacement text can hold."""
    for wanted in (ord(","), ord(" ")):
        if overlap(ranges, [(wanted, wanted)]):
            return chr(wanted)
    for low, high in ranges:
        for code in range(low, min(high, low + 300) + 1):
            if chr(code) not in "$\\":
                return chr(code)
    raise Refused("a replacement can hold none of the separators")
