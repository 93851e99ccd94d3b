"""Lowering one relation over its lowered inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..algebra.expression import Expression, FieldReference
from ..algebra.relation import Filter, Join, Project, Read, Relation, Set, Sort, VirtualTable
from ..algebra.traversal import columns, conjuncts, is_true
from ..algebra.write import Merge, Update
from .driver import applied
from .expression import ExpressionLowering
from .forms import Filtered, Joined
from .pending_columns import pending_columns
from .text_length import read_without_lengths

if TYPE_CHECKING:
    from .lowering import Lowering


def lowered_relation(lowering: Lowering, relation: Relation) -> Relation:
    """The relation in the dialect's forms, with the columns that it had, in types that may differ in nullability."""
    lowering.pending.pop(relation, None)
    pending = pending_columns(lowering, relation)
    if pending is not None and not isinstance(relation, Project):
        lowering.pending[relation] = pending
    lowered = pending.relation() if pending is not None else _lowered(lowering, relation)
    if lowered.place is None:
        lowered.place = lowering.place_of(relation)
    return lowered.with_hint(relation.hint) if type(lowered) is type(relation) else lowered


def _lowered(lowering: Lowering, relation: Relation) -> Relation:
    inputs = tuple([lowering.lowered(input) for input in relation.inputs])
    over = (relation.rows(), *inputs) if isinstance(relation, Merge | Update) else inputs
    e = lowering.builder(*over)
    expressions = ExpressionLowering(e)
    for rewrite in e.rewrites.original.get(type(relation), ()):
        return applied(rewrite, Relation, expressions, relation)
    if isinstance(relation, Read):
        relation = read_without_lengths(lowering.dialect, relation)
        if not isinstance(relation, VirtualTable) and (converted := _converted(lowering, relation)) is not None:
            return converted
        if not relation.own_features and not isinstance(relation, VirtualTable):
            return relation
    form = FORMS.get(type(relation))
    if form is not None:
        made: Relation = e.rewritten(form(expressions, relation, inputs))
        return made.emitting_as(relation)
    changed = expressions.lower_all(relation.expressions())
    same = inputs == relation.inputs and changed == list(relation.expressions())
    rebuilt = relation if same else relation.over(inputs, changed)
    if type(rebuilt) not in e.rewrites.lowered:
        return rebuilt
    made = e.rewritten(rebuilt.with_all_columns())
    return made.emitting_as(rebuilt)


def _converted(lowering: Lowering, read: Relation) -> Relation | None:
    """A table's rows with the values that an engine has in the place of its columns'; None where it has these as they are."""
    conversions = lowering.rewrites.conversions
    if not any(kind.kind in conversions for kind in set(read.types)):
        return None
    e = lowering.builder(read)
    own: list[Expression] = []
    for n, kind in enumerate(read.types):
        conversion = conversions.get(kind.kind)
        column = FieldReference(n, kind)
        forth = None if conversion is None else conversion.forth
        own.append(column if forth is None else forth(e, column))
    return columns(read, own)


Inputs = tuple[Relation, ...]


def _filtered(expressions: ExpressionLowering, filter: Filter, inputs: Inputs) -> Filtered:
    return Filtered(inputs[0], expressions.lower_all(conjuncts(filter.condition)))


def _joined(expressions: ExpressionLowering, join: Join, inputs: Inputs) -> Joined:
    conditions = [part for part in conjuncts(join.condition) if not is_true(part)]
    left, right = inputs
    return Joined(left, right, join.join_type, expressions.lower_all(conditions))


def _sorted(expressions: ExpressionLowering, sort: Sort, inputs: Inputs) -> Sort:
    return Sort(inputs[0], [expressions.sort(each) for each in sort.sorts])


def _united(expressions: ExpressionLowering, united: Set, inputs: Inputs) -> Set:
    return Set(inputs, united.operation)


FORMS: Mapping[type[Relation], Callable[[ExpressionLowering, Any, Inputs], Any]] = {
    Filter: _filtered,
    Join: _joined,
    Set: _united,
    Sort: _sorted,
}
"""The forms in which rewrites see these relations. All others keep their class, over lowered inputs and expressions."""
