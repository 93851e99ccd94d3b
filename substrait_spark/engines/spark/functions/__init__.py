"""What the functions of the specification, and ours, are in Spark: one table for each extension file or family.

A table has a rule for each function, `alias:name`, which makes Catalyst's expression of a call (../calls.py). Rules are
written from the text of the extension files, and made of the few in rules.py where that is enough.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....errors import Unsupported
from ..calls import Call
from . import (
    aggregate,
    arithmetic,
    boolean,
    collection,
    comparison,
    datetime,
    logarithmic,
    regular_expression,
    rounding,
    string,
    time_format,
    window,
)
from .own import aggregate as own_aggregate
from .own import arithmetic as own_arithmetic
from .own import collation as own_collation
from .own import collection as own_collection
from .own import datetime as own_datetime
from .own import geospatial as own_geospatial
from .own import random as own_random
from .own import sketch as own_sketch
from .own import string as own_string
from .own import structured_text as own_structured_text
from .own import variant as own_variant
from .own import window as own_window
from .releases import require_same
from .rules import Rule

_STANDARD = (
    *(aggregate, arithmetic, boolean, collection, comparison, datetime, logarithmic, regular_expression, rounding),
    *(string, time_format, window),
)
_OWN = (
    *(own_aggregate, own_arithmetic, own_collection, own_datetime, own_random, own_sketch, own_string),
    *(own_collation, own_geospatial, own_structured_text, own_variant, own_window),
)

RULES: Mapping[str, Rule] = {name: rule for table in (*_STANDARD, *_OWN) for name, rule in table.RULES.items()}
"""Every function that is run here."""


def rule_of(call: Call) -> Rule:
    """The rule for a call's function. Raises Unsupported where there is none, or this Spark has another function."""
    rule = RULES.get(call.key)
    if rule is None:
        declaration = call.function.declaration
        raise Unsupported(
            f"the function {declaration.compound} of {declaration.urn or 'no extension file'} is not run in Spark",
            f"Give it as functions=[{declaration.name}], if it is your own. Or compute it elsewhere, or replace the function.",
        )
    require_same(call)
    return rule
