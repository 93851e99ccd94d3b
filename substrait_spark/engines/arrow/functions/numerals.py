"""Numbers as text: by formats of digits and signs, and in other bases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from ..function import PythonFunction, Signature
from .encodings import WHITE
from .rows import of_rows, of_typed_rows, or_null

# ---- formats of digits and signs


class Digits(NamedTuple):
    """So many digits between separators: exactly as many, or at most."""

    number: int
    exact: bool


Groups = tuple[Digits, ...]
"""Digits with separators between them, from the left."""

TOKEN = re.compile(r"(?P<digits>[09][09,G]*)|(?P<point>[.D])|(?P<sign>[$S]|MI|PR)")
DIGITS = re.compile("[09]+")


@lru_cache(1000)
def tokens(format: str) -> tuple[str | Groups, ...]:
    """What a format has, from the left: groups of digits, `.`, `$`, `S`, `MI`, and `<` and `>` for PR. Raises ValueError."""
    parts: list[str | Groups] = []
    at, fraction = 0, False
    while at < len(format):
        match = TOKEN.match(format, at)
        if match is None:
            raise ValueError(f"[INVALID_FORMAT] {format} is no format of numbers")
        at = match.end()
        if match["digits"]:
            parts.append(_groups(match["digits"], fraction))
        elif match["point"]:
            parts.append(".")
            fraction = True
        elif match["sign"] == "PR":
            parts = ["<", *parts, ">"]
        else:
            parts.append(match["sign"])
    return tuple(parts)


def _groups(text: str, fraction: bool) -> Groups:
    return tuple([Digits(len(run), run[0] == "0" and not fraction) for run in DIGITS.findall(text)])


def _counts(format: str) -> tuple[int, int]:
    """How many digits a format has before the point, and behind it."""
    before = behind = 0
    fraction = False
    for token in tokens(format):
        if token == ".":
            fraction = True
        elif isinstance(token, tuple):
            count = sum(digits.number for digits in token)
            before, behind = (before, behind + count) if fraction else (before + count, behind)
    return before, behind


# ---- from text


def to_number(text: str, format: str) -> Decimal:
    """The number that a text in a format stands for.

    Raises ValueError for any other text; OverflowError, which try_to_number raises too, for more digits than the format has.
    """
    before = behind = ""
    at, fraction, negative, opened = 0, False, False, False
    for token in tokens(format):
        character = text[at : at + 1]
        if isinstance(token, tuple):
            at, digits = _digits(text, at, token)
            before, behind = (before, behind + digits) if fraction else (before + digits, behind)
        elif token == "$":
            _require(character in ("$", ""), text)
            at += len(character)
        elif character == ">" and token == ">":
            _require(opened, text)
            at, negative, opened = at + 1, not negative, False
        elif character == "<" and token == "<":
            at, opened = at + 1, True
        elif character == "." and token == ".":
            at, fraction = at + 1, True
        elif (character == "-" and token in ("S", "MI")) or (character == "+" and token == "S"):
            at, negative = at + 1, negative != (character == "-")
    _require(at == len(text) and not opened and bool(before or behind), text)
    whole, scale = _counts(format)
    if len(before.lstrip("0")) > whole:  # digits before the point, where the format has none
        raise OverflowError(f"[NUMERIC_VALUE_OUT_OF_RANGE] {text} has more digits than the format")
    return Decimal(f"{'-' if negative else ''}{before}.{behind.ljust(scale, '0')}")


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise ValueError(f"[INVALID_FORMAT.MISMATCH_INPUT] {text} is not in the format")


def _digits(text: str, at: int, groups: Groups) -> tuple[int, str]:
    """Where the digits end, and these; spaces between them are passed over."""
    digits, sizes = "", [0]
    while at < len(text):
        character = text[at]
        if character == ",":
            sizes.append(0)
        elif character.isdecimal() and character <= "\uffff":
            digits += character
            sizes[-1] += 1
        elif not WHITE.fullmatch(character):
            break
        at += 1
    _require(len(sizes) <= len(groups), text)
    sizes_of_all = [0] * (len(groups) - len(sizes)) + sizes
    fits = (
        size == group.number if group.exact else size <= group.number
        for size, group in zip(sizes_of_all, groups, strict=True)
    )
    _require(all(fits), text)
    return at, digits


# ---- to text


def to_char(number: Decimal, format: str) -> str:
    """The number in a format; `#` for each digit where it has more than the format."""
    before, behind = _shown(number, *_counts(format))
    negative = number < 0
    shown, digits, fraction = "", iter(before), False
    for token in tokens(format):
        if isinstance(token, tuple):
            shown = _grouped(shown, token, digits, fraction)
        elif token == ".":
            shown = (shown[:-1] + "0" if shown.endswith(" ") else shown) + "."
            digits, fraction = iter(behind), True
        elif token == "$":
            shown += "$"
        elif token == "<":
            shown += "<" if negative else ""
        elif token == "S":
            shown = _before_spaces(_without_last_point(shown), "-" if negative else "+")
        elif token == "MI":
            shown = _before_spaces(_without_last_point(shown), "-") if negative else shown + " "
        else:
            shown = _without_last_point(shown)
            shown = _before_spaces(shown, ">") if negative else shown + "  "
    shown = _without_last_point(shown)
    return "0" if shown in ("", "+", "-") else shown


def _shown(number: Decimal, before: int, behind: int) -> tuple[str, str]:
    """The digits before the point, after spaces, and behind it, before zeros."""
    whole, _, part = f"{number:f}".lstrip("-").partition(".")
    whole, part = whole.lstrip("0"), part.rstrip("0")
    if len(whole) > before or len(part) > behind:
        whole, part = "#" * before, "#" * behind
    return whole.rjust(before), part.ljust(behind, "0")


def _grouped(shown: str, groups: Groups, digits: Iterator[str], fraction: bool) -> str:
    for number, group in enumerate(groups):
        if number:
            shown = shown + "," if shown[-1:].isdecimal() else _with_space(shown)
        for _ in range(group.number):
            digit = next(digits)
            if digit != " " or fraction:
                shown += digit
            else:
                shown = shown + "0" if group.exact else _with_space(shown)
    return shown


def _with_space(shown: str) -> str:
    """With a space behind, but for a sign."""
    rest = shown.rstrip("+-<")
    return rest + " " + shown[len(rest) :]


def _before_spaces(shown: str, sign: str) -> str:
    rest = shown.rstrip(" ")
    return rest + sign + shown[len(rest) :]


def _without_last_point(shown: str) -> str:
    before, point, behind = shown.partition(".")
    return f"{before} {behind}" if point and behind[:1] in ("", " ") else shown


# ---- other bases

NUMERALS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
VALUES = {digit: value for text in (NUMERALS, NUMERALS.lower()) for value, digit in enumerate(text)}
ALL_BITS = 2**64 - 1


def _conv(signature: Signature) -> Callable[..., Any]:
    raising = dict(signature.options)["overflow"] == "ERROR"

    def converted(text: str | None, base: int | None, to: int | None) -> str | None:
        return None if text is None or base is None or to is None else conv(text, base, to, raising)

    return converted


def conv(text: str, base: int, to: int, raising: bool) -> str | None:
    """A number in another base, as one of 64 bits; null for bases that are none, and without a text."""
    text = text.strip(" ")
    if not 2 <= base <= 36 or not 2 <= abs(to) <= 36 or not text:
        return None
    negative = text.startswith("-")
    number = 0
    for character in text[negative:]:
        digit = VALUES.get(character, base)
        if digit >= base:
            break
        number = number * base + digit
    if number > ALL_BITS:
        if raising:
            raise ValueError(f"[ARITHMETIC_OVERFLOW] {text} has more than 64 bits")
        number = ALL_BITS
    return _in_base(number, negative, to)


def _in_base(number: int, negative: bool, base: int) -> str:
    if negative and base > 0:
        number = ALL_BITS if number >> 63 else -number & ALL_BITS
    if base < 0 and number >> 63:
        number, negative = -number & ALL_BITS, True
    shown = ""
    rest = number
    while rest or not shown:
        rest, digit = divmod(rest, abs(base))
        shown = NUMERALS[digit] + shown
    return "-" + shown if negative and base < 0 else shown


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_conv": of_typed_rows(_conv),
    "spark_to_char": of_rows(to_char),
    "spark_to_number": of_typed_rows(lambda _: lambda text, format, _type: _number(to_number, text, format)),
    "spark_try_to_number": of_typed_rows(
        lambda _: lambda text, format, _type: _number(or_null(to_number), text, format)
    ),
}


def _number(function: Callable[[str, str], Any], text: str | None, format: str | None) -> Any:
    return None if text is None or format is None else function(text, format)
