"""All that plans for DataFusion beside Spark are rewritten by."""

from __future__ import annotations

from ...dialects.rewrite import Rewrite
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ...lowering.forms import Raised
from ...plan.unread_values import UNREAD
from ..catalyst import handed_over
from ..datafusion import rewrites as datafusion

REWRITES = [*datafusion.REWRITES, *handed_over.REWRITES]


def _for_every_value(e: LoweringBuilder, form: Raised) -> Raised:
    """An error that Spark raises too; a form with another one is none, so that Catalyst evaluates the expression."""
    if form.message.startswith(UNREAD):
        raise NotInDialect(f"the dialect {e.dialect.name} has no form for every value: {form.message}")
    return form


EVERY_VALUE = [Rewrite(Raised, _for_every_value), *REWRITES]
"""The same, for forms that answer wherever Spark does."""
