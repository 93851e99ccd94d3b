"""Merges the result expressions of an aggregate or a window into the Project above it.

What computes the results of an aggregate or a window from other calls needs a project. Where both come from one operation of
Spark's, it goes into the project that stands above. Casts to wider types go into any project above, and above filters, since
they may be cast back there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import Cast, Expression, FieldReference
from ..algebra.relation import Aggregate, Filter, Project, Relation, Window
from ..algebra.subqueries import is_correlated
from ..algebra.traversal import columns, conjuncts, is_column, subexpressions, subquery_relations
from .aggregate import lowered_aggregate
from .expression import ExpressionLowering
from .forms import Filtered
from .window import lowered_window

if TYPE_CHECKING:
    from .lowering import Lowering


class PendingColumns(NamedTuple):
    """A lowered relation that isn't built yet: its columns as expressions over those of a relation below."""

    below: Relation
    columns: Sequence[Expression]

    def selected(self, emit: Sequence[int] | None) -> PendingColumns:
        """The columns that a relation puts out."""
        return self if emit is None else PendingColumns(self.below, [self.columns[n] for n in emit])

    def relation(self) -> Relation:
        """The relation that has the columns."""
        return columns(*self)


def pending_columns(lowering: Lowering, relation: Relation) -> PendingColumns | None:
    """The columns of an aggregate or a window relation, or of a project or a filter above one; None of any other."""
    if isinstance(relation, Aggregate | Window):
        return _computed(lowering, relation)
    if not isinstance(relation, Filter | Project):
        return None
    (input,) = relation.inputs
    pending = lowering.pending.get(input)
    if pending is None or any(map(is_correlated, subquery_relations(relation))):
        return None
    if isinstance(relation, Filter) or input.place not in (None, relation.place):
        pending = _settled(pending)
    if isinstance(relation, Project):
        return _projected(lowering, relation, pending)
    return _filtered(lowering, relation, pending)


def _computed(lowering: Lowering, relation: Aggregate | Window) -> PendingColumns:
    input = lowering.lowered(relation.inputs[0])
    expressions = ExpressionLowering(lowering.builder(input))
    if isinstance(relation, Aggregate):
        pending = PendingColumns(*lowered_aggregate(expressions, relation, input))
    else:
        pending = PendingColumns(*lowered_window(expressions, relation, input))
    return pending.selected(relation.emit)


def _projected(lowering: Lowering, relation: Project, pending: PendingColumns) -> PendingColumns:
    """The columns of a project. What it has several times is computed once."""
    e = lowering.builder(pending.below)
    width = len(pending.columns)
    uses = Counter(n for expression in relation.computed for n in _wholly_used(expression))
    uses.update(n for n in relation.emitted if n < width)
    shared = [e.share(each) if uses[n] > 1 and not _is_light(each) else each for n, each in enumerate(pending.columns)]
    computed = ExpressionLowering(e, shared).lower_all(relation.computed)
    return PendingColumns(pending.below, [*shared, *computed]).selected(relation.emit)


def _wholly_used(expression: Expression) -> Iterator[int]:
    """The columns that an expression uses as a whole, not just one of their fields or elements, as often as it does."""
    for part in (expression, *(child for each in subexpressions(expression) for child in each.children())):
        if is_column(part):
            yield part.ordinal


def _filtered(lowering: Lowering, relation: Filter, pending: PendingColumns) -> PendingColumns:
    e = lowering.builder(pending.below)
    conditions = ExpressionLowering(e, pending.columns).lower_all(conjuncts(relation.condition))
    return PendingColumns(e.rewritten(Filtered(pending.below, conditions)), pending.columns).selected(relation.emit)


def _settled(pending: PendingColumns) -> PendingColumns:
    """The same columns over a project that computes them, all but casts to wider types, which stay to be made above it."""
    inner = [each.input if isinstance(each, Cast) and _widens(each) else each for each in pending.columns]
    below = columns(pending.below, inner)
    settled: list[Expression] = []
    for n, each in enumerate(pending.columns):
        column = FieldReference(n, below.types[n])
        kind = types.with_nullable(each.type, column.type.nullable)
        settled.append(column if each is inner[n] else Cast(column, kind, True))
    return PendingColumns(below, settled)


def _widens(cast: Cast) -> bool:
    source, target = cast.input.type, cast.type
    return not cast.checks and types.widens(source, target) and not types.equal_but_nullability(source, target)


def _is_light(column: Expression) -> bool:
    """Whether an expression is a column, or a cast of one to a wider type."""
    return isinstance(column.input if isinstance(column, Cast) and _widens(column) else column, FieldReference)
