"""SetRel: https://substrait.io/relations/logical_relations/#set-operation."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import FieldReference
from ..algebra.relation import Aggregate, Set
from ..catalyst import tree
from ..errors import Unsupported
from .builder import RelationBuilder
from .output import Output


def union(r: RelationBuilder, node: tree.Plan) -> Output:
    """Union: all rows of all children, columns matched by position; they go by the first child's exprIds."""
    inputs = _each(r, node)
    return inputs[0] if len(inputs) == 1 else _combined(inputs, "UNION_ALL")


def distinct(r: RelationBuilder, node: tree.Plan) -> Output:
    """Distinct: each row once. Of a union, the set operation says so itself."""
    child = node["child"]
    if child.name == "Union" and len(child["children"]) > 1:
        return _combined(_each(r, child), "UNION_DISTINCT")
    input = r.emit(child)
    columns = [FieldReference(n, kind) for n, kind in enumerate(input.relation.types)]
    e = r.expressions(input.scope())
    # Without a column, Spark has one row, also of no rows.
    measures = [] if columns else [e.aggregate("aggregate_generic:count")]
    return Output(Aggregate(input.relation, columns, measures).select(range(len(columns))), input.ids)


def intersect(r: RelationBuilder, node: tree.Plan) -> Output:
    """Intersect: the rows that both children have, each once, or as often as both have it."""
    inputs = [r.emit(node["left"], "left: "), r.emit(node["right"], "right: ")]
    return _combined(inputs, "INTERSECTION_MULTISET_ALL" if node["isAll"] else "INTERSECTION_MULTISET")


def except_(r: RelationBuilder, node: tree.Plan) -> Output:
    """Except: the rows that the right child lacks, each once, or as often as the left child has it more often."""
    inputs = [r.emit(node["left"], "left: "), r.emit(node["right"], "right: ")]
    return _combined(inputs, "MINUS_PRIMARY_ALL" if node["isAll"] else "MINUS_PRIMARY")


def _each(r: RelationBuilder, union: tree.Plan) -> list[Output]:
    """The inputs of a union, and of unions that are inputs of it."""
    children: list[tree.Plan] = []
    stack = [union]
    while stack:
        node = stack.pop()
        if node.name == "Union":
            stack.extend(reversed(node["children"]))
        else:
            children.append(node)
    return [r.emit(child, f"children[{n}]: ") for n, child in enumerate(children)]


def _combined(inputs: Sequence[Output], operation: str) -> Output:
    """Inputs of the same types; the result goes by the first one's exprIds."""
    kinds = [input.relation.types for input in inputs]
    for other in kinds[1:]:
        if len(other) != len(kinds[0]) or not all(map(types.equal_but_nullability, kinds[0], other)):
            raise Unsupported("the inputs of the union have different types")
    return Output(Set([input.relation for input in inputs], operation), inputs[0].ids)


HANDLERS = {"Distinct": distinct, "Except": except_, "Intersect": intersect, "Union": union}
