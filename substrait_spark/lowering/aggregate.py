"""Lowering aggregates: each measure that the dialect lacks becomes others, with a project above that has its result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra import types
from ..algebra.aggregate_form import AggregateCall, AggregateForm, Measures, WindowForm, as_is, is_one_call
from ..algebra.expression import AggregateFunction, Expression, FieldReference, SortField, StandIn, WindowCall
from ..algebra.frame import WHOLE, Frame, over
from ..algebra.relation import Aggregate, Relation
from ..algebra.traversal import is_column
from ..dialects.rewrite import Rewrite
from ..errors import NotInDialect, Unsupported
from .driver import applied, in_type
from .expression import ExpressionLowering, over_lowered
from .forms import Windowed
from .general import GENERAL
from .refusal_text import without_other_form
from .text_length import without_length

if TYPE_CHECKING:
    from .builder import LoweringBuilder


OR_NO_AGGREGATE: Any = (AggregateForm, type(None))


class Windows(NamedTuple):
    """Window calls over partitions by the keys of a relation's groups, or by these keys and further expressions."""

    calls: tuple[WindowCall, ...]
    partition: tuple[Expression, ...]


class Group:
    """What the measures of one relation share: its keys, and window calls below it that measures need.

    `windows`: the calls, whose results are columns after the `width` ones that the relation reads.
    """

    def __init__(self, keys: Sequence[Expression], width: int) -> None:
        self.windows: list[Windows] = []
        self.keys = tuple(keys)
        self._width = width

    def below(self, *calls: WindowCall, within: Sequence[Expression] = ()) -> list[FieldReference]:
        """The results of window calls over all rows of a group, or over those that agree on `within` too."""
        self.windows.append(Windows(calls, (*self.keys, *within)))
        first = self._width
        self._width += len(calls)
        return [FieldReference(first + n, call.type) for n, call in enumerate(calls)]


class LoweredCall(AggregateCall["LoweringBuilder"]):
    """A canonical aggregate call whose parts are lowered, over a group or over a window's frame."""

    def __init__(
        self, e: LoweringBuilder, function: AggregateFunction, frame: Frame | None = None, group: Group | None = None
    ) -> None:
        super().__init__(e, function.distinct, function.filter, frame)
        self.function = function
        self.group = group

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments: expressions, and names of enum values."""
        return self.function.arguments

    @property
    def sorts(self) -> tuple[SortField, ...]:
        """The keys that the call itself is ordered by."""
        return self.function.sorts

    @property
    def unchanged(self) -> AggregateForm:
        """The call as it is: what a rewrite against a defect gives where it is not about this call."""
        return AggregateForm((self.function,), as_is)

    def below(self, *calls: tuple[str, Expression], within: Sequence[Expression] = ()) -> list[FieldReference]:
        """Columns with the results of aggregate functions, given as `(function, argument)`, over all rows of the group.

        A window below the aggregate computes them. `within`: over those rows only that agree on these as well.
        """
        if self.group is None or self.distinct:
            raise NotInDialect(
                f"the dialect {self.e.dialect.name} has no {self.function.declaration.name} "
                f"{'of distinct values' if self.distinct else 'over windows'}"
            )
        made = [over(self.e.aggregate(name, argument, frame=WHOLE), WHOLE) for name, argument in calls]
        return self.group.below(*made, within=within)

    def filtered(self, value: Expression) -> Expression:
        """A value, null for rows that the FILTER drops."""
        return value if self.filter is None else self.e.if_then(self.filter, value, self.e.null(value.type))

    def no_order(self) -> Unsupported:
        """Why it can't be a window function: it has an order of its own."""
        return NotInDialect(f"{self.function.declaration.name} with an order of its own is no window function")


def form_of(call: LoweredCall) -> AggregateForm:
    """What a canonical aggregate call becomes. Raises NotInDialect where there is no form."""
    form, name = _form(call), call.function.declaration.function
    for rewrite in call.e.rewrites.lowered.get(name, ()):
        if not is_one_call(form, name):
            break
        form = applied(rewrite, AggregateForm, LoweredCall(call.e, form.calls[0], call.frame, call.group))
    return form


