"""Casts of constant texts to dates, in dialects that read texts in another way than the plan may mean.

    CAST('1995-01-01' AS DATE)

Of a text in the form of ISO 8601 everybody reads the same date, and so do we; another text is left to the engine.
"""

from __future__ import annotations

import re
from datetime import date

from ..algebra.expression import Cast, Literal

_ISO_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH = date(1970, 1, 1)


def constant_date(cast: Cast) -> Literal | None:
    """The date that a cast makes of a constant; None where it makes none, or the text is in another form."""
    value = cast.input.value if isinstance(cast.input, Literal) else None
    if cast.type.kind != "date" or not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
        return None
    try:
        return Literal((date.fromisoformat(value) - _EPOCH).days, cast.type)
    except ValueError:
        return None
