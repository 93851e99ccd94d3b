"""All that DataFusion's plans are rewritten by: functions that it lacks, and what it gets wrong."""

from __future__ import annotations

from ...algebra.expression import (
    AggregateFunction,
    Cast,
    IfThen,
    Literal,
    ScalarFunction,
    SingularOrList,
    SortField,
    WindowCall,
)
from ...algebra.recursion import PreviousRows
from ...algebra.relation import Aggregate, Fetch, Join, Set, VirtualTable
from ...dialects.rewrite import PLAN, Conversion, Rewrite, Sees, rewrites
from ...lowering.forms import Alike, Conjunction, Filtered, Joined, Key, Raised, Root, Windowed
from . import previous_rows, structs
from .defects import (
    bitwise,
    column_names,
    computed_keys,
    connectives,
    constants,
    dealt_rows,
    distinct_sums,
    early_casts,
    empty_frames,
    empty_inputs,
    equal_timestamps,
    evaluation_order,
    filter_columns,
    filter_growth,
    filtered_totals,
    floating,
    in_list,
    join_conditions,
    join_keys,
    join_lambdas,
    joined_names,
    key_bounds,
    lambda_nullability,
    lambdas_over_no_rows,
    like_escapes,
    limited_groups,
    list_order,
    local_rows,
    mark_names,
    nested_keys,
    nested_nulls,
    null_filters,
    offsets,
    repeated_names,
    same_names,
    semi_joins,
    spanning_keys,
    total_bounds,
    total_windows,
    totals,
    union_names,
    union_nullability,
    union_sorts,
    unique_keys,
    unknown_marks,
    unsigned_range,
    unwrapped_casts,
)
from .functions import FAMILIES
from .functions.by_value import with_values

NAMES = [
    Rewrite(ScalarFunction, same_names.in_call, sees=Sees.BUILT),
    Rewrite(Cast, structs.of_named, sees=Sees.BUILT),
    Rewrite(Literal, structs.nameless_null, sees=Sees.BUILT),
    Rewrite(Alike, same_names.alike),
    Rewrite(Set, same_names.united),
    Rewrite(Root, same_names.rooted),
]
"""Structs by the names of their fields, where plans have them by position."""

OF_EXPRESSIONS = [
    Rewrite("datafusion:array_transform", lambda_nullability.in_call, "lambdas_keep_nullability", Sees.BUILT),
    Rewrite(Cast, early_casts.late, "early_casts", Sees.BUILT),
    Rewrite(Cast, unwrapped_casts.shielded_cast, "unwraps_casts", Sees.BUILT),
    Rewrite(Raised, lambdas_over_no_rows.in_error, "lambdas_over_no_rows"),
    Rewrite(Raised, early_casts.error, "early_casts"),
    *rewrites(dict.fromkeys(floating.COMPARISONS, floating.compared), "nan_payloads"),
    Rewrite("arithmetic:bitwise_xor", bitwise.xor, "forgets_nulls"),
    Rewrite("boolean:and", in_list.with_lists_apart, "forgets_nulls"),
    Rewrite("boolean:or", in_list.with_lists_apart, "forgets_nulls"),
    Rewrite("boolean:and", connectives.connective, "eager_connectives"),
    Rewrite("boolean:or", connectives.connective, "eager_connectives"),
    Rewrite("comparison:coalesce", connectives.coalesced, "eager_connectives"),
    Rewrite("string:like", like_escapes.like, "like_escapes"),
    Rewrite(IfThen, connectives.chosen, "eager_connectives"),
    Rewrite(SingularOrList, in_list.comparable),
    Rewrite(SingularOrList, in_list.of_literals, "literal_options"),
    Rewrite(Conjunction, connectives.conjunction, "eager_connectives"),
    Rewrite(Conjunction, connectives.flat, "chained_conjuncts"),
    Rewrite(Key, floating.key, "nan_payloads"),
    Rewrite(SortField, floating.sort_key, "nan_payloads"),
    Rewrite(SortField, nested_nulls.sort_key, "nested_nulls_follow"),
    Rewrite(AggregateFunction, floating.distinct, "nan_payloads"),
    Rewrite(WindowCall, empty_frames.refused, "empty_frames"),
]

