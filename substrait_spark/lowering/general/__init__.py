"""General rewrites: what a dialect lacks, in other canonical forms that serve any engine. Each is in a module of its own."""

from __future__ import annotations

from ...dialects.rewrite import PLAN, Conversion, Rewrite, Rewrites, Sees
from . import (
    comparison,
    computed_keys,
    connective,
    constant_date,
    count,
    cross,
    distinct_measures,
    distinct_semi_join,
    drawn_values,
    expand,
    forms,
    grouping_sets,
    join_condition,
    lateral_join,
    left_join,
    mark_join,
    measure_filter,
    outer_join,
    raise_error,
    random_values,
    read,
    semi_join,
    set_operation,
    single_join,
    subquery,
    variadic,
)

OF_PLANS = (
    read,
    drawn_values,
    set_operation,
    lateral_join,
    subquery,
    single_join,
    measure_filter,
    grouping_sets,
    distinct_measures,
    distinct_semi_join,
    outer_join,
    semi_join,
    mark_join,
    left_join,
    expand,
    cross,
)
"""The rewrites of relations, in their order: each of a canonical plan to another."""

REWRITES: list[Rewrite | Conversion] = [
    *(Rewrite(PLAN, each.rewrite, sees=Sees.ORIGINAL) for each in OF_PLANS),
    *raise_error.REWRITES,
    *comparison.REWRITES,
    *computed_keys.REWRITES,
    *connective.REWRITES,
    *constant_date.REWRITES,
    *count.REWRITES,
    *random_values.REWRITES,
    *variadic.REWRITES,
    *join_condition.REWRITES,
    *forms.REWRITES,
]

GENERAL = Rewrites(REWRITES)
