"""General rules: what a dialect's lists lack, in other canonical forms. Each is a module of its own; they run in this order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..algebra.relation import Relation
from . import (
    cross,
    expand,
    grouping_sets,
    lateral_join,
    left_join,
    mark_join,
    measure_filter,
    outer_join,
    read,
    semi_join,
    set_operation,
    single_join,
    subquery,
)

if TYPE_CHECKING:
    from .lowering import Lowering

Rewrite = Callable[["Lowering", Relation], Relation]

REWRITES: Sequence[Rewrite] = (
    read.rewrite,
    set_operation.rewrite,
    lateral_join.rewrite,
    subquery.rewrite,
    single_join.rewrite,
    measure_filter.rewrite,
    grouping_sets.rewrite,
    outer_join.rewrite,
    semi_join.rewrite,
    mark_join.rewrite,
    left_join.rewrite,
    expand.rewrite,
    cross.rewrite,
)
