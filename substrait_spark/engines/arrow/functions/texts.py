"""Text: similarity, masks and check digits, character by character."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from ..function import PythonFunction
from .rows import of_all_rows, of_rows


def utf16(text: str) -> Iterator[str]:
    """The characters that Java sees: those beyond U+FFFF are two."""
    for character in text:
        if character <= "\uffff":
            yield character
        else:
            over = ord(character) - 0x10000
            yield chr(0xD800 + (over >> 10))
            yield chr(0xDC00 + (over & 0x3FF))


# ---- check digits


def luhn_check(text: str) -> bool:
    """Whether every second digit from the right, doubled, and the others add up to tens."""
    if not text or any(character > "\uffff" for character in text) or not text.isdecimal():
        return False
    digits = [int(character) for character in reversed(text)]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


# ---- similarity


def jaro_winkler(first: str, second: str) -> float:
    """The Jaro similarity of the characters, raised for a common beginning of at most 4."""
    left, right = list(utf16(first)), list(utf16(second))
    jaro = _jaro(left, right)
    prefix = 0
    for a, b in zip(left[:4], right[:4], strict=False):
        if a != b:
            break
        prefix += 1
    return jaro + prefix * 0.1 * (1.0 - jaro)


def _jaro(first: list[str], second: list[str]) -> float:
    if first == second:
        return 1.0
    near = max(len(first), len(second)) // 2 - 1
    left, taken = [], [False] * len(second)
    for at, character in enumerate(first):
        for other in range(max(0, at - near), min(len(second), at + near + 1)):
            if not taken[other] and second[other] == character:
                taken[other] = True
                left.append(character)
                break
    if not left:
        return 0.0
    right = [character for character, is_taken in zip(second, taken, strict=True) if is_taken]
    swapped = sum(a != b for a, b in zip(left, right, strict=True)) / 2.0
    count = float(len(left))
    return (count / len(first) + count / len(second) + (count - swapped) / count) / 3.0


# ---- masks


def mask(text: str | None, upper: str | None, lower: str | None, digit: str | None, other: str | None) -> str | None:
    """The text with other characters for those of each kind, where there is one."""
    if text is None:
        return None

    kinds = {"Lu": upper, "Ll": lower, "Nd": digit}

    def masked(character: str) -> str:
        shown = kinds.get(unicodedata.category(character), other)
        return character if shown is None else shown

    return "".join(map(masked, text))


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_jaro_winkler_similarity": of_rows(jaro_winkler),
    "spark_luhn_check": of_rows(luhn_check),
    "spark_mask": of_all_rows(mask),
}
