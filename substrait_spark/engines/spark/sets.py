"""Set operations (https://substrait.io/relations/logical_relations/#set-operation-types)."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ...algebra.relation import Set
from ...errors import Unsupported
from .builder import Columns
from .document import Node
from .expressions import Scope

if TYPE_CHECKING:
    from .relations import RelationBuilder


def combined(r: RelationBuilder, relation: Set, outer: Scope | None) -> Columns:
    """The rows of several inputs of the same types, as one of the operations says."""
    inputs = [r.plan(input, outer).plan for input in relation.inputs]
    r.b.at(relation)
    first, *others = inputs
    operation = relation.operation
    if operation == "UNION_ALL":
        plan = _union(r, inputs)
    elif operation == "UNION_DISTINCT":
        plan = r.document.new("Distinct", _union(r, inputs))
    elif operation in ("MINUS_PRIMARY", "MINUS_PRIMARY_ALL"):
        plan = _in_turn(r, "Except", inputs, operation.endswith("ALL"))
    elif operation in ("INTERSECTION_MULTISET", "INTERSECTION_MULTISET_ALL"):
        plan = _in_turn(r, "Intersect", inputs, operation.endswith("ALL"))
    elif operation == "INTERSECTION_PRIMARY":
        plan = _in_turn(r, "Intersect", [first, _union(r, others)], False)
    elif operation == "MINUS_MULTISET":
        plan = _in_turn(r, "Except", [first, _in_turn(r, "Intersect", others, False)], False)
    else:
        raise Unsupported(f"the set operation {operation} is not known")
    return r.b.output(plan, len(relation.inputs[0].types))


def _union(r: RelationBuilder, inputs: list[Node]) -> Node:
    return r.document.new("Union", inputs, False, False) if len(inputs) > 1 else inputs[0]


def _in_turn(r: RelationBuilder, name: str, inputs: list[Node], all_rows: bool) -> Node:
    return reduce(lambda left, right: r.document.new(name, left, right, all_rows), inputs)
