"""The text of what a plan carries for others to understand: a type URL and bytes."""

from __future__ import annotations

from google.protobuf.any_pb2 import Any

from ..quotation import quoted
from .text import Text
from .view import View


def any_text(message: Any) -> Text:
    """`any('type URL', 0x…)`."""
    view = View(message)
    url, value = view.take("type_url") or "", view.take("value") or b""
    return (f"any({quoted(url)}, 0x{value.hex()})" if value else f"any({quoted(url)})", view.untaken())
