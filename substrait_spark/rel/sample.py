"""Sample: rows picked at random, as an extension relation."""

from __future__ import annotations

from ..algebra.relation import Sample
from ..catalyst import tree
from ..errors import Unsupported
from .builder import RelationBuilder
from .output import Output


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Sample: with Spark's seed, though which rows it picks hangs on how Spark has partitioned them."""
    input = r.emit(node["child"])
    if node.get("sampleMethod", "Bernoulli") != "Bernoulli":
        raise Unsupported(f"the sampling method {node['sampleMethod']} hangs on the data source")
    lower, upper = float(node["lowerBound"]), float(node["upperBound"])
    if lower <= 0 and upper >= 1 and not node["withReplacement"]:
        return input  # each row has a random number from 0 to below 1
    return Output(Sample(input.relation, lower, upper, node["withReplacement"], node["seed"]), input.ids)


HANDLERS = {"Sample": emit}
