"""Functions on JSON, CSV and XML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..catalyst import tree
from ..catalyst.modes import time_zone
from ..catalyst.sql_types import OF_VALUES, sql_type
from ..catalyst.tree import DataType, Field
from ..errors import Unsupported
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

TIMES = ("date", "timestamp", "timestamp_ntz")

POLICY = "spark.sql.legacy.timeParserPolicy"

POLICIES = {"from": ("CORRECTED",), "to": ("CORRECTED", "EXCEPTION")}
"""Those that leave patterns what they are, and raise for no text that Spark before 3.0 would have read."""

EXPECTED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "from_json": {
        "spark.sql.json.enableExactStringParsing": ("TRUE",),
        "spark.sql.json.enablePartialResults": ("TRUE",),
        "spark.sql.legacy.json.allowEmptyString.enabled": ("FALSE",),
    },
    "from_xml": {"spark.sql.caseSensitive": ("FALSE",), "spark.sql.legacy.useLegacyXMLParser": ("FALSE",)},
    "to_csv": {"spark.sql.legacy.nullValueWrittenAsQuotedEmptyStringCsv": ("FALSE",)},
}
"""By function: settings that it reads when it runs, and the values that a plan means."""

CORRUPT_RECORD = ("columnNameOfCorruptRecord", "spark.sql.columnNameOfCorruptRecord", "_corrupt_record")
FALLBACK = "enableDateTimeParsingFallback"

STATED = {
    "from_csv": (CORRUPT_RECORD, (FALLBACK, "spark.sql.legacy.csv.enableDateTimeParsingFallback", "")),
    "from_json": (CORRUPT_RECORD, (FALLBACK, "spark.sql.legacy.json.enableDateTimeParsingFallback", "")),
    "from_xml": (CORRUPT_RECORD,),
    "to_json": (("ignoreNullFields", "spark.sql.jsonGenerator.ignoreNullFields", "true"),),
}
"""By function: options whose default is a setting, that setting, and the value that it has as a rule."""


SORTED = "sortkeys"
"""An option of to_json from 4.2 on, in lower case; Spark ignores it before that, as it does any that it doesn't know."""


def parsed(function: str) -> Rule:
    """from_json, from_csv, from_xml: a typed null says what is read, and a text what its fields are called."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if node.get("variantAllowDuplicateKeys") or node.get("requiredSchema") is not None:
            raise Unsupported("it reads VARIANT values, or only some fields of its schema")
        schema = node["schema"]
        _require_settings(e, function, schema)
        return e.call(
            f"spark:{function}",
            e.emit(node["child"]),
            e.null(e.type_of(node)),
            e.text(sql_type(schema)),
            e.text(time_zone(node)),
            *_options(e, function, node["options"]),
        )

    return emit


def written(function: str) -> Rule:
    """to_csv, to_xml."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = node["child"]
        return _written(e, function, child, time_zone(node), node["options"])

    return emit


def to_json(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """to_json, whose options Spark keeps in an object from 4.0 on."""
    if node.cls.name == "StructsToJson":
        return _written(e, "to_json", node["child"], time_zone(node), node["options"])
    evaluator = node["targetObject"]["value"]
    return _written(e, "to_json", node["arguments"][0], time_zone(evaluator), evaluator["options"])


def _written(
    e: ExpressionBuilder, function: str, value: tree.Expression, zone: str, options: tree.Options
) -> Expression:
    _require_settings(e, function, value.type)
    written = (e.emit(value), e.text(sql_type(value.type, OF_VALUES)), e.text(zone))
    return e.call(f"spark:{function}", *written, *_options(e, function, options))


def _require_settings(e: ExpressionBuilder, function: str, type: DataType) -> None:
    """Refuse settings that change what the function does, where none of its options says so."""
    expected = EXPECTED.get(function, {})
    if _has_times(type):
        expected = {**expected, POLICY: POLICIES[function.partition("_")[0]]}
    for name, values in expected.items():
        value = e.context.configuration.get(name, "")
        if value and value.upper() not in values:
            raise Unsupported(
                f"the setting {name}={value} changes what {function} does, and a plan can't say so",
                f"Set it to {values[0]}.",
            )


def _has_times(type: DataType) -> bool:
    parts = [part.type if isinstance(part, Field) else part for part in type.parameters]
    return type.name in TIMES or any(isinstance(part, DataType) and _has_times(part) for part in parts)


def _options(e: ExpressionBuilder, function: str, options: tree.Options) -> list[Expression]:
    """Options as alternating keys and values, by key; with those that settings give."""
    hidden = sorted(key for key, value in options.entries.items() if value is None)
    if hidden:
        raise Unsupported(f"what its options mean is not known: {', '.join(hidden)}")
    known = {key.lower() for key in options.entries}
    given = dict(options.entries)
    for option, setting, default in STATED.get(function, ()):
        value = e.context.configuration.get(setting) or default
        if value != default and option.lower() not in known:
            given[option] = value
    if e.context.is_before(4, 2):
        given = {key: value for key, value in given.items() if key.lower() != SORTED}
    return [e.text(part) for key, value in sorted(given.items()) for part in (key, value or "")]


def xpath(function: str) -> Rule:
    """The xpath functions, whose path Spark keeps in an object from 4.0 on."""

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
    "JsonObjectKeys": plain("spark:json_object_keys"),
    "JsonToStructs": parsed("from_json"),
    "LengthOfJsonArray": plain("spark:json_array_length"),
    "StaticInvoke(JsonExpressionUtils.jsonObjectKeys)": plain("spark:json_object_keys"),
    "StaticInvoke(JsonExpressionUtils.lengthOfJsonArray)": plain("spark:json_array_length"),
    "StructsToCsv": written("to_csv"),
    "StructsToJson": to_json,
    "StructsToXml": written("to_xml"),
    "XPathBoolean": plain("spark:xpath_boolean"),
    "XPathDouble": plain("spark:xpath_double"),
    "XPathFloat": plain("spark:xpath_float"),
    "XPathInt": plain("spark:xpath_int"),
    "XPathList": plain("spark:xpath"),
    "XPathLong": plain("spark:xpath_long"),
    "XPathShort": plain("spark:xpath_short"),
    "XPathString": plain("spark:xpath_string"),
    "XmlToStructs": parsed("from_xml"),
}
