"""SetRel: https://substrait.io/relations/logical_relations/#set-operation."""

from __future__ import annotations

from ..algebra.relation import Set
from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output


def union(r: RelationBuilder, node: tree.Plan) -> Output:
    """Union: all rows of all children, columns matched by position; they go by the first child's exprIds."""
    inputs = [r.emit(child, f"children[{n}]: ") for n, child in enumerate(node["children"])]
    if len(inputs) == 1:
        return inputs[0]
    return Output(Set([input.relation for input in inputs], "UNION_ALL"), inputs[0].ids)


HANDLERS = {"Union": union}
