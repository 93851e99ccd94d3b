"""Gives windows an order that Spark makes of a lateral subquery's ORDER BY and LIMIT: they number the rows of a sort, without naming it."""

from __future__ import annotations

from ..catalyst.tree import Expression, Node, attributes, make, make_plan


def numbered_in_order(node: Node) -> Node | None:
    """Row numbers over windows without an order, above a sort, are numbers in the order of that sort.

    Nobody writes them: row_number() needs an order in Spark. A project between, which may drop the keys, goes above.
    """
    project = node["child"] if node["child"].name == "Project" else None
    sort = project["child"] if project is not None else node["child"]
    if node["orderSpec"] or sort.name != "Sort" or not all(map(_is_row_number, node["windowExpressions"])):
        return None
    order = sort["order"]
    ordered = tuple([_ordered(item, order) for item in node["windowExpressions"]])
    window = node.replace(windowExpressions=ordered, orderSpec=order, child=sort)
    if project is None:
        return window
    passed = {item["exprId"] for item in project["projectList"] if item.name == "AttributeReference"}
    if any(key["exprId"] not in passed for part in node["partitionSpec"] for key in attributes(part)):
        return None
    numbers = [
        make("AttributeReference", item.type, item.nullable, name=item["name"], exprId=item["exprId"], metadata=())
        for item in ordered
    ]
    return make_plan("Project", projectList=(*project["projectList"], *numbers), child=window)


def _is_row_number(item: Expression) -> bool:
    # A decorrelated window also lists the columns that it passes on.
    call = item["child"] if item.name == "Alias" else item
    return call.name == "WindowExpression" and call["windowFunction"].name == "RowNumber"


def _ordered(item: Expression, order: tuple[Expression, ...]) -> Expression:
    call = item["child"]
    spec = call["windowSpec"].replace(orderSpec=order)
    return item.replace(child=call.replace(windowSpec=spec))


RULES = (("Window", numbered_in_order),)
