"""Functions on JSON, CSV and XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..catalyst.modes import time_zone
from ..catalyst.tree import DataType
from ..errors import Unsupported
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

SQL_NAMES = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}
"""Types that Spark's SQL calls otherwise."""

UNITS = {"daytime": ("DAY", "HOUR", "MINUTE", "SECOND"), "yearmonth": ("YEAR", "MONTH")}


def sql_type(type: DataType) -> str:
    """A type as Spark's SQL writes it, with the names of struct fields."""
    if type.name == "decimal":
        return f"DECIMAL({type.parameters[0]},{type.parameters[1]})"
    if type.name == "array":
        return f"ARRAY<{sql_type(type.parameters[0])}>"
    if type.name == "map":
        return f"MAP<{sql_type(type.parameters[0])}, {sql_type(type.parameters[1])}>"
    if type.name == "struct":
        return f"STRUCT<{', '.join(f'{_quoted(field.name)}: {sql_type(field.type)}' for field in type.parameters)}>"
    if type.name in UNITS:
        start, end = (UNITS[type.name][bound] for bound in type.parameters)
        return f"INTERVAL {start}" if start == end else f"INTERVAL {start} TO {end}"
    return SQL_NAMES.get(type.name, type.name.upper())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def parsed(function: str) -> Rule:
    """from_json, from_csv, from_xml: a typed null says what is read, and a text what its fields are called."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if node.get("variantAllowDuplicateKeys") or node.get("requiredSchema") is not None:
            raise Unsupported("it reads VARIANT values, or only some fields of its schema")
        schema = node["schema"]
        return e.call(
            f"spark:{function}",
            e.emit(node["child"]),
            e.null(e.type_of(node)),
            e.text(sql_type(schema)),
            e.text(time_zone(node)),
            *_options(e, node["options"]),
        )

    return emit


def written(function: str) -> Rule:
    """to_csv, to_xml."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = node["child"]
        return _written(e, function, child, time_zone(node), node["options"])

    return emit


def to_json(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """to_json, whose options Spark keeps in an object."""
    evaluator = node["targetObject"]["value"]
    return _written(e, "to_json", node["arguments"][0], time_zone(evaluator), evaluator["options"])


def _written(
    e: ExpressionBuilder, function: str, value: tree.Expression, zone: str, options: tree.Options
) -> Expression:
    return e.call(f"spark:{function}", e.emit(value), e.text(sql_type(value.type)), e.text(zone), *_options(e, options))


def _options(e: ExpressionBuilder, options: tree.Options) -> list[Expression]:
    """Options as alternating keys and values, by key."""
    hidden = sorted(key for key, value in options.entries.items() if value is None)
    if hidden:
        raise Unsupported(f"what its options mean is not known: {', '.join(hidden)}")
    return [e.text(part) for key, value in sorted(options.entries.items()) for part in (key, value or "")]


def xpath(function: str) -> Rule:
    """The xpath functions, whose path Spark keeps in an object."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"spark:{function}", e.emit(node["arguments"][0]), e.text(node["targetObject"]["value"]["path"]))

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "CsvToStructs": parsed("from_csv"),
    "GetJsonObject": plain("spark:get_json_object"),
    "Invoke(StructsToJsonEvaluator.evaluate)": to_json,
    "Invoke(XPathBooleanEvaluator.evaluate)": xpath("xpath_boolean"),
    "Invoke(XPathDoubleEvaluator.evaluate)": xpath("xpath_double"),
    "Invoke(XPathFloatEvaluator.evaluate)": xpath("xpath_float"),
    "Invoke(XPathIntEvaluator.evaluate)": xpath("xpath_int"),
    "Invoke(XPathListEvaluator.evaluate)": xpath("xpath"),
    "Invoke(XPathLongEvaluator.evaluate)": xpath("xpath_long"),
    "Invoke(XPathShortEvaluator.evaluate)": xpath("xpath_short"),
    "Invoke(XPathStringEvaluator.evaluate)": xpath("xpath_string"),
    "JsonToStructs": parsed("from_json"),
    "StaticInvoke(JsonExpressionUtils.jsonObjectKeys)": plain("spark:json_object_keys"),
    "StaticInvoke(JsonExpressionUtils.lengthOfJsonArray)": plain("spark:json_array_length"),
    "StructsToCsv": written("to_csv"),
    "StructsToXml": written("to_xml"),
    "XmlToStructs": parsed("from_xml"),
}
