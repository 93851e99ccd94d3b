"""Functions that DataFusion has no exact form for, and that Python computes: those of `engines/arrow/functions/`, by their own names.

Their names begin with `spark_`, so that no DataFusion takes one for a function of its own that means something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeGuard

from ....algebra.builder import UndeclaredFunctionError
from ....algebra.expression import Expression, ScalarFunction
from ....dialects.rewrite import Apply, Conversion, Rewrite, Sees
from ....lowering.builder import LoweringBuilder
from .java_pattern import translated
from .string import text
from .time_zone import recurring, zone

FUNCTIONS = (
    "arithmetic:acosh",
    "arithmetic:asinh",
    "arithmetic:atanh",
    "spark:spark_divide",
    "spark:spark_multiply",
    "spark:div",
    "spark:mod",
    "spark:pmod",
    "spark:try_div",
    "spark:try_divide",
    "spark:try_mod",
    "spark:try_multiply",
    "spark:try_pmod",
    "spark:bitmap_count",
    "spark:bround",
    "spark:try_bround",
    "spark:decode",
    "spark:encode",
    "spark:from_base32",
    "spark:hmac",
    "spark:to_base32",
    "spark:to_binary",
    "spark:try_to_binary",
    "spark:unbase64",
    "spark:jaro_winkler_similarity",
    "spark:luhn_check",
    "spark:mask",
    "spark:parse_url",
    "spark:try_parse_url",
    "spark:try_url_decode",
    "spark:url_decode",
    "spark:conv",
    "spark:to_char",
    "spark:to_number",
    "spark:try_to_number",
    "spark:hash",
    "spark:xxhash64",
    "spark:regexp_count",
    "spark:regexp_extract",
    "spark:regexp_extract_all",
    "spark:regexp_instr",
    "spark:spark_regexp_replace",
    "spark:rlike",
    "spark:split",
    "spark:split_truncating",
    "spark:str_to_map",
    "spark:array_insert",
    "spark:instr",
    "spark:round_half_up",
    "spark:spark_ceil",
    "spark:spark_contains",
    "spark:spark_floor",
    "spark:spark_reverse",
    "spark:spark_round",
    "spark:split_part",
    "spark:substring_index",
    "spark:timestamp_seconds",
    "spark:vector_cosine_similarity",
    "spark:vector_inner_product",
    "spark:vector_l2_distance",
    "spark:vector_norm",
    "spark:vector_normalize",
    "spark:convert_timezone",
    "spark:from_utc_timestamp",
    "spark:to_utc_timestamp",
)
"""Canonical functions; each is `spark_` and its name in `functions.yaml`."""


def name_of(function: str) -> str:
    """The name of what computes a canonical function, `alias:name`."""
    return "arrow:spark_" + function.partition(":")[2].removeprefix("spark_")


def _parameter(key: str) -> None:
    """The pattern of a query's parameter, which Spark makes of its key."""
    translated(f"(&|^){key}=([^&]*)")


def require_zone(name: str) -> None:
    """A time zone, which is to have the rules here that it has in Java."""
    where = zone(name or "UTC")
    if where.offset is None:
        recurring(where)


LITERALS: Mapping[str, Mapping[int, Callable[[str], object]]] = {
    "spark:convert_timezone": {0: require_zone, 1: require_zone},
    "spark:from_utc_timestamp": {1: require_zone},
    "spark:parse_url": {2: _parameter},
    "spark:regexp_count": {1: translated},
    "spark:regexp_extract": {1: translated},
    "spark:regexp_extract_all": {1: translated},
    "spark:regexp_instr": {1: translated},
    "spark:rlike": {1: translated},
    "spark:spark_regexp_replace": {1: translated},
    "spark:split": {1: translated},
    "spark:split_truncating": {1: translated},
    "spark:str_to_map": {1: translated, 2: translated},
    "spark:to_utc_timestamp": {1: require_zone},
    "spark:try_parse_url": {2: _parameter},
}
"""Arguments, and what refuses those of their literals that mean something else here: Java's regular expressions, and time zones."""


def by_value(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The call under the name of what Python computes."""
    arguments = call.children()
    for position, require in LITERALS.get(call.declaration.function, {}).items():
        known = text(arguments[position]) if position < len(arguments) else None
        if known is not None:
            require(known)
    options: dict[str, str | None] = dict(call.options)
    try:
        return e.call(name_of(call.declaration.function), *call.arguments, **options)
    except UndeclaredFunctionError:  # Python computes it of other types alone
        return e.general(call)


def with_values(listed: Sequence[Rewrite | Conversion]) -> list[Rewrite | Conversion]:
    """The rewrites, where Python computes what has no other form."""
    composed = {each.target for each in listed if _is_composed(each)}
    alone = [Rewrite(function, by_value) for function in FUNCTIONS if function not in composed]
    return [*(_or_by_value(each) if _is_composed(each) else each for each in listed), *alone]


def _is_composed(rewrite: Rewrite | Conversion) -> TypeGuard[Rewrite]:
    """Whether a rewrite is of a function that Python computes, too."""
    if not isinstance(rewrite, Rewrite) or rewrite.defect or rewrite.sees is not Sees.LOWERED:
        return False
    return rewrite.target in FUNCTIONS


def _or_by_value(rewrite: Rewrite) -> Rewrite:
    return rewrite._replace(apply=partial(_composed_or_by_value, rewrite.apply))


def _composed_or_by_value(composed: Apply, e: LoweringBuilder, call: ScalarFunction) -> Expression:
    return e.instead(call, partial(composed, e, call), partial(by_value, e, call))
