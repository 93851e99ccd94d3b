"""Finds IN subqueries that may be null where Spark's value for them depends on which of its optimizer's rules ran before.

Spark makes a join of such a subquery. Where the value is null, the join's mark is false for IN, and true for NOT IN; which of
the two the join is for has been decided by then, by rules that turn negations and comparisons round. Only in a condition
does it make no difference.

SELECT (k IN (SELECT k FROM u)) = false   -- false where it isn't known: NOT IN has taken the place of the comparison
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..catalyst.tree import Expression, Node, Plan, children_first

Refusal = tuple[str, str]
"""A reason and a hint. The exception is made where it is raised, since it keeps all frames that it has ever passed through."""

UNKNOWN: Refusal = (
    (
        "what becomes of an IN subquery of which it isn't known whether it is true hangs on how Spark's optimizer "
        "turns the expression around it"
    ),
    "Use it as a condition, or as a column of its own.",
)

OF_NULL: Refusal = (
    (
        "the value before IN may be a NULL that Spark's optimizer finds in the query, and whether NULL is IN a subquery without rows "
        "hangs on a setting of Spark's and on whether it was found"
    ),
    "Export the optimized query, or leave out the rows whose value is NULL by a condition of their own, and compare a column.",
)

THROUGH = ("Alias", "And", "Not", "Or")
"""Expressions that a condition may be part of; NOT stands at the IN subquery already (`rewrites/negated_memberships.py`)."""


def ambiguous_in(root: Plan) -> dict[Node, Refusal]:
    """The IN subqueries of a plan that may be unknown, elsewhere than in conditions, and columns that are conditions; with why each is refused.

    And those that ask for a value that may be a constant NULL, in an input of a union, too: the optimizer puts the NULL in its place,
    and what becomes of that where the subquery has no rows is a setting of Spark's.
    """
    unknown: set[Node] = set()
    aliases: dict[int, list[Node]] = {}
    asked: list[Node] = []
    seen: set[tuple[Node, bool]] = set()
    stack: list[tuple[Node, bool]] = [(root, True)]
    while stack:
        node, settled = stack.pop()
        if (node, settled) in seen:
            continue
        seen.add((node, settled))
        if node.name == "Alias":
            aliases.setdefault(node["exprId"], []).append(node["child"])
        if node.name == "Union":
            first, *others = inputs = [*map(_columns, node["children"])]
            if not all(inputs):
                aliases.setdefault(ANY_COLUMN, []).append(node)
            for column, *united in zip(first, *others, strict=False):
                if column.name in ("Alias", "AttributeReference"):
                    aliases.setdefault(column["exprId"], []).extend(united)
        if node.name == "InSubquery":
            asked.append(node)
        if node.name == "InSubquery" and not settled and isinstance(node, Expression) and node.nullable:
            unknown.add(node)
        stack.extend((child, _is_condition(node, child, settled)) for child in node.children())
    of_null = [node for node in asked if len(node["values"]) == 1 and _may_be_null(node["values"][0], aliases)]
    return {**dict.fromkeys(of_null, OF_NULL), **dict.fromkeys(unknown, UNKNOWN)}


ANY_COLUMN = -1
"""Stands for the columns of unions of which it isn't known which columns of their inputs they unite."""

PASSING = ("Distinct", "Filter", "GlobalLimit", "LocalLimit", "Sort", "SubqueryAlias")
"""Relations whose columns are those of their child."""

LISTS = {"Aggregate": "aggregateExpressions", "Project": "projectList"}

TAKEN_APART = ("ElementAt", "GetArrayItem", "GetMapValue", "ScalarSubquery")
"""Expressions for which the optimizer puts NULL though no NULL is in them: where it sees that a part or a row isn't there.

SELECT array(k)[5], map('a', k)['b'], (SELECT k FROM u WHERE 1 = 0)
"""


def _columns(plan: Node) -> Sequence[Node]:
    """The expressions of a relation's columns; none where it lists none."""
    while plan.name in PASSING or plan.name == "Union":
        plan = plan["children"][0] if plan.name == "Union" else plan["child"]
    columns: Sequence[Node] = plan[LISTS[plan.name]] if plan.name in LISTS else ()
    return columns


def _may_be_null(value: Node, aliases: Mapping[int, Sequence[Node]]) -> bool:
    """Whether a NULL that the optimizer may find stands anywhere in a value, or in what its columns come of.

    Which expressions it folds to NULL hangs on conditions that it knows from elsewhere, as in `nullif(k, 3)` above `k = 3`.
    """
    if value.name == "Literal" or (isinstance(value, Expression) and not value.nullable):
        return False
    seen: set[int] = set()
    stack = [value]
    while stack:
        value = stack.pop()
        if value.name == "AttributeReference":
            if value["exprId"] not in seen:
                seen.add(value["exprId"])
                stack.extend(aliases.get(value["exprId"], ()))
            if ANY_COLUMN not in seen:
                seen.add(ANY_COLUMN)
                stack.extend(column for union in aliases.get(ANY_COLUMN, ()) for column in _aliases(union))
        elif isinstance(value, Expression) and _gives_null(value):
            return True
        elif not isinstance(value, Plan):
            stack.extend(value.children())
    return False


def _aliases(plan: Node) -> Iterator[Node]:
    """All columns that a plan names."""
    return (node["child"] for node in children_first(plan) if node.name == "Alias")


def _gives_null(value: Expression) -> bool:
    """Whether an expression gives NULL by itself, not only where a part of it is NULL."""
    if value.name in TAKEN_APART or (value.name == "CaseWhen" and value["elseValue"] is None):
        return True
    return value.nullable and _is_constant(value)


def _is_constant(root: Node) -> bool:
    """Whether an expression is of no column and no subquery, so that the optimizer computes it."""
    return not any(isinstance(part, Plan) or part.name == "AttributeReference" for part in children_first(root))


def _is_condition(parent: Node, child: Node, settled: bool) -> bool:
    """Whether a part of a node is a condition, if the node itself is one or not."""
    if isinstance(parent, Plan):
        return True
    if parent.name == "If":
        return child is parent["predicate"]
    if parent.name == "CaseWhen":
        return child in parent["branches"]
    if not isinstance(parent, Expression):  # a branch: a condition and its value
        return settled and child is parent.values[0]
    return settled and parent.name in THROUGH