OF_RELATIONS = [
    Rewrite(PreviousRows, previous_rows.as_computed, sees=Sees.ORIGINAL),
    Rewrite(VirtualTable, local_rows.nullable, "nested_required", Sees.ORIGINAL),
    Rewrite(VirtualTable, local_rows.table, sees=Sees.ORIGINAL),
    Rewrite(Filtered, totals.in_filter, "filters_below_totals"),
    Rewrite(Filtered, constants.varying_filter, "constants_survive"),
    Rewrite(Filtered, key_bounds.in_filter, "bounds_of_keys"),
    Rewrite(Filtered, empty_inputs.in_filter, "unions_lose_names"),
    Rewrite(Filtered, connectives.with_keys, "eager_connectives"),
    Rewrite(Joined, empty_inputs.in_join, "unions_lose_names"),
    Rewrite(Joined, join_keys.with_columns, "joins_without_columns"),
    Rewrite(Joined, join_conditions.with_late_filters, "eager_connectives"),
    Rewrite(Join, spanning_keys.kept, "spanning_keys_lost"),
    Rewrite(Join, totals.in_join, "filters_below_totals"),
    Rewrite(Join, join_keys.with_filters_of_one_side, "keys_of_one_side"),
    Rewrite(Join, semi_joins.with_different_rows, "semi_joins_pair_rows"),
    Rewrite(Join, join_keys.with_one_equality, "one_null_equality"),
    Rewrite(Join, join_conditions.in_join, "joins_compute_parts"),
    Rewrite(Join, key_bounds.in_join, "bounds_of_keys"),
    Rewrite(Join, constants.varying_join, "constants_survive"),
    Rewrite(Aggregate, distinct_sums.with_filters, "distinct_widens_sums"),
    Rewrite(Aggregate, list_order.require_one_order, "one_list_order"),
    Rewrite(Aggregate, unique_keys.without_keys, "keys_survive_joins"),
    Rewrite(Aggregate, nested_keys.without_order, "nested_keys_in_order"),
    Rewrite(Fetch, offsets.by_number, "offsets_lose_order"),
    Rewrite(Windowed, total_windows.without_keys, "totals_keep_no_order"),
    Rewrite(Windowed, column_names.with_levels, "named_by_text"),
    Rewrite(Windowed, unsigned_range.windowed, "unsigned_range_keys"),
]

OF_PLANS = [
    Rewrite(PLAN, dealt_rows.sorted_where_needed, "deals_rows_out", Sees.ORIGINAL),
    Rewrite(PLAN, dealt_rows.sorted_again, "deals_rows_out"),
    Rewrite(PLAN, semi_joins.with_inner_joins_first, "semi_joins_pair_rows"),
    Rewrite(PLAN, filtered_totals.apart, "filtered_totals_lost"),
    Rewrite(PLAN, total_bounds.with_counts, "bounds_of_totals"),
    Rewrite(PLAN, equal_timestamps.without_equal_timestamps, "equal_timestamps"),
    Rewrite(PLAN, unknown_marks.with_unknown_marks, "unknown_marks"),
    Rewrite(PLAN, join_lambdas.without_lambdas, "lambdas_in_joins"),
    Rewrite(PLAN, null_filters.without_implied, "null_filters_estimated"),
    Rewrite(PLAN, evaluation_order.guard_above_filters, "projects_below_filters"),
    Rewrite(PLAN, column_names.shorten_names, "named_by_text"),
    Rewrite(PLAN, empty_inputs.at_the_end, "unions_lose_names"),
    Rewrite(PLAN, computed_keys.without_unfiltered_keys, "keys_before_filters"),
    *[
        Rewrite(PLAN, computed_keys.computed_below, defect)
        for defect in ("equals_in_keys", "keys_named_below", "ranges_of_unknowns")
    ],
    Rewrite(PLAN, mark_names.with_used_columns, "marks_go_by_name"),
    Rewrite(PLAN, joined_names.with_different_names, "filters_go_by_name"),
    Rewrite(PLAN, union_names.with_names_that_stay, "unions_lose_names"),
    Rewrite(PLAN, repeated_names.with_different_names, "unions_repeat_names"),
    Rewrite(PLAN, union_sorts.sort_by_all_keys, "sorts_unions_by_input"),
    Rewrite(PLAN, union_nullability.with_nullable_columns, "unions_keep_nullability"),
    Rewrite(PLAN, filter_growth.limit_filter_growth, "grows_filters"),
    Rewrite(PLAN, limited_groups.below_filters, "limits_cut_groups"),
    Rewrite(PLAN, offsets.filter_above_offsets, "offsets_forgotten"),
    Rewrite(PLAN, filter_columns.reordered_above_sorts, "narrows_filters_twice"),
]

REWRITES: list[Rewrite | Conversion] = [
    *with_values([each for family in FAMILIES for each in family.REWRITES]),
    *NAMES,
    *OF_EXPRESSIONS,
    *OF_RELATIONS,
    *OF_PLANS,
]
