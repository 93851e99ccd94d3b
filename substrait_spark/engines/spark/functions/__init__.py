"""What the functions of the specification, and ours, are in Spark: one table for each extension file or family.

A table has a rule for each function, `alias:name`, which makes Catalyst's expression of a call (../calls.py). Rules are
written from the text of the extension files, and made of the few in rules.py where that is enough.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....errors import Unsupported
from ..calls import Call
from . import aggregate, arithmetic, boolean, comparison, datetime, logarithmic, own, rounding, string, window
from .rules import Rule

_TABLES = (aggregate, arithmetic, boolean, comparison, datetime, logarithmic, own, rounding, string, window)

RULES: Mapping[str, Rule] = {name: rule for table in _TABLES for name, rule in table.RULES.items()}
"""Every function that is run here."""


def rule_of(call: Call) -> Rule:
    """The rule for a call's function. Raises Unsupported where there is none."""
    rule = RULES.get(call.key)
    if rule is None:
        declaration = call.function.declaration
        raise Unsupported(
            f"the function {declaration.compound} of {declaration.urn or 'no extension file'} is not run in Spark",
            "Compute it elsewhere, or replace the function.",
        )
    return rule
