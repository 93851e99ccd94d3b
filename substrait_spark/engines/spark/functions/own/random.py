"""Random values, hashes, row numbers and errors of functions_spark.yaml."""

from __future__ import annotations

from ...calls import Call
from ...document import Node, Part, some
from ...types import spark_type
from ..rules import Rule, spark


def _hash(call: Call) -> Node:
    return call.new("Murmur3Hash", call.values[1:], call.constant(0))


def _xxhash64(call: Call) -> Node:
    return call.new("XxHash64", call.values[1:], Part("long", call.constant(0)))


def _seeded(name: str) -> Rule:
    """One of Spark's classes of other arguments and, last, a seed."""
    return lambda call: call.new(name, *call.values[:-1], some(Part("long", call.constant(len(call.values) - 1))))


def _raise_error(call: Call) -> Node:
    return call.new("RaiseError", *call.values[:2], Part("type", spark_type(call.type)))


RULES: dict[str, Rule] = {
    "spark:hash": _hash,
    "spark:xxhash64": _xxhash64,
    "spark:rand": spark("rand"),
    "spark:randn": spark("randn"),
    "spark:randstr": spark("randstr"),
    "spark:uuid": _seeded("Uuid"),
    "spark:shuffle": _seeded("Shuffle"),
    "spark:monotonically_increasing_id": spark("monotonically_increasing_id"),
    "spark:raise_error": _raise_error,
}