def _form(call: LoweredCall) -> AggregateForm:
    """What it becomes before any rewrite against a defect."""
    e, function = call.e, call.function
    name = function.declaration.function
    rewrite, general = e.rewrites.missing.get(name), GENERAL.missing.get(name)
    if rewrite is not None and rewrite is not general:
        return applied(rewrite, AggregateForm, call)
    try:
        e.require_aggregate(function, call.frame)
    except NotInDialect as lacking:
        if general is None:
            raise
        try:
            return applied(general, AggregateForm, call)
        except NotInDialect as problem:
            raise without_other_form(e.dialect, lacking, [problem]) from None
    return call.unchanged


def lowered_aggregate(
    lowering: ExpressionLowering, relation: Aggregate, input: Relation
) -> tuple[Relation, list[Expression]]:
    """The relation over a lowered input; and, as expressions over it, the keys, the measures and a number of several sets."""
    e = lowering.e
    keys = [e.key(key) for key in lowering.lower_all(relation.groupings)]
    group = Group(keys, len(input.types))
    forms = [_reported(lowering, measure, group) for measure in relation.measures]
    measures = Measures(len(keys), _of_columns)
    references = [[measures.add(call) for call in form.calls] for form in forms]
    below = input
    for windows in group.windows:
        below = e.rewritten(Windowed(below, windows.calls, windows.partition, ()))
    if not keys and not measures.calls and not lowering.e.lowering.has_problems:
        measures.add(e.aggregate("aggregate_generic:count"))
    made: Relation = e.rewritten(Aggregate(below, keys, measures.calls, relation.sets))
    above = e.over(made)
    columns: list[Expression] = [FieldReference(n, made.types[n]) for n in range(len(keys))]
    results = zip(relation.measures, forms, references, strict=True)
    columns += [result_of(above, measure, form, parts) for measure, form, parts in results]
    if len(relation.sets) > 1:
        columns.append(FieldReference(len(made.types) - 1, made.types[-1]))
    return made, columns


def _of_columns(call: AggregateFunction) -> object:
    """What is equal for calls that are the same: an average may need the sum that is there already."""
    columns = [part.ordinal for part in call.expressions() if is_column(part)]
    if len(columns) < len(call.arguments) or call.filter or call.sorts or not call.declaration.deterministic:
        return id(call)
    return call.declaration, call.options, call.distinct, tuple(columns)


def result_of(
    above: LoweringBuilder,
    function: AggregateFunction | WindowCall,
    form: AggregateForm | WindowForm,
    references: Sequence[Expression],
) -> Expression:
    """The result of a form, over the relation that has what its calls have become; what can't be told is reported."""
    wanted = without_length(above.dialect, function.type)
    result = Rewrite(function.declaration.function, form.result)
    expression = above.lowering.tried(function, lambda: in_type(result, wanted, above, references))
    return StandIn(types.nullable(function.type)) if expression is None else expression


def _reported(lowering: ExpressionLowering, measure: AggregateFunction, group: Group) -> AggregateForm:
    e = lowering.e
    refused = e.rewrites.refused.get(AggregateFunction, ())

    def over(parts: Sequence[Expression]) -> AggregateForm:
        return form_of(LoweredCall(e, _over_lowered(e, measure, parts), group=group))

    def with_parts() -> AggregateForm:
        return over(lowering.lower_all(measure.expressions()))

    if refused:
        last = partial(lowering.or_refused, with_parts, OR_NO_AGGREGATE, refused, measure, group)
        form = e.lowering.tried(measure, last)
    else:
        parts = lowering.lower_all(measure.expressions())
        form = e.lowering.tried(measure, partial(over, parts), parts)
    kind = types.nullable(measure.type)
    return form or AggregateForm((), lambda above, references: StandIn(kind))


def _over_lowered(e: LoweringBuilder, measure: AggregateFunction, parts: Sequence[Expression]) -> AggregateFunction:
    """The canonical function of lowered arguments, in types that may differ in nullability."""
    made: AggregateFunction = measure.with_expressions(parts)
    made.options = e.dialect.options_of("aggregate", measure.declaration, measure.options)
    made.sorts = tuple([e.rewritten(sort) for sort in made.sorts])
    made = e.rewritten(made)
    made.came_from(measure.origin)
    before, after = measure.expressions(), made.expressions()
    if [part.type for part in after] != [part.type for part in before]:
        made.declaration = over_lowered(e, measure.declaration, before, after, made.arguments)
    return made
