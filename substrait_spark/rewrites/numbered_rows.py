"""Gives local rows that go into a file a column with their numbers, and sorts by it, where results depend on their order.

Engines read files in an order of their own; rows that are in the plan itself come as they stand there.
"""

from __future__ import annotations

from collections.abc import Callable

from ..catalyst.plan_classes import Does, that_do
from ..catalyst.row_order import ORDERED
from ..catalyst.tree import DataType, Document, Node, Plan, Rows, make, make_plan

DEPENDENT = that_do(Does.ASKS_FOR_ORDER).union(ORDERED)
"""Catalyst's classes whose results depend on the order of rows."""

LEAVES = ("LocalRelation", "LogicalRDD")


def rules(document: Document, limit: int) -> list[tuple[str, Callable[[Node], Node | None]]]:
    """The rule for leaves of more rows than a limit; none where nothing in the plan depends on their order."""
    if document.classes.isdisjoint(DEPENDENT):
        return []

    def numbered(leaf: Node) -> Plan | None:
        rows = leaf["data"]
        if not isinstance(rows, Rows) or len(rows.values) <= limit or not leaf["output"]:
            return None
        return _numbered(leaf, rows)

    return [(name, numbered) for name in LEAVES]


def _numbered(leaf: Node, rows: Rows) -> Plan:
    """The columns of a leaf, whose rows come in the order of their numbers."""
    output = leaf["output"]
    id = -8 * output[0]["exprId"] - 8  # Spark numbers its columns from 0
    number = make("AttributeReference", DataType("long"), False, name="row_number", exprId=id, metadata=())
    data = Rows([(*row, position) for position, row in enumerate(rows.values)])
    order = make("SortOrder", number.type, False, child=number, direction="Ascending", nullOrdering="NullsFirst")
    with_number = leaf.replace(output=(*output, number), data=data)
    in_order = make_plan("Sort", order=(order,), **{"global": True}, child=with_number)
    return make_plan("Project", projectList=output, child=in_order)
