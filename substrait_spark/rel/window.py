"""ConsistentPartitionWindowRel, or window functions in a project where the dialect has only those."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Expression, FieldReference, SortField, WindowCall, WindowFunction
from ..algebra.relation import Relation, Window
from ..catalyst import tree
from ..errors import Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.sort_order import sort_field
from ..functions.floating import groupable
from ..functions.frame import frame_of
from ..functions.window import WINDOW, Windowed
from .builder import RelationBuilder
from .output import Output, ids_of
from .project import columns


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Window: the child's columns, then results over window functions of one partition and order."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    partition = tuple(groupable(e, key) for key in e.emit_all(node["partitionSpec"]))
    sorts = tuple(sort_field(e, order) for order in node["orderSpec"])
    calls = [(call, windowed(e, call)) for call in window_calls(node["windowExpressions"])]
    ids = input.ids + ids_of(node["windowExpressions"])
    if r.dialect.allows_relation("CONSISTENT_PARTITION_WINDOW"):
        return Output(_as_relation(r, node, input, calls, partition, sorts), ids)
    return Output(_as_expressions(r, node, input, calls, partition, sorts), ids)


def _as_relation(
    r: RelationBuilder,
    node: tree.Plan,
    input: Output,
    calls: Sequence[tuple[tree.Expression, Windowed]],
    partition: tuple[Expression, ...],
    sorts: tuple[SortField, ...],
) -> Relation:
    flat: list[WindowCall] = [call for _, windowed in calls for call in windowed.calls]
    relation = Window(input.relation, flat, partition, sorts)
    above = r.expressions(Output(relation, input.ids).scope())
    ordinal = len(input.ids)
    for call, windowed in calls:
        references = []
        for part in windowed.calls:
            references.append(FieldReference(ordinal, part.type))
            ordinal += 1
        above.let(call, windowed.result(above, references))
    kept = [FieldReference(n, kind) for n, kind in enumerate(input.relation.types)]
    return columns(relation, [*kept, *above.emit_all(node["windowExpressions"])])


def _as_expressions(
    r: RelationBuilder,
    node: tree.Plan,
    input: Output,
    calls: Sequence[tuple[tree.Expression, Windowed]],
    partition: tuple[Expression, ...],
    sorts: tuple[SortField, ...],
) -> Relation:
    above = r.expressions(input.scope())
    offset_field = r.dialect.quirks.window_offset_field
    for call, windowed in calls:
        parts = [WindowFunction(part, partition, sorts, offset_field) for part in windowed.calls]
        above.let(call, windowed.result(above, parts))
    kept: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(input.relation.types)]
    return columns(input.relation, [*kept, *above.emit_all(node["windowExpressions"])])


def windowed(e: ExpressionBuilder, node: tree.Expression) -> Windowed:
    """The calls of a WindowExpression; what has none is reported."""
    try:
        function = node["windowFunction"]
        rule = WINDOW.get(function.name)
        if rule is None:
            raise Unsupported(f"the window function {function.name} has no Substrait form")
        return rule(e, function, frame_of(e, node["windowSpec"]))
    except Unsupported as problem:
        e.context.report(node, problem)
    return Windowed((), lambda above, references: above.stand_in(node))


def window_calls(expressions: Sequence[tree.Expression]) -> list[tree.Expression]:
    """The WindowExpressions in expressions, each once, in order."""
    found: dict[int, tree.Expression] = {}
    stack: list[tree.Node] = list(reversed(expressions))
    while stack:
        node = stack.pop()
        if node.name == "WindowExpression":
            found.setdefault(id(node), node)  # type: ignore[arg-type]
        else:
            stack.extend(reversed(node.children()))
    return list(found.values())


HANDLERS = {"Window": emit}
