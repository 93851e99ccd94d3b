"""Common table expressions: ReferenceRel (https://substrait.io/relations/logical_relations/#reference-operator)."""

from __future__ import annotations

from ..catalyst import tree
from ..errors import Unsupported
from .builder import RelationBuilder
from .output import Output, ids_of


def with_ctes(r: RelationBuilder, node: tree.Plan) -> Output:
    """WithCTE: its plan; what the plan refers to is emitted where it is first referred to."""
    for definition in node["cteDefs"]:
        r.define(definition["id"], definition["child"])
    return r.emit(node["plan"])


def reference(r: RelationBuilder, node: tree.Plan) -> Output:
    """CTERelationRef: the rows of a definition, under exprIds of its own."""
    if node.get("recursive"):
        raise Unsupported(*RECURSIVE)
    return Output(r.defined(node["cteId"]), ids_of(node["output"]))


def recursive(r: RelationBuilder, node: tree.Plan) -> Output:
    """UnionLoop, UnionLoopRef: a query that refers to its own result."""
    raise Unsupported(*RECURSIVE)


RECURSIVE = (
    "WITH RECURSIVE has no Substrait relation: a plan computes each of its relations once",
    "Save the result of the recursion as a table, and export the query on top of that.",
)

HANDLERS = {"CTERelationRef": reference, "UnionLoop": recursive, "UnionLoopRef": recursive, "WithCTE": with_ctes}
