"""VARIANT: a user-defined type of ours, what makes its values, and what takes them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..catalyst.modes import TRY, eval_mode, time_zone
from ..catalyst.sql_types import OF_VALUES, sql_type
from ..errors import Unsupported
from .measure import AggregateRule, plain_aggregate
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

KIND = "u!variant"


def parse_json(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """What parse_json and try_parse_json are replaced by: the text, and flags that are constant."""
    text, repeated, fails, *more = node["arguments"]
    flags = [flag["value"] for flag in (repeated, fails, *more)]
    if flags[0] or not all(flags[2:]):
        raise Unsupported("a setting changes what JSON a VARIANT is read from", "Unset spark.sql.variant settings.")
    return e.call("spark:parse_json" if flags[1] else "spark:try_parse_json", e.emit(text))


def variant_get(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """VariantGet."""
    name = "variant_get" if node["failOnError"] else "try_variant_get"
    return _part(e, node, name, e.emit(node["child"]), e.emit(node["path"]))


def cast_from(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A cast of a variant: an error in LEGACY mode, too."""
    name = "try_variant_get" if eval_mode(node) == TRY else "variant_get"
    return _part(e, node, name, value, e.text("$"))


def _part(e: ExpressionBuilder, node: tree.Expression, name: str, value: Expression, path: Expression) -> Expression:
    like, zone = e.null(e.type_of(node)), e.text(time_zone(node))
    return e.call(f"spark:{name}", value, path, like, e.text(sql_type(node.type)), zone)


def cast_to(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A cast to a variant, and ToVariantObject."""
    return e.call("spark:to_variant", value, e.text(sql_type(node["child"].type, OF_VALUES)))


def to_variant_object(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ToVariantObject."""
    return cast_to(e, node, e.emit(node["child"]))


SCALAR: dict[str, Plain | Rule] = {
    "StaticInvoke(SchemaOfVariant.schemaOfVariant)": plain("spark:schema_of_variant"),
    "StaticInvoke(VariantExpressionEvalUtils.isValidVariant)": plain("spark:is_valid_variant"),
    "StaticInvoke(VariantExpressionEvalUtils.isVariantNull)": plain("spark:is_variant_null"),
    "StaticInvoke(VariantExpressionEvalUtils.parseJson)": parse_json,
    "ToVariantObject": to_variant_object,
    "VariantGet": variant_get,
}

AGGREGATE: dict[str, AggregateRule] = {"SchemaOfVariantAgg": plain_aggregate("spark:schema_of_variant_agg")}
