"""JSON as Jackson reads it for Spark, token by token, and writes it."""

from __future__ import annotations

import json
import math
import re
import struct
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

LONGEST_NUMBER = 1000
LONGEST_NAME = 50_000
DEEPEST = 1000
"""What Jackson reads at most: digits of a number, characters of a name, levels."""


class MalformedJson(ValueError):
    """A text, or what is left of it, that is no JSON."""


class Float(str):
    """The text of a number that has a point or an exponent, or of NaN or an infinity."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """The fields of an object, in order; names may come several times."""


@dataclass(frozen=True)
class Dialect:
    """What is read beside strict JSON."""

    single_quotes: bool = True
    control_characters: bool = False
    leading_zeros: bool = False
    non_numeric_numbers: bool = False
    any_escape: bool = False


OF_PATHS = Dialect(control_characters=True)
"""As get_json_object and its kin have it."""

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(?P<float>(\.[0-9]+)?([eE][+-]?[0-9]+)?)")
LOOSE_NUMBER = re.compile(r"-?([0-9]+)(?P<float>(\.[0-9]+)?([eE][+-]?[0-9]+)?)")
AFTER_NUMBER = re.compile(r"[.eE]|(?<![0-9])[0-9]")
WHITE = re.compile(r"[ \t\r\n]*")
TOKENS = {"t": "true", "f": "false", "n": "null"}
NON_NUMERIC = re.compile(r"NaN|\+?Infinity|\+INF|-INF|-Infinity")
PLAIN = {quote: re.compile(rf"[^{quote}\\\x00-\x1f]*") for quote in "\"'"}
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "/": "/", "\\": "\\"}
HEXADECIMAL = re.compile(r"[0-9a-fA-F]{4}")
SURROGATE = re.compile("[\ud800-\udfff]")
PART_OF_NAME = {"Sc", "Pc", "Mn", "Mc", "Nl", "Cf"}


def is_part_of_name(character: str) -> bool:
    """Whether Java takes a character for a part of an identifier; what comes before the digits is not asked about."""
    if character < "0":
        return False
    control = "\x7f" <= character <= "\x9f"
    return character.isalnum() or character == "_" or control or unicodedata.category(character) in PART_OF_NAME


@dataclass
class _Structure:
    """An object or a list that is open: the number of its entry, from 0, and the name of the field."""

    kind: str
    entry: int = -1
    name: str | None = None


class Parser:
    """The tokens of a text, as Jackson's ReaderBasedJsonParser has them, after an error as well.

    Tokens are `{ } [ ]`, `name`, `string`, `int`, `float`, `true`, `false` and `null`; None at the end.
    """

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.token: str | None = None
        self._text = text
        self._at = 0
        self._dialect = dialect
        self._value: Any = None
        self._begun = ""
        """The quote of a string that is not read yet."""
        self._after_name: str | None = None
        self._open = [_Structure("")]
        """The structures around the token, and what is around all."""

    # ---- where it is

    def name(self) -> str | None:
        """The name of the field around the token."""
        inside = self._open[-2] if self.token in ("{", "[") and len(self._open) > 1 else self._open[-1]
        return inside.name

    def text(self) -> str:
        """What a string says, or how a number is written."""
        if self._begun:
            quote, self._begun = self._begun, ""
            self._value = self._string(quote)
        return str(self._value)

    def skip_children(self) -> None:
        """Go to the end of the structure that begins here."""
        if self.token not in ("{", "["):
            return
        depth = 1
        while depth:
            token = self.next()
            if token is None:
                raise MalformedJson("the text ends within a structure")
            depth += (token in ("{", "[")) - (token in ("}", "]"))

    # ---- on

    def next(self) -> str | None:
        """The next token. Raises MalformedJson."""
        if self.token == "name":
            self.token, self._after_name = self._after_name, None
            self._enter(self.token)
            return self.token
        if self._begun:
            self.text()
        character = self._skip_white()
        if character and character in "]}":
            self._leave(character)
        elif character:
            self._go_on(character)
        elif len(self._open) > 1:
            raise MalformedJson("the text ends within a structure")
        else:
            self.token = None
        return self.token

    def _go_on(self, character: str) -> None:
        """To a field or a value that begins with a character, or with a comma before it."""
        inside = self._open[-1]
        inside.entry += 1
        if inside.kind and inside.entry > 0:
            if character != ",":
                raise MalformedJson("a comma is missing")
            character = self._skip_white()
        if inside.kind == "{":
            inside.name = self._field(character)
            self.token = "name"
            self._after_name = self._started(self._behind_colon())
        else:
            self.token = self._started(character)
            self._enter(self.token)

    def _skip_white(self) -> str:
        """The next character that is not white, which is passed; empty at the end."""
        self._at = WHITE.match(self._text, self._at).end()  # type: ignore[union-attr]
        character = self._text[self._at : self._at + 1]
        self._at += 1
        return character

    def _enter(self, token: str | None) -> None:
        if token not in ("{", "["):
            return
        if len(self._open) > DEEPEST:
            raise MalformedJson("it nests too deep")
        self._open.append(_Structure(token))

    def _leave(self, character: str) -> None:
        if self._open[-1].kind != {"]": "[", "}": "{"}[character]:
            raise MalformedJson("the end of another structure")
        self._open.pop()
        self.token = character

    def _field(self, character: str) -> str:
        if character != '"' and not (character == "'" and self._dialect.single_quotes):
            raise MalformedJson("the name of a field is missing")
        name = self._string(character)
        if len(name) > LONGEST_NAME:
            raise MalformedJson("the name of a field is too long")
        return name

    def _behind_colon(self) -> str:
        if self._skip_white() != ":":
            raise MalformedJson("a colon is missing")
        return self._skip_white()

    # ---- values

    def _started(self, character: str) -> str:
        """The token of a value that begins with a character, which is passed."""
        if character and character in '{["':
            if character == '"':
                self._begun = character
            return "string" if character == '"' else character
        if character == "'" and self._dialect.single_quotes:
            self._value = self._string(character)
            return "string"
        if character in TOKENS:
            return self._word(TOKENS[character])
        if "0" <= character <= "9" or (character == "-" and self._text[self._at : self._at + 1] != "I"):
            return self._number()
        return self._non_numeric()

    def _word(self, word: str) -> str:
        start = self._at - 1
        if not self._text.startswith(word, start):
            self._at = start + 1
            self._pass_name()
            raise MalformedJson("no token of JSON")
        self._at = start + len(word)
        self._require_end()
        return word

    def _require_end(self) -> None:
        if is_part_of_name(self._text[self._at : self._at + 1] or " "):
            self._pass_name()
            raise MalformedJson("no token of JSON")

    def _pass_name(self) -> None:
        while is_part_of_name(self._text[self._at : self._at + 1] or " "):
            self._at += 1

    def _number(self) -> str:
        start = self._at - 1
        found = (LOOSE_NUMBER if self._dialect.leading_zeros else NUMBER).match(self._text, start)
        if found is None:
            raise MalformedJson("no number")
        self._at = found.end()
        behind = self._text[self._at : self._at + 1]
        is_float = bool(found["float"])
        if behind.isascii() and (
            behind.isdigit()
            or (behind == "." and not is_float)
            or (behind and behind in "eE" and "e" not in found[0].lower())
        ):
            raise MalformedJson("no number")
        if len(self._open) == 1 and behind not in ("", " ", "\t", "\r", "\n"):
            raise MalformedJson("values without space between them")
        if len(found[0]) > LONGEST_NUMBER:
            raise MalformedJson("a number of too many digits")
        self._value = Float(found[0]) if is_float else found[0]
        return "float" if is_float else "int"

    def _non_numeric(self) -> str:
        found = NON_NUMERIC.match(self._text, self._at - 1)
        if found is None:
            self._pass_name()
            raise MalformedJson("no value")
        self._at = found.end()
        self._require_end()
        if not self._dialect.non_numeric_numbers:
            raise MalformedJson("no number")
        self._value = Float(found[0])
        return "float"

    def _string(self, quote: str) -> str:
        """What stands up to a quote, which is passed."""
        parts = []
        while True:
            found = PLAIN[quote].match(self._text, self._at)
            parts.append(found[0])  # type: ignore[index]
            self._at = found.end() + 1  # type: ignore[union-attr]
            character = self._text[self._at - 1 : self._at]
            if character == quote:
                return _paired("".join(parts))
            if character == "\\":
                parts.append(self._escaped())
            elif character and self._dialect.control_characters:
                parts.append(character)
            else:
                raise MalformedJson("a string without an end, or with a control character")

    def _escaped(self) -> str:
        character = self._text[self._at : self._at + 1]
        self._at += 1
        if character in ESCAPES:
            return ESCAPES[character]
        if character == "u":
            digits = HEXADECIMAL.match(self._text, self._at)
            if digits is None:
                raise MalformedJson("no escape")
            self._at += 4
            return chr(int(digits[0], 16))
        if character and (self._dialect.any_escape or (character == "'" and self._dialect.single_quotes)):
            return character
        raise MalformedJson("no escape")


def well_formed(text: str) -> str:
    """A text in bytes as Java encodes it: with a question mark in the place of half a character."""
    return SURROGATE.sub("?", text)


def _paired(text: str) -> str:
    """A text in which two escapes of UTF-16 units are one character."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16") if SURROGATE.search(text) else text
    except UnicodeDecodeError:
        return text


