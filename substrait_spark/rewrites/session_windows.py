"""Spells out grouping by session_window, which Catalyst only marks: windows of the same keys that meet are one session.

Spark's plan says so only by a mark on the grouping column, which holds each row's own window until it runs. Here window
functions find the sessions: one begins where no window before has lasted until then.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..catalyst import tree
from ..catalyst.tree import DataType, Expression, Node, Plan, children_first, make, make_plan
from .transform import transform

MARK = "spark.sessionWindow"


def sessions(node: Node) -> Node | None:
    """An Aggregate that groups by the bounds of sessions in the place of one that groups by a marked column."""
    marked = [key for key in node["groupingExpressions"] if _is_marked(key)]
    if len(marked) != 1:
        return None
    (window,) = marked
    keys = tuple([key for key in node["groupingExpressions"] if key is not window])
    names = [f"{window['name']}.{part}" for part in ("opens", "closes", "lasts", "start", "end")]
    start, end, until, begin, finish = (_attribute(name, window, n) for n, name in enumerate(names, 1))

    order = (make("SortOrder", start.type, True, child=start, direction="Ascending", nullOrdering="NullsFirst"),)
    bounds = make("UnboundedPreceding", start.type), make("CurrentRow", start.type)
    before = make("Literal", DataType("integer"), False, value=-1)
    child = _opened(node, window, (start, end))
    child = _window(child, until, _greatest(end), keys, order, _frame("RowFrame", bounds[0], before))
    apart = make("GreaterThan", DataType("boolean"), True, left=start, right=until)
    first = make("IsNull", DataType("boolean"), False, child=until)
    begins = make("Or", DataType("boolean"), True, left=first, right=apart)
    nothing = make("Literal", start.type, True, value=None)
    own = make("If", start.type, True, predicate=begins, trueValue=start, falseValue=nothing)
    child = _window(child, begin, _greatest(own), keys, order, _frame("RangeFrame", *bounds))
    whole = _frame("RowFrame", bounds[0], make("UnboundedFollowing", start.type))
    child = _window(child, finish, _greatest(end), (*keys, begin), (), whole)

    results = tuple([_replaced(result, window, begin, finish) for result in node["aggregateExpressions"]])
    return node.replace(groupingExpressions=(*keys, begin, finish), aggregateExpressions=results, child=child)


def _is_marked(key: Expression) -> bool:
    return key.name == "AttributeReference" and MARK in key["metadata"]


def _attribute(name: str, window: Expression, number: int) -> Expression:
    """A column of our own; Spark numbers its columns from 0."""
    id = -8 * window["exprId"] - number
    return make("AttributeReference", _field(window, 0).type, True, name=name, exprId=id, metadata=())


def _field(window: Expression, ordinal: int) -> Expression:
    field = window.type.parameters[ordinal]
    return make("GetStructField", field.type, True, child=window, ordinal=ordinal, name=None)


def _opened(node: Node, window: Expression, bounds: Sequence[Expression]) -> Plan:
    """The columns that an Aggregate needs of its child, with the bounds of a row's own window in the window's place."""
    used = {
        attribute["exprId"]: attribute
        for expression in (*node["groupingExpressions"], *node["aggregateExpressions"])
        for attribute in tree.attributes(expression)
        if attribute["exprId"] != window["exprId"]
    }
    fields = [
        make("Alias", bound.type, True, child=_field(window, n), name=bound["name"], exprId=bound["exprId"])
        for n, bound in enumerate(bounds)
    ]
    return make_plan("Project", projectList=(*used.values(), *fields), child=node["child"])


def _greatest(value: Expression) -> Expression:
    function = make("Max", value.type, True, child=value)
    return make(
        "AggregateExpression",
        value.type,
        True,
        aggregateFunction=function,
        mode="Complete",
        isDistinct=False,
        filter=None,
        resultId=None,
    )


def _frame(kind: str, lower: Expression, upper: Expression) -> Expression:
    return make("SpecifiedWindowFrame", tree.UNTYPED, frameType=kind, lower=lower, upper=upper)


def _window(
    child: Plan,
    column: Expression,
    function: Expression,
    partition: Sequence[Expression],
    order: Sequence[Expression],
    frame: Expression,
) -> Plan:
    """A plan with one more column, computed over windows."""
    spec = make(
        "WindowSpecDefinition",
        tree.UNTYPED,
        partitionSpec=tuple(partition),
        orderSpec=tuple(order),
        frameSpecification=frame,
    )
    call = make("WindowExpression", function.type, True, windowFunction=function, windowSpec=spec)
    alias = make("Alias", call.type, True, child=call, name=column["name"], exprId=column["exprId"])
    return make_plan(
        "Window", windowExpressions=(alias,), partitionSpec=tuple(partition), orderSpec=tuple(order), child=child
    )


def _replaced(result: Expression, window: Expression, begin: Expression, finish: Expression) -> Expression:
    """A result of the aggregate with the session's bounds in the place of a row's own window."""

    def bound(node: Node) -> Node | None:
        struct = node["child"]
        return struct["children"][2 * node["ordinal"] + 1] if struct is session else None

    def attribute(node: Node) -> Node | None:
        return session if node["exprId"] == window["exprId"] else None

    names = [make("Literal", DataType("string"), False, value=field.name) for field in window.type.parameters]
    session = make("CreateNamedStruct", window.type, False, children=(names[0], begin, names[1], finish))
    rules = {"GetStructField": [bound], "AttributeReference": [attribute]}
    replaced = transform(children_first(result), rules).get(result, result)
    if replaced is session:
        return make("Alias", window.type, False, child=session, name=window["name"], exprId=window["exprId"])
    return replaced  # type: ignore[return-value]


RULES = (("Aggregate", sessions),)
