"""VARIANT: a user-defined type of ours, what makes its values, and what takes them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..catalyst.modes import TRY, eval_mode, time_zone
from ..catalyst.sql_types import OF_VALUES, sql_type
from ..errors import Unsupported
from .measure import AggregateRule, plain_aggregate
from .table import Plain, arguments_of, plain

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


def _changed(name: str) -> Rule:
    """What has a value put into a variant, at a path: the value as a variant, and flags that are constant."""

    def change(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value, path, part, *flags = arguments_of(node, frozenset(["failOnError"]))
        kind = sql_type(part.type, OF_VALUES)
        inserted = (
            e.emit(part) if part.type.name == "variant" else e.call("spark:to_variant", e.emit(part), e.text(kind))
        )
        arguments = (e.emit(value), e.emit(path), inserted, *e.emit_all(flags))
        return e.call(f"spark:{'' if node['failOnError'] else 'try_'}{name}", *arguments)

    return change


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
    "StaticInvoke(VariantExpressionEvalUtils.stripNulls)": plain("spark:variant_strip_nulls"),
    "ToVariantObject": to_variant_object,
    "VariantArrayAppend": _changed("variant_array_append"),
    "VariantDelete": plain("spark:variant_delete"),
    "VariantGet": variant_get,
    "VariantInsert": _changed("variant_insert"),
    "VariantSet": _changed("variant_set"),
}

AGGREGATE: dict[str, AggregateRule] = {"SchemaOfVariantAgg": plain_aggregate("spark:schema_of_variant_agg")}