# ---- whole values


def value(text: str, dialect: Dialect) -> Any:
    """The first value of a text: an Object, a list, a str, an int, a Float, a bool or None. Raises MalformedJson.

    What is behind it is not looked at. Raises EOFError where there is none.
    """
    found = strict_value(text, dialect)
    if found is not UNREAD:
        return found
    parser = Parser(text, dialect)
    if parser.next() is None:
        raise EOFError
    return current_value(parser)


UNREAD = object()


def strict_value(text: str, dialect: Dialect) -> Any:
    """The value of a text that is strict JSON, a structure; UNREAD of any other."""
    start = WHITE.match(text).end()  # type: ignore[union-attr]
    if text[start : start + 1] not in ("{", "["):
        return UNREAD
    try:
        return DECODERS[dialect.control_characters, len(text) > LONGEST_NUMBER].raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return UNREAD


def _no_constant(text: str) -> None:
    raise ValueError(text)


def _limited(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def of(text: str) -> Any:
        if len(text) > LONGEST_NUMBER:
            raise ValueError("a number of too many digits")
        return kind(text)

    return of


DECODERS = {
    (control_characters, long): json.JSONDecoder(
        object_pairs_hook=Object,
        parse_float=_limited(Float) if long else Float,
        parse_int=_limited(int) if long else None,
        parse_constant=_no_constant,
        strict=not control_characters,
    )
    for control_characters in (False, True)
    for long in (False, True)
}
"""Decoders of strict JSON; of texts with so many characters that their numbers may be too long, others."""


def current_value(parser: Parser) -> Any:
    """The value that begins with the current token. Raises MalformedJson."""
    open: list[Any] = []
    while True:
        found, is_structure = _token_value(parser, bool(open))
        if open and parser.token not in ("}", "]"):
            open[-1].append((parser.name(), found) if isinstance(open[-1], Object) else found)
        if is_structure:
            open.append(found)
        elif parser.token in ("}", "]"):
            found = open.pop()
        if not open:
            return found
        if parser.next() == "name":
            parser.next()
        if parser.token is None:
            raise MalformedJson("the text ends within a structure")


def _token_value(parser: Parser, within: bool) -> tuple[Any, bool]:
    token = parser.token
    if token in ("}", "]") and not within:
        raise MalformedJson("no value")
    if token in ("{", "["):
        return (Object() if token == "{" else []), True
    if token == "string":
        return parser.text(), False
    if token == "int":
        return int(parser.text()), False
    if token == "float":
        return Float(parser.text()), False
    return {"true": True, "false": False}.get(str(token)), False


# ---- writing

BEYOND = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
ESCAPED = re.compile(r'["\\\x00-\x1f]')
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def quoted(text: str) -> str:
    """A string of JSON."""
    return '"' + ESCAPED.sub(lambda found: SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}", text) + '"'


def quoted_as_bytes(text: str) -> str:
    """A string of JSON as Jackson writes it to bytes: characters of two UTF-16 units as two escapes."""
    return BEYOND.sub(_pair, quoted(text))


def _pair(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{unit:04X}" for (unit,) in struct.iter_unpack(">H", units))


def written(root: Any, quoted: Callable[[str], str] = quoted) -> str:
    """A value as Jackson copies it: without spaces, numbers as Java writes them."""
    parts: list[str] = []
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, _Piece):
            parts.append(item)
        elif isinstance(item, Object):
            stack.append(_Piece("}"))
            for n, (name, field) in reversed(list(enumerate(item))):
                stack += [field, _Piece(("," if n else "") + quoted(name) + ":")]
            stack.append(_Piece("{"))
        elif isinstance(item, list):
            stack.append(_Piece("]"))
            for n, element in reversed(list(enumerate(item))):
                stack += [element, _Piece(",")] if n else [element]
            stack.append(_Piece("["))
        else:
            parts.append(quoted(item) if type(item) is str else _scalar(item))
    return "".join(parts)


class _Piece(str):
    """A part of what is written."""

    __slots__ = ()


def _scalar(item: Any) -> str:
    if isinstance(item, Float):
        return number_text(as_double(item))
    if item is None or isinstance(item, bool):
        return {None: "null", True: "true", False: "false"}[item]
    return str(item)


NON_NUMBERS = {
    "NaN": "nan", "Infinity": "inf", "+Infinity": "inf", "+INF": "inf", "-INF": "-inf", "-Infinity": "-inf",
}  # fmt: skip


def as_double(text: str) -> float:
    """The double of a Float."""
    return float(NON_NUMBERS.get(text, text))


def number_text(number: float) -> str:
    """A double as Java writes it; what is no number is a string. Raises ValueError where that hangs on Java's version."""
    size = abs(number)
    if math.isnan(number) or math.isinf(number):
        return '"NaN"' if math.isnan(number) else '"Infinity"' if number > 0 else '"-Infinity"'
    if not number:
        return repr(number)
    if size >= 2.0**53 or size < 2.2250738585072014e-308:
        raise ValueError(f"[UNSUPPORTED_FORMAT] the digits of {number} depend on the Java version")
    if 1e-3 <= size < 1e7:
        return repr(number)
    _, digits, exponent = Decimal(repr(size)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    return f"{'-' if number < 0 else ''}{shown[0]}.{shown[1:] or '0'}E{len(digits) - 1 + int(exponent)}"
