"""Values drawn at random, which no other functions give: refused in words that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.expression import Expression, ScalarFunction
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect

if TYPE_CHECKING:
    from ..builder import LoweringBuilder


def refused(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    name = (call.origin or call.declaration).name
    raise NotInDialect(
        f"{name} gives random values, which the dialect {e.dialect.name} has no function for",
        "Compute this column before the exported part of the query, and save it.",
    )


REWRITES = rewrites({f"spark:{name}": refused for name in ("rand", "randn", "randstr", "shuffle", "uuid")})
