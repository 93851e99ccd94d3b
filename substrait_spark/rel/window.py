"""ConsistentPartitionWindowRel, or window functions in a project where the dialect has only those."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Expression, FieldReference, SortField, WindowCall, WindowFunction
from ..algebra.relation import Project, Relation, Window
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.sort_order import sort_field
from ..functions.floating import groupable
from ..functions.frame import Frame, frame_of
from ..functions.unsigned_range import shifted
from ..functions.window import WINDOW, Below, Windowed
from ..refusals import unknown_form
from .builder import RelationBuilder
from .output import Output, ids_of
from .project import columns
from .row_order import order_below, order_of, tells_ties_apart


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Window: the child's columns, then results over window functions of one partition and order."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    partition = tuple(groupable(e, key) for key in e.emit_all(node["partitionSpec"]))
    relation = input.relation
    results = []
    for calls, sorts in _by_order(e, node):
        below = Below(len(relation.types), partition, sorts)
        windows = [windowed(e, call, below) for call in calls]
        for stage, keys, order in below.stages:
            relation = computed(r, relation, [stage], keys, order)
        ordinal = len(relation.types)
        relation = computed(r, relation, [part for each in windows for part in each.calls], partition, sorts)
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
    calls = window_calls(node["windowExpressions"])
    sorts = tuple(sort_field(e, order) for order in order_of(node))
    order = order_below(node["child"])
    among_ties = [call for call in calls if tells_ties_apart(call)]
    ties = order.sorts(e) if order is not None and among_ties else ()
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
    if any(call["windowFunction"].name == "RowNumber" for call in window_calls(node["windowExpressions"])):
        raise Unsupported(
            "it numbers rows in the order of a sort below, whose keys are not at hand",
            "Keep the sorting columns, or give row_number() an order of its own.",
        )


def computed(
    r: RelationBuilder,
    input: Relation,
    calls: Sequence[WindowCall],
    partition: tuple[Expression, ...],
    sorts: tuple[SortField, ...],
) -> Relation:
    """The columns of the input, then those of the window calls."""
    if not calls:
        return input
    if r.dialect.allows_relation("CONSISTENT_PARTITION_WINDOW"):
        return Window(input, calls, partition, sorts)
    offset_field = r.dialect.quirks.window_offset_field
    e = r.expressions(Output(input, ()).scope())
    level = levels(input) if r.dialect.quirks.named_by_text else 0
    if level:  # one more key that is the same for all rows makes the text another
        partition = (*partition, e.i64(level))
    functions = []
    for call in calls:
        keyed, order = shifted(e, call, sorts)
        functions.append(WindowFunction(keyed, partition, order, offset_field))
    return Project(input, functions)


def levels(relation: Relation) -> int:
    """How many projects with window functions lie upon each other."""
    own = any(isinstance(expression, WindowFunction) for expression in relation.expressions())
    return own + max(map(levels, relation.inputs), default=0)


def windowed(e: ExpressionBuilder, node: tree.Expression, below: Below) -> Windowed:
    """The calls of a WindowExpression; what has none is reported."""
    function = node["windowFunction"]
    try:
        rule = WINDOW.get(function.name)
        if rule is None:
            raise Unsupported(f"the window function {function.name} has no Substrait form")
        frame = frame_of(e, node["windowSpec"])
        require_frame(e, frame)
        return rule(e, function, frame, below)
    except Unsupported as problem:
        e.context.report(node, problem)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        e.context.report(node, unknown_form(error))
    return Windowed((), lambda above, references: above.stand_in(node))


def require_frame(e: ExpressionBuilder, frame: Frame) -> None:
    """Refuse a frame that the dialect does not take."""
    if frame.never_holds_a_row and not e.dialect.quirks.empty_frames:
        raise NotInDialect(f"the dialect {e.dialect.name} has no frames that can't hold a row")


def window_calls(expressions: Sequence[tree.Expression]) -> list[tree.Expression]:
    """The WindowExpressions in expressions, each once, in order."""
    found: dict[int, tree.Expression] = {}
    stack: list[tree.Node] = list(reversed(expressions))
    while stack:
        node = stack.pop()
        if node.name == "WindowExpression":
            found.setdefault(id(node), node)  # type: ignore[arg-type]
        else:
            stack.extend(reversed(list(node.children())))
    return list(found.values())


HANDLERS = {"Window": emit}
