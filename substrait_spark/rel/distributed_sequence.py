"""AttachDistributedSequence: numbers rows from 0 in the order in which Spark has them, as `zipWithIndex` and pandas' indexes do."""

from __future__ import annotations

from ..algebra.expression import FieldReference, SortField
from ..algebra.frame import WHOLE
from ..algebra.relation import Project, Window
from ..algebra.traversal import columns
from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output, ids_of


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """The number of a row, counted by monotonically_increasing_id(), whose values Spark gives in the order of its rows; then the child's columns."""
    input = r.emit(node["child"])
    width = len(input.relation.types)
    identified = Project(input.relation, [r.expressions(input.scope()).call("spark:monotonically_increasing_id")])
    order = SortField(FieldReference(width, identified.types[width]), ascending=True, nulls_first=True)
    e = r.expressions(Output(identified, (*input.ids, -1)).scope())
    counted = Window(identified, [e.window("arithmetic:row_number", frame=WHOLE)], (), (order,))
    number = FieldReference(width + 1, counted.types[width + 1])
    kept = [FieldReference(n, kind) for n, kind in enumerate(input.relation.types)]
    above = e.call("arithmetic:subtract", number, e.i64(1), overflow="SILENT")
    return Output(columns(counted, [above, *kept]), (*ids_of([node["sequenceAttr"]]), *input.ids))


HANDLERS = {"AttachDistributedSequence": emit}
