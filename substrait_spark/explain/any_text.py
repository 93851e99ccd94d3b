"""The text of what a plan carries for others to understand: a type URL and bytes, or the fields of a message of ours."""

from __future__ import annotations

from google.protobuf.any_pb2 import Any
from google.protobuf.text_format import MessageToString

from ..algebra.extension_messages import unpacked_note, unpacked_write
from ..errors.quotation import quoted
from .text import Text
from .view import View


def any_text(message: Any) -> Text:
    """`any('type URL', 0x…)`, or `any('type URL', {field: value})` where that says all of the bytes."""
    view = View(message)
    url, value = view.take("type_url") or "", view.take("value") or b""
    if not value:
        return (f"any({quoted(url)})", view.untaken())
    known = unpacked_note(message) or unpacked_write(message)
    told = known is not None and known.SerializeToString() == value
    shown = f"{{{MessageToString(known, as_one_line=True)}}}" if told else f"0x{value.hex()}"
    return (f"any({quoted(url)}, {shown})", view.untaken())
