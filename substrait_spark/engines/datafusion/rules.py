"""All rules for DataFusion."""

from __future__ import annotations

from ...algebra.expression import Expression
from ...lowering.rules import (
    AggregateRule,
    CallRule,
    CastRule,
    ExpressionRule,
    Guard,
    GuardingPass,
    OriginalRule,
    Rules,
    UnloweredCastRule,
    UnloweredRule,
    WindowRule,
)
from .builder import DataFusionBuilder
from .calls import FAMILIES
from .guards import (
    bitwise,
    column_names,
    computed_keys,
    connectives,
    equal_timestamps,
    evaluation_order,
    filter_growth,
    floating,
    join_lambdas,
    joined_names,
    like_escapes,
    null_filters,
    offsets,
    repeated_names,
    union_nullability,
    union_sorts,
    unknown_marks,
)

CALLS: dict[str, CallRule] = {}
UNLOWERED: dict[str, UnloweredRule] = {}
ORIGINALS: dict[str | type[Expression], OriginalRule] = {}
CASTS: dict[tuple[str, str], CastRule] = {}
AGGREGATES: dict[str, AggregateRule] = {}
WINDOWS: dict[str, WindowRule] = {}
GUARDS: dict[str, Guard] = {
    **floating.GUARDS,
    "arithmetic:bitwise_xor": Guard("forgets_nulls", bitwise.xor),
    "boolean:and": Guard("eager_connectives", connectives.connective),
    "boolean:or": Guard("eager_connectives", connectives.connective),
    "comparison:coalesce": Guard("eager_connectives", connectives.coalesced),
    "string:like": Guard("like_escapes", like_escapes.like),
}
KINDS: dict[type[Expression], ExpressionRule] = {}
UNLOWERED_CASTS: dict[tuple[str, str], UnloweredCastRule] = {}
COUNTING: set[str] = set()

for family in FAMILIES:
    CALLS.update(getattr(family, "CALLS", {}))
    UNLOWERED.update(getattr(family, "UNLOWERED", {}))
    ORIGINALS.update(getattr(family, "ORIGINALS", {}))
    CASTS.update(getattr(family, "CASTS", {}))
    AGGREGATES.update(getattr(family, "AGGREGATES", {}))
    WINDOWS.update(getattr(family, "WINDOWS", {}))
    GUARDS.update(getattr(family, "GUARDS", {}))
    KINDS.update(getattr(family, "KINDS", {}))
    UNLOWERED_CASTS.update(getattr(family, "UNLOWERED_CASTS", {}))
    COUNTING.update(getattr(family, "COUNTING", ()))

RULES = Rules(
    calls=CALLS,
    unlowered=UNLOWERED,
    originals=ORIGINALS,
    casts=CASTS,
    aggregates=AGGREGATES,
    windows=WINDOWS,
    guards=GUARDS,
    kinds=KINDS,
    unlowered_casts=UNLOWERED_CASTS,
    counting=COUNTING,
    passes=(
        GuardingPass("equal_timestamps", equal_timestamps.without_equal_timestamps),
        GuardingPass("unknown_marks", unknown_marks.with_unknown_marks),
        GuardingPass("lambdas_in_joins", join_lambdas.without_lambdas),
        GuardingPass("null_filters_estimated", null_filters.without_implied),
        GuardingPass("projects_below_filters", evaluation_order.guard_above_filters),
        GuardingPass("named_by_text", column_names.shorten_names),
        GuardingPass("keys_before_filters", computed_keys.without_unfiltered_keys),
        GuardingPass("ranges_of_unknowns", computed_keys.without_unknown_ranges),
        GuardingPass("keys_named_below", computed_keys.without_repeated_keys),
        GuardingPass("filters_go_by_name", joined_names.with_different_names),
        GuardingPass("unions_repeat_names", repeated_names.with_different_names),
        GuardingPass("sorts_unions_by_input", union_sorts.sort_by_all_keys),
        GuardingPass("unions_keep_nullability", union_nullability.with_nullable_columns),
        GuardingPass("grows_filters", filter_growth.limit_filter_growth),
        GuardingPass("offsets_forgotten", offsets.filter_above_offsets),
    ),
    builder=DataFusionBuilder,
    defects=frozenset(
        "calendar_ends chained_conjuncts constants_survive distinct_widens_sums eager_connectives early_casts empty_frames equal_timestamps "
        "filters_below_totals filters_go_by_name forgets_nulls grows_filters joins_without_columns keys_before_filters keys_named_below keys_of_one_side "
        "keys_survive_joins lambdas_in_joins like_escapes literal_options named_by_text nan_payloads nested_nulls_follow nested_required null_filters_estimated "
        "offsets_forgotten one_list_order one_null_equality projects_below_filters ranges_of_unknowns sorts_unions_by_input spanning_keys_lost subquery_nulls unions_keep_nullability unions_lose_names unions_repeat_names unknown_marks unsigned_range_keys "
        "unwraps_casts".split()
    ),
)
