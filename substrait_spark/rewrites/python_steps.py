"""Puts functions of Python back where the query calls them: Spark has steps of their own compute them, for all rows at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..catalyst.tree import Expression, Node, Plan, children_first, make, make_plan
from .transform import transform

STEPS = ("ArrowEvalPython", "BatchEvalPython")

CONDITIONAL = frozenset(("And", "CaseWhen", "Coalesce", "If", "LambdaFunction", "Or", "TryEval"))
"""Classes that evaluate their children for some rows only, or hide their errors: no call moves into them, since a step calls
its functions for every row."""


def computed(step: Node) -> Node:
    """A step as a Project of its child's columns and the calls."""
    results = {result["exprId"]: alias(call, result) for call, result in _calls(step)}
    items = tuple([results.get(column["exprId"], column) for column in step["output"]])
    return make_plan("Project", projectList=items, child=step["child"])


def alias(call: Expression, column: Expression) -> Expression:
    """A call under the name and id of a column."""
    return make("Alias", call.type, call.nullable, child=call, name=column["name"], exprId=column["exprId"])


def _calls(step: Node) -> Iterator[tuple[Expression, Expression]]:
    return zip(step["udfs"], step["resultAttrs"], strict=True)


def in_place(node: Node) -> Node | None:
    """A Project, Filter or Aggregate over the results of calls, with the calls in their places, where each is used once."""
    changed = node
    while (inlined := _over_step(changed) or _over_filter(changed)) is not None:
        changed = inlined
    return None if changed is node else changed


FIELDS = {"Project": ("projectList",), "Aggregate": ("groupingExpressions", "aggregateExpressions")}
"""The fields that use columns, of the nodes that pass none on by themselves."""


def _over_step(node: Node) -> Node | None:
    """A node over the input of the step below it, whose results its expressions compute themselves."""
    step = node["child"]
    calls = _results(step)
    if not calls:
        return None
    used = _uses([part for field in FIELDS[node.name] for part in node[field]])
    if any(used.get(id) != 1 for id in calls):
        return None
    parts = {field: tuple([_with_calls(part, calls) for part in node[field]]) for field in FIELDS[node.name]}
    return node.replace(child=step["child"], **parts)


def _over_filter(node: Node) -> Node | None:
    """A node over a Filter whose condition computes the results of the step below, which nothing else uses."""
    filter = node["child"]
    if filter.name != "Filter" or "condition" not in filter.cls.index:
        return None
    step = filter["child"]
    calls = _results(step)
    if not calls:
        return None
    used = _uses([filter["condition"]])
    above = _uses([part for field in FIELDS[node.name] for part in node[field]])
    if any(used.get(id) != 1 or id in above for id in calls):
        return None
    return node.replace(child=filter.replace(condition=_with_calls(filter["condition"], calls), child=step["child"]))


def _results(step: Node) -> Mapping[int, Expression]:
    """The calls of a step by the ids of the columns that have their results; empty for other nodes."""
    if step.name != "Project" or not any(_is_result(item) for item in step["projectList"]):
        return {}
    if not all(_is_result(item) or item.name == "AttributeReference" for item in step["projectList"]):
        return {}
    return {item["exprId"]: item["child"] for item in step["projectList"] if _is_result(item)}


def _is_result(item: Node) -> bool:
    return item.name == "Alias" and item["child"].name == "PythonUDF" and str(item["name"]).startswith("pythonUDF")


def _uses(expressions: Sequence[Node]) -> Counter[int]:
    """How often each column is used in expressions. A use in what is evaluated for some rows only counts as several."""
    uses: Counter[int] = Counter()
    visits: Counter[Node] = Counter()
    stack = [(expression, 1) for expression in expressions]
    while stack:
        node, times = stack.pop()
        if visits[node] >= MANY:  # whatever is in it was counted as often
            continue
        visits[node] += times
        if node.name == "AttributeReference":
            uses[node["exprId"]] += times
        filters = node.name == "AggregateExpression" and node["filter"] is not None
        inside = MANY if node.name in CONDITIONAL or filters or isinstance(node, Plan) else times
        stack.extend((child, inside) for child in node.children())
    return uses


MANY = 2
"""More than once."""


def _with_calls(expression: Expression, calls: Mapping[int, Expression]) -> Expression:
    """An expression with calls in the place of their results."""
    if expression.name == "AttributeReference" and expression["exprId"] in calls:
        return alias(calls[expression["exprId"]], expression)
    replaced = transform(
        children_first(expression), {"AttributeReference": [lambda column: calls.get(column["exprId"])]}
    )
    result = replaced.get(expression, expression)
    return result if isinstance(result, Expression) else expression


RULES = (
    *((name, computed) for name in STEPS),
    ("Project", in_place),
    ("Aggregate", in_place),
)
