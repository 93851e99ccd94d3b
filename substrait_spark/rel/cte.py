"""Common table expressions: ReferenceRel (https://substrait.io/relations/logical_relations/#reference-operator)."""

from __future__ import annotations

from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output, ids_of


def with_ctes(r: RelationBuilder, node: tree.Plan) -> Output:
    """WithCTE: its plan; what the plan refers to is emitted where it is first referred to."""
    for definition in node["cteDefs"]:
        r.define(definition["id"], definition["child"])
    return r.emit(node["plan"])


def reference(r: RelationBuilder, node: tree.Plan) -> Output:
    """CTERelationRef: the rows of a definition, under exprIds of its own."""
    return Output(r.defined(node["cteId"]), ids_of(node["output"]))


HANDLERS = {"CTERelationRef": reference, "WithCTE": with_ctes}
