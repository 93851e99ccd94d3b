"""Occurrences of texts in texts, and of bytes in bytes."""

from __future__ import annotations

from collections.abc import Mapping

from ..function import PythonFunction
from .rows import of_rows


def instr(text: str, searched: str, start: int, occurrence: int) -> int:
    """The position of an occurrence from a start on, which counts from the end, and looks to the left, where it is negative."""
    if occurrence <= 0:
        raise ValueError(f"[INVALID_PARAMETER_VALUE] there is no occurrence {occurrence}")
    if not searched:
        return 1
    if start == 0:
        return 0
    step = 1 if start > 0 else -1
    at = start - 1 if start > 0 else min(len(text) + start, len(text) - len(searched))
    while 0 <= at <= len(text) - len(searched):
        found = text.find(searched, at) if step > 0 else text.rfind(searched, 0, at + len(searched))
        if found < 0:
            return 0
        occurrence -= 1
        if not occurrence:
            return found + 1
        at = found + step
    return 0


def split_part(text: str, delimiter: str, part: int) -> str:
    """A part by its number, from the end where it is negative; empty where there is none."""
    if part == 0:
        raise ValueError("[INVALID_INDEX_OF_ZERO] there is no part 0")
    parts = text.split(delimiter) if delimiter else [text]
    return parts[part - 1 if part > 0 else part] if abs(part) <= len(parts) else ""


def substring_index(text: str, delimiter: str, number: int) -> str:
    """What is before an occurrence, or behind one from the right; occurrences may overlap."""
    if number == 0 or not delimiter:
        return ""
    at = -1 if number > 0 else len(text) - len(delimiter) + 1
    for _ in range(abs(number)):
        at = text.find(delimiter, at + 1) if number > 0 else text.rfind(delimiter, 0, max(at - 1 + len(delimiter), 0))
        if at < 0:
            return text
    return text[:at] if number > 0 else text[at + len(delimiter) :]


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_contains": of_rows(lambda bytes, searched: searched in bytes),
    "spark_instr": of_rows(instr),
    "spark_reverse": of_rows(lambda bytes: bytes[::-1]),
    "spark_split_part": of_rows(split_part),
    "spark_substring_index": of_rows(substring_index),
}
