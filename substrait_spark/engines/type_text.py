"""The names of struct fields in types as Spark's SQL writes them."""

from __future__ import annotations

import re

QUOTED = re.compile(r"`((?:[^`]|``)*)`")


def field_names(text: str) -> list[str]:
    """The names, depth-first, of a type whose names are all in backquotes, as plans have them."""
    return [name.replace("``", "`") for name in QUOTED.findall(text)]
