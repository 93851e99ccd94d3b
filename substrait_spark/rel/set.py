"""SetRel: https://substrait.io/relations/logical_relations/#set-operation."""

from __future__ import annotations

from ..algebra import types
from ..algebra.relation import Set
from ..catalyst import tree
from ..errors import Unsupported
from .builder import RelationBuilder
from .output import Output


def union(r: RelationBuilder, node: tree.Plan) -> Output:
    """Union: all rows of all children, columns matched by position; they go by the first child's exprIds."""
    inputs = [r.emit(child, f"children[{n}]: ") for n, child in enumerate(node["children"])]
    if len(inputs) == 1:
        return inputs[0]
    kinds = [input.relation.types for input in inputs]
    for other in kinds[1:]:
        if len(other) != len(kinds[0]) or not all(map(types.equal_but_nullability, kinds[0], other)):
            raise Unsupported("the inputs of the union have different types")
    return Output(Set([input.relation for input in inputs], "UNION_ALL"), inputs[0].ids)


HANDLERS = {"Union": union}
