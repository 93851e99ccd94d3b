"""JSON, CSV and XML of functions_spark.yaml.

A struct's text has names, which types of plans lack: an argument states the type as Spark's SQL writes it.
"""

from __future__ import annotations

from ...calls import Call
from ...document import Node, Part
from ..datetime import zone_of
from ..rules import Rule, spark
from . import same

_SAME = (
    *("get_json_object", "json_array_length", "json_object_keys"),
    *("xpath", "xpath_boolean", "xpath_double", "xpath_float", "xpath_int", "xpath_long", "xpath_short"),
    "xpath_string",
)
"""Spark's functions of the same name and arguments."""


def _read(name: str) -> Rule:
    """Of a text, a null of the result's type, that type in SQL, the time zone, and options."""

    def read(call: Call) -> Node:
        text, _, schema, _, *options = call.values
        return call.spark(name, text, schema, *_options(call, options), zone=zone_of(call, 3))

    return read


def _written(name: str) -> Rule:
    """Of a value, its type in SQL, the time zone, and options."""

    def write(call: Call) -> Node:
        value, _, _, *options = call.values
        named = call.new("Cast", value, Part("ddl", call.constant(1)), Part("some", "UTC"), Part("mode", "ANSI"))
        return call.spark(name, named, *_options(call, options), zone=zone_of(call, 2))

    return write


def _options(call: Call, options: list[Node]) -> list[Node]:
    return [call.spark("map", *options)] if options else []


RULES: dict[str, Rule] = {
    **same(_SAME, spark),
    "spark:from_csv": _read("from_csv"),
    "spark:from_json": _read("from_json"),
    "spark:from_xml": _read("from_xml"),
    "spark:to_csv": _written("to_csv"),
    "spark:to_json": _written("to_json"),
    "spark:to_xml": _written("to_xml"),
}
