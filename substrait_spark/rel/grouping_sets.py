"""ROLLUP, CUBE and GROUPING SETS: what Spark's optimizer made an Aggregate over an Expand of, as grouping sets again.

Spark repeats each row once for each set, with nulls in the place of the keys that are not in it, and with numbers that
tell the sets apart, by which it groups, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..catalyst import tree
from ..catalyst.tree import Expression, Node, Plan


class GroupingSets(NamedTuple):
    """What an Aggregate groups by.

    `keys`: the expressions of all sets, over the columns of `child`, by the exprId of the column that Spark has them in.
    `sets`: for each set the positions of its keys. `numbers`: by the exprId of a column that tells the sets apart, what is
    in it for each set.
    """

    child: Plan
    keys: dict[int, Expression]
    sets: list[tuple[int, ...]]
    numbers: dict[int, Sequence[Expression]]


def grouping_sets(node: Plan) -> GroupingSets | None:
    """The grouping sets of an Aggregate; None where it has only one, or is over an Expand for another reason."""
    expand = node["child"]
    if expand.name != "Expand" or len(expand["projections"]) < 2 or not expand["output"]:
        return None
    columns: dict[int, Sequence[Expression]] = {
        attribute["exprId"]: column
        for attribute, column in zip(expand["output"], zip(*expand["projections"], strict=True), strict=True)
    }
    grouped = [key["exprId"] for key in node["groupingExpressions"] if key.name == "AttributeReference"]
    if len(grouped) < len(node["groupingExpressions"]) or not set(grouped) <= set(columns):
        return None
    numbers = {id: columns[id] for id in grouped if _tells_apart(columns[id])}
    keys: dict[int, Expression] = {
        id: key for id in grouped if id not in numbers and (key := _key(columns[id])) is not None
    }
    passed = {id for id, column in columns.items() if all(_is_column(part, id) for part in column)}
    if not numbers or len(keys) + len(numbers) < len(set(grouped)) or not _used(node) <= passed:
        return None
    count = len(expand["projections"])
    sets = [tuple([n for n, id in enumerate(keys) if not _is_null(columns[id][number])]) for number in range(count)]
    return GroupingSets(expand["child"], keys, sets, numbers)


def _tells_apart(column: Sequence[Expression]) -> bool:
    """Whether each projection has another number in a column."""
    values = [part["value"] if part.name == "Literal" else None for part in column]
    return all(isinstance(value, int) for value in values) and len(set(values)) == len(values)


def _key(column: Sequence[Expression]) -> Expression | None:
    """The expression of a column that is the same in all projections where it isn't null; None where these have several."""
    present = [part for part in column if not _is_null(part)]
    return present[0] if present and all(tree.same(part, present[0]) for part in present) else None


def _is_null(part: Expression) -> bool:
    return part.name == "Literal" and part["value"] is None


def _is_column(part: Expression, id: int) -> bool:
    return part.name == "AttributeReference" and bool(part["exprId"] == id)


def _used(node: Plan) -> set[int]:
    """The columns used inside of an Aggregate's calls. Outside of calls, a column is a key."""
    used: set[int] = set()
    seen: set[tuple[Node, bool]] = set()
    stack: list[tuple[Node, bool]] = [(expression, False) for expression in node["aggregateExpressions"]]
    while stack:
        visit = stack.pop()
        if visit in seen:
            continue
        seen.add(visit)
        current, called = visit
        if called and current.name == "AttributeReference":
            used.add(current["exprId"])
        inside = called or current.name == "AggregateExpression"
        stack.extend((child, inside) for child in current.children() if not isinstance(child, Plan))
    return used
