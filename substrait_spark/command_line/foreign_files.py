"""What a file holds that should hold a plan and doesn't, or only the beginning of one."""

from __future__ import annotations

import json

from substrait.plan_pb2 import Plan

BEGINNINGS = {
    b"PAR1": "a Parquet file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"\x89PNG": "a picture",
    b"%PDF": "a PDF",
    b"SQLite format 3": "a SQLite database",
    b"\x7fELF": "a program",
    b"\x80\x04": "a pickle of Python's",
    b"\x80\x05": "a pickle of Python's",
}
"""How files of other kinds begin."""

CUT_OFF = "it is cut off: it holds the beginning of a plan only"
NO_RELATION = "there is no relation in it, so it is cut off or holds something else"


def described(held: bytes, problem: Exception | None) -> str:
    """What is held that isn't read as a plan; `problem` is what its parser said."""
    kind = next((kind for beginning, kind in BEGINNINGS.items() if held.startswith(beginning)), None)
    if not held:
        return "it is empty"
    if kind is not None:
        return f"it is {kind}"
    try:
        text = held.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        text = ""
    if text and all(character.isprintable() or character.isspace() for character in text):
        return _text(text, problem)
    if is_cut_off(held):
        return CUT_OFF
    return NO_RELATION if problem is None else "it is neither a plan's message nor JSON"


def _text(text: str, problem: Exception | None) -> str:
    if text[0] not in '{["':
        return "it is text, and plans are binary or JSON. A query in SQL is for the command export"
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        if not rest or error.msg.startswith("Unterminated"):
            return CUT_OFF
        return f"it is no JSON: {error}"
    except ValueError:
        return "it is JSON with a number of more digits than Python reads"
    except RecursionError:
        return "it is JSON that nests too deep"
    if not isinstance(document, dict):
        return "it is JSON, but of a list or a single value: a plan is an object"
    return (
        NO_RELATION if problem is None else f"it is JSON of something else: {str(problem).splitlines()[0].rstrip('.')}"
    )


def is_cut_off(held: bytes) -> bool:
    """Whether bytes are fields of a plan, of which the last says that it is longer than what is there."""
    place = 0
    while place < len(held):
        tag, place = _number(held, place)
        if tag & 7 != 2 or tag >> 3 not in Plan.DESCRIPTOR.fields_by_number:  # a plan has but messages and strings
            return False
        length, place = _number(held, place)
        place += length
    return place > len(held)


def _number(held: bytes, place: int) -> tuple[int, int]:
    """A number as protobuf writes it, and the place behind it, which is beyond the end where the number isn't complete."""
    value = shift = 0
    while place < len(held) and held[place] & 0x80 and shift < 70:
        value |= (held[place] & 0x7F) << shift
        shift += 7
        place += 1
    return (value | held[place] << shift, place + 1) if place < len(held) else (value, len(held) + 1)
