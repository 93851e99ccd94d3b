"""VARIANT of functions_spark.yaml. A type that an argument states is as Spark's SQL writes it."""

from __future__ import annotations

from .....algebra.expression import Literal
from .....errors import Unsupported
from ...calls import Call
from ...document import Node, Part, some
from ..datetime import zone_of
from ..rules import Rule, aggregate, refused, spark
from . import same


def _of_encoding(call: Call) -> Node:
    parts = [part.value for part in call.expressions if isinstance(part, Literal)]
    if len(parts) != 2 or None in parts:
        raise Unsupported(f"{call.key} is run where its arguments are literals")
    return call.literal(tuple(parts), call.type)


def _part(fails: bool) -> Rule:
    """The part of a variant at a path, in a type."""

    def get(call: Call) -> Node:
        value, path, *_ = call.values
        return call.new("VariantGet", value, path, Part("ddl", call.constant(3)), fails, some(zone_of(call, 4)))

    return get


def _made(call: Call) -> Node:
    """A list may be cast to a variant, but for one with structs or maps inside, whose names the stated type has."""
    type = Part("ddl", call.constant(1))
    named = call.new("Cast", call.values[0], type, some("UTC"), Part("mode", "ANSI"))
    if any(word in str(call.constant(1)) for word in ("STRUCT<", "MAP<")):
        return call.spark("to_variant_object", named)
    return call.cast(named, call.type)


_SAME = (
    *("is_valid_variant", "is_variant_null", "parse_json", "schema_of_variant", "try_parse_json"),
    *(f"{attempt}variant_{change}" for change in ("array_append", "insert", "set") for attempt in ("", "try_")),
    *("variant_delete", "variant_strip_nulls"),
)
"""Spark's functions of the same name and arguments."""

RULES: dict[str, Rule] = {
    **same(_SAME, spark),
    **same(("schema_of_variant_agg",), aggregate),
    "spark:variant": _of_encoding,
    "spark:variant_explode": refused("is run where it makes rows"),
    "spark:variant_get": _part(True),
    "spark:try_variant_get": _part(False),
    "spark:to_variant": _made,
}
