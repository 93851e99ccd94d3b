"""Casts of constant texts to dates, in dialects that read texts in another way than the plan may mean.

    CAST('1995-01-01' AS DATE)

Of a text in the form of ISO 8601 everybody reads the same date, and so do we; another text is left to the engine.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from ...algebra.expression import Cast, Expression, Literal
from ...dialects.rewrite import rewrites
from ..refusal_text import no_cast

if TYPE_CHECKING:
    from ..builder import LoweringBuilder

_ISO_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH = date(1970, 1, 1)


def constant_date(e: LoweringBuilder, cast: Cast) -> Expression:
    """The date that a cast makes of a constant. Raises NotInDialect where it makes none, or the text is in another form."""
    value = cast.input.value if isinstance(cast.input, Literal) else None
    if not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
        raise no_cast(e.dialect, cast)
    try:
        return Literal((date.fromisoformat(value) - _EPOCH).days, cast.type)
    except ValueError:
        raise no_cast(e.dialect, cast) from None


REWRITES = rewrites({(kind, "date"): constant_date for kind in ("fixedchar", "string", "varchar")})
