"""Random values, hashes, row numbers and errors of functions_spark.yaml."""

from __future__ import annotations

from .....algebra.types import STRING
from .....catalyst.versions import running
from .....errors import Unsupported
from .....functions.user_error import CLASS
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
    """RaiseError. Spark 3.5 has no classes of errors and only the message, which is one of the parameters."""
    kind, parameters = call.values[:2]
    type = Part("type", spark_type(call.type))
    if running() >= (4, 0):
        return call.new("RaiseError", kind, parameters, type)
    if call.constant(0) != CLASS:
        raise Unsupported(f"{call.key} of other classes than {CLASS} is not run before Spark 4.0")
    message = call.spark("try_element_at", parameters, call.literal("errorMessage", STRING))
    return call.new("RaiseError", message, type)


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
