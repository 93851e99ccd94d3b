"""Keeps the columns that rows are sorted by, up to an Aggregate or Window whose results depend on that order.

Spark's rows stay in the order of a sort, whatever columns are dropped above it; in a plan, only columns tell an order.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..catalyst import tree
from ..catalyst.row_order import is_ordered, keeps_order, order_below, tells_ties_apart
from ..catalyst.tree import DataType, Expression, Node, Plan, make, make_plan


def below_aggregate(node: Node) -> Node | None:
    """The Aggregate over a child that tells the order of its rows, if a call asks for it."""
    calls = tree.outermost(node["aggregateExpressions"], "AggregateExpression")
    return _above(node) if any(is_ordered(call) for call in calls) else None


def below_window(node: Node) -> Node | None:
    """The Window over a child that tells the order of its rows, if a call asks for it."""
    calls = tree.outermost(node["windowExpressions"], "WindowExpression")
    return _above(node) if any(tells_ties_apart(call) for call in calls) else None


def _above(node: Node) -> Node | None:
    child = node["child"]
    carried = _carried(child)
    return None if carried is child else node.replace(child=carried)


def _carried(node: Plan) -> Plan:
    """A plan that has, among its own columns, those that its rows are sorted by."""
    path = []
    while keeps_order(node) or node.name in ("Generate", "Window"):
        path.append(node)
        node = node["child"]
    keys = _attributes(node["order"]) if node.name == "Sort" else []
    for step in reversed(path):
        renewed = step if step["child"] is node else step.replace(child=node)
        node, keys = _step(renewed, keys)
    return node


def _step(node: Plan, keys: list[Expression]) -> tuple[Plan, list[Expression]]:
    """A plan that keeps its child's order, with the columns that tell the order among its own; and these columns, those that a Window
    sorts by included."""
    if node.name == "Window":
        return node, [*keys, *_attributes((*node["partitionSpec"], *node["orderSpec"]))]
    if not keys:
        return node, keys
    if node.name == "Project":
        return node.replace(projectList=(*node["projectList"], *_missing(node["projectList"], keys))), keys
    if node.name == "Expand":
        missing = _missing(node["output"], keys)
        projections = tuple([(*projection, *missing) for projection in node["projections"]])
        return node.replace(projections=projections, output=(*node["output"], *missing)), keys
    if node.name == "Generate":
        return _generated(node, keys)
    return node, keys


def _generated(node: Plan, keys: list[Expression]) -> tuple[Plan, list[Expression]]:
    """A Generate whose rows come by the row that they are made of, and their position there: a sort says so.

    Rows that tie in the keys must not mix theirs, so they get a number.
    """
    generator = node["generator"]
    node = node.replace(unrequiredChildIndex=())
    if generator.name == "JsonTuple":
        return node, keys
    order = order_below(node["child"])
    if generator.name not in ("Explode", "PosExplode") or order is None or order.keys is None:
        return node, keys
    number, position = _integer(node, "row"), _integer(node, "position")
    output = node["generatorOutput"]
    if generator.name == "PosExplode":
        position = output[0]
    else:
        generator = make("PosExplode", generator.type, generator.nullable, child=generator["child"])
        output = (position, *output)
    child = _numbered(node["child"], number, [_ascending(key) for key in order.keys])
    made = node.replace(generator=generator, generatorOutput=output, child=child)
    told = (_ascending(number), _ascending(position))
    return make_plan("Sort", order=told, **{"global": True}, child=made), [number, position]


def _integer(node: Plan, name: str) -> Expression:
    """A column of our own; Spark numbers its columns from 0."""
    id = -8 * node["generatorOutput"][0]["exprId"] - (6 if name == "row" else 7)
    return make("AttributeReference", DataType("integer"), True, name=name, exprId=id, metadata=())


def _numbered(child: Plan, column: Expression, order: Sequence[Expression]) -> Plan:
    """A plan with one more column: its rows' numbers in an order."""
    bounds = make("UnboundedPreceding", tree.UNTYPED), make("CurrentRow", tree.UNTYPED)
    frame = make("SpecifiedWindowFrame", tree.UNTYPED, frameType="RowFrame", lower=bounds[0], upper=bounds[1])
    spec = make(
        "WindowSpecDefinition", tree.UNTYPED, partitionSpec=(), orderSpec=tuple(order), frameSpecification=frame
    )
    number = make("RowNumber", column.type, False)
    call = make("WindowExpression", column.type, False, windowFunction=number, windowSpec=spec)
    alias = make("Alias", column.type, False, child=call, name=column["name"], exprId=column["exprId"])
    return make_plan("Window", windowExpressions=(alias,), partitionSpec=(), orderSpec=tuple(order), child=child)


def _ascending(key: Expression) -> Expression:
    if key.name == "SortOrder":
        return key
    return make("SortOrder", key.type, True, child=key, direction="Ascending", nullOrdering="NullsFirst")


def _attributes(expressions: Sequence[Expression]) -> list[Expression]:
    """The columns in expressions, each once."""
    by_id = {column["exprId"]: column for expression in expressions for column in tree.attributes(expression)}
    return list(by_id.values())  # type: ignore[arg-type]


def _missing(columns: Sequence[Expression], keys: Sequence[Expression]) -> list[Expression]:
    """The keys that are not among columns."""
    known = {column["exprId"] for column in columns}
    return list({key["exprId"]: key for key in keys if key["exprId"] not in known}.values())


RULES = (("Aggregate", below_aggregate), ("Window", below_window))
