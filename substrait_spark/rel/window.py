"""ConsistentPartitionWindowRel: https://substrait.io/relations/physical_relations/#window-operation."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.aggregate_form import WindowForm
from ..algebra.expression import Expression, FieldReference, SortField, WindowCall
from ..algebra.relation import Relation, Window
from ..algebra.traversal import columns
from ..catalyst import tree
from ..catalyst.row_order import order_below, order_of, tells_ties_apart
from ..errors import UNEXPECTED, Unsupported, unknown_form
from ..expr.builder import ExpressionBuilder
from ..expr.sort_order import sort_field
from ..functions.frame import frame_of
from ..functions.window import WINDOW
from .builder import RelationBuilder
from .output import Output, ids_of
from .row_order import sorts_of


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Window: the child's columns, then results over window functions of one partition and order."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    partition = e.emit_all(node["partitionSpec"])
    relation = input.relation
    results = []
    for calls, sorts in _by_order(e, node):
        windows = [windowed(e, call) for call in calls]
        ordinal = len(relation.types)
        relation = computed(relation, [part for each in windows for part in each.calls], partition, sorts)
        for call, each in zip(calls, windows, strict=True):
            references = [FieldReference(ordinal + n, part.type) for n, part in enumerate(each.calls)]
            ordinal += len(references)
            results.append((call, each, references))
    above = r.expressions(Output(relation, input.ids).scope())
    for call, each, references in results:
        above.let(call, each.result(above, references))
    kept = [FieldReference(n, kind) for n, kind in enumerate(input.relation.types)]
    output = columns(relation, [*kept, *above.emit_all(node["windowExpressions"])])
    return Output(output, input.ids + ids_of(node["windowExpressions"]))


def _by_order(e: ExpressionBuilder, node: tree.Plan) -> list[tuple[list[tree.Expression], tuple[SortField, ...]]]:
    """The window calls with their order. Where rows tie in it, Spark keeps the order below."""
    calls = tree.outermost(node["windowExpressions"], "WindowExpression")
    sorts = tuple(sort_field(e, order) for order in order_of(node))
    among_ties = [call for call in calls if tells_ties_apart(call)]
    ties = sorts_of(e, order_below(node["child"])) if among_ties else ()
    if ties is None:
        if all(order["child"].name == "Literal" for order in node["orderSpec"]):
            _require_no_numbers(node)
        ties = ()
    if not ties:
        return [(calls, sorts)]
    others = [call for call in calls if not tells_ties_apart(call)]
    return [(others, sorts), (among_ties, (*sorts, *ties))]


def _require_no_numbers(node: tree.Plan) -> None:
    """Refuse row numbers in the order of a sort that the window doesn't state."""
    calls = tree.outermost(node["windowExpressions"], "WindowExpression")
    if any(call["windowFunction"].name == "RowNumber" for call in calls):
        raise Unsupported(
            "it numbers rows in the order of a sort below, whose keys are not at hand",
            "Sort again just below it, or give row_number() an order of its own.",
        )


def computed(
    input: Relation, calls: Sequence[WindowCall], partition: tuple[Expression, ...], sorts: tuple[SortField, ...]
) -> Relation:
    """The columns of the input, then those of the window calls."""
    return Window(input, calls, partition, sorts) if calls else input


def windowed(e: ExpressionBuilder, node: tree.Expression) -> WindowForm:
    """The calls of a WindowExpression; what has none is reported."""
    function = node["windowFunction"]
    try:
        rule = WINDOW.get(function.name)
        if rule is None:
            raise Unsupported(f"the window function {function.name} has no Substrait form")
        form = rule(e, function, frame_of(e, node["windowSpec"]))
        for call in form.calls:
            call.came_from(node)
        return form
    except Unsupported as problem:
        e.context.report(node, problem)
    except UNEXPECTED as error:
        e.context.report(node, unknown_form(error))
    return WindowForm((), lambda above, references: above.stand_in(node))


HANDLERS = {"Window": emit}
