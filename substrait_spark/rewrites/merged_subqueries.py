"""Undoes MergeScalarSubqueries: several scalar subqueries that the optimizer computes as one struct."""

from __future__ import annotations

from ..catalyst.tree import Expression, Node, Plan, attributes, make_plan


def field_of_merged(node: Node) -> Node | None:
    """A field of a subquery that yields one struct is a subquery that yields only that field."""
    subquery = node["child"]
    if subquery.name != "ScalarSubquery":
        return None
    plan = subquery["plan"]
    if not isinstance(plan, Plan) or plan.name != "Project" or len(plan["projectList"]) != 1:
        return None
    (item,) = plan["projectList"]
    if item.name != "Alias" or item["child"].name != "CreateNamedStruct":
        return None
    value = item["child"]["children"][2 * node["ordinal"] + 1]
    alias = Expression(item.cls, (value, *item.values[1:]), item.number, value.type, value.nullable)
    narrowed = make_plan("Project", projectList=(alias,), child=_without_others(plan["child"], value))
    replaced = subquery.replace(plan=narrowed)
    return Expression(replaced.cls, replaced.values, replaced.number, value.type, True)


def _without_others(plan: Plan, value: Node) -> Plan:
    """A plan without the aggregates that the value does not need: each has its own subquery."""
    if plan.name != "Aggregate":
        return plan
    needed = {attribute["exprId"] for attribute in attributes(value)}
    kept = tuple([item for item in plan["aggregateExpressions"] if item["exprId"] in needed])
    return plan.replace(aggregateExpressions=kept) if kept else plan


RULES = (("GetStructField", field_of_merged),)
