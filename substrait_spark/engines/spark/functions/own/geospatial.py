"""GEOMETRY and GEOGRAPHY of functions_spark.yaml."""

from __future__ import annotations

from ...calls import Call
from ...document import Node
from ..rules import Rule, spark
from . import same


def _typed(name: str) -> Rule:
    """Spark's function of all arguments but the last, which states the type of the result."""
    return lambda call: call.cast(call.spark(name, *call.values[:-1]), call.type)


def _cast(call: Call) -> Node:
    return call.cast(call.values[0], call.type)


RULES: dict[str, Rule] = {
    **same(("st_asbinary", "st_srid"), spark),
    **same(("st_geogfromwkb", "st_geomfromwkb", "st_setsrid"), _typed),
    "spark:st_cast": _cast,
}
