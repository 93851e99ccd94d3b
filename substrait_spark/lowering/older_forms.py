"""A plan in the older forms of messages that an engine reads in place of today's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from substrait.plan_pb2 import Plan

from ..dialects.dialect import Dialect
from ..plan import removed_fields

FORMS: Mapping[str, Callable[[Plan], Plan]] = {
    "fetch_expressions": removed_fields.with_numbers_in_fetches,
    "grouping_references": removed_fields.with_keys_in_groupings,
    "row_expressions": removed_fields.with_literals_in_rows,
    "extension_urns": removed_fields.with_uris,
}
"""The older forms, by the abilities without which they are needed."""


def written_for(dialect: Dialect, plan: Plan) -> Plan:
    """The plan as the engine of a dialect reads it."""
    for ability, form in FORMS.items():
        if not getattr(dialect.abilities, ability):
            plan = form(plan)
    return plan
