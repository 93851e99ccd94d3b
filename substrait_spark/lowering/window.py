"""Lowering window relations: each call that the dialect lacks becomes others, in several relations where one call needs another's result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.aggregate_form import AggregateForm, WindowForm, as_is, is_one_call
from ..algebra.expression import (
    AggregateFunction,
    Expression,
    FieldReference,
    SortField,
    StandIn,
    WindowCall,
)
from ..algebra.frame import Frame, frame_of_call, over
from ..algebra.relation import Relation, Window
from ..errors import NotInDialect
from .aggregate import LoweredCall, form_of, result_of
from .driver import applied
from .expression import ExpressionLowering, over_lowered
from .forms import Windowed

if TYPE_CHECKING:
    from .builder import LoweringBuilder


class StagedWindows:
    """Window calls that other ones of the same window build on: their results are columns after those of the input.

    `width`: the number of columns of the input; `partition` and `sorts`: those of the window. `stages`: the calls, each
    with its own partition and order.
    """

    def __init__(self, width: int, partition: tuple[Expression, ...], sorts: tuple[SortField, ...]) -> None:
        self.stages: list[tuple[WindowCall, tuple[Expression, ...], tuple[SortField, ...]]] = []
        self.sorts = sorts
        self._width = width
        self._partition = partition

    def column(
        self, call: WindowCall, *within: Expression, sorts: tuple[SortField, ...] | None = None
    ) -> FieldReference:
        """The result of a call, over rows that agree on `within` too, in the window's order or another."""
        order = self.sorts if sorts is None else sorts
        self.stages.append((call, (*self._partition, *within), order))
        return FieldReference(self._width + len(self.stages) - 1, call.type)


def lowered_window(
    lowering: ExpressionLowering, relation: Window, input: Relation
) -> tuple[Relation, list[Expression]]:
    """The relation over a lowered input; and, as expressions over it, the columns of the input and the calls' results."""
    e = lowering.e
    partition = tuple([e.key(key) for key in lowering.lower_all(relation.partition)])
    sorts = tuple([lowering.sort(sort) for sort in relation.sorts])
    _require_no_distances(lowering, relation, sorts)
    calls = [_lowered_call(lowering, call) for call in relation.calls]
    below = input
    results = []
    staged = StagedWindows(len(input.types), partition, sorts)
    forms = [_reported(e, call, staged) for call in calls]
    for stage, keys, order in staged.stages:
        below = e.rewritten(Windowed(below, [stage], keys, order))
    ordinal = len(below.types)
    below = e.rewritten(Windowed(below, [call for form in forms for call in form.calls], partition, sorts))
    for call, form in zip(calls, forms, strict=True):
        references = [FieldReference(ordinal + n, part.type) for n, part in enumerate(form.calls)]
        ordinal += len(references)
        results.append((call, form, references))
    above = e.over(below)
    columns: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(input.types)]
    columns += [result_of(above, *result) for result in results]
    return below, columns


def _lowered_call(lowering: ExpressionLowering, call: WindowCall) -> WindowCall:
    """The canonical call of lowered arguments, in types that may differ in nullability."""
    parts = lowering.lower_all(call.expressions())
    made = call.with_expressions(parts)
    made.options = lowering.e.dialect.options_of(call.declaration.kind, call.declaration, call.options)
    before = call.expressions()
    if [part.type for part in parts] != [part.type for part in before]:
        made.declaration = over_lowered(lowering.e, call.declaration, before, parts, made.arguments)
    return made


def _require_no_distances(lowering: ExpressionLowering, relation: Window, sorts: Sequence[SortField]) -> None:
    """Refuse frames that begin or end so far from the current row, by an order of converted values."""
    frames = [frame_of_call(call) for call in relation.calls]
    far = any(bound.offset is not None for frame in frames if not frame.rows for bound in (frame.lower, frame.upper))
    for was, now in zip(relation.sorts, sorts, strict=True):
        kind = was.expression.type
        if far and lowering.is_converted(kind, now.expression.type):
            e = lowering.e
            conversion = e.rewrites.conversions[kind.kind]
            raise NotInDialect(
                f"the dialect {e.dialect.name} has no frames by range of {types.required(kind)}, which it has as {conversion.becomes}",
                conversion.hint,
            )


def window_form(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """What a canonical window call becomes. Raises NotInDialect where there is no form."""
    declaration, frame = call.declaration, frame_of_call(call)
    call = e.rewritten(call)
    if declaration.kind == "aggregate":
        function = AggregateFunction(declaration, call.arguments, call.options)
        return _over(form_of(LoweredCall(e, function, frame)), frame)
    form = _form(e, call, staged)
    for guard in e.rewrites.lowered.get(declaration.function, ()):
        if not is_one_call(form, declaration.function):
            break
        form = applied(guard, WindowForm, e, form.calls[0], staged)
    return form


def _form(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """What a window function becomes before any rewrite against a defect."""
    declaration = call.declaration
    rewrite = e.rewrites.missing.get(declaration.function)
    if rewrite is not None:
        return applied(rewrite, WindowForm, e, call, staged)
    e.dialect.require_function("window", declaration, call.arguments, call.options)
    return WindowForm((call,), as_is)


def _over(form: AggregateForm, frame: Frame) -> WindowForm:
    return WindowForm(tuple([over(call, frame) for call in form.calls]), form.result)


def _reported(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    form = e.lowering.tried(call, lambda: window_form(e, call, staged), call.expressions())
    kind = types.nullable(call.type)
    return form or WindowForm((), lambda above, references: StandIn(kind))
