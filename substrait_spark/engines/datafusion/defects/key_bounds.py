"""`bounds_of_keys`: DataFusion skips files by the least and the greatest key of a join's other input, in an order by which equal keys differ.

    SELECT count(*) FROM (VALUES (2), (NULL)) t(x) JOIN 'p.parquet' ON [x] = [p]   -- 0, though p is 2 in the file's three rows

The greatest list or struct is one with nulls inside, as if they were the last; compared with, they are the first. -0.0 is less than 0.0. A
file is skipped where its keys are constant, as those of a partition are. So keys are made of columns behind a condition that DataFusion doesn't
know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....algebra.expression import Expression, ScalarFunction
from ....algebra.relation import Cross, Join, Relation
from ....algebra.traversal import ordinals
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered
from .constants import with_varying
from .join_keys import EQUALITIES

ORDERED_OTHERWISE = ("fp32", "fp64", "list", "struct")
"""The kinds of types of which equal values may differ in the order of the bounds."""


def in_join(e: LoweringBuilder, join: Join) -> Relation:
    """A join whose keys are constant in no file, where they are of such types."""
    left, right = join.inputs
    return _with_varying_keys(e, join, [join.condition], range(len(left.types) + len(right.types)))


def in_filter(e: LoweringBuilder, form: Filtered) -> Filtered:
    """A filter above a join, of whose conditions the join gets keys."""
    relation, conditions = form
    if not isinstance(relation, Join | Cross):
        return form
    return Filtered(_with_varying_keys(e, relation, conditions, relation.emitted), conditions)


def _with_varying_keys(
    e: LoweringBuilder, relation: Join | Cross, conditions: Iterable[Expression], columns: Sequence[int]
) -> Relation:
    """The relation, with what conditions equate of its inputs varying; `columns` are its own that the conditions' are."""
    left, right = relation.inputs
    width = len(left.types)
    keys: set[int] = set()
    for equality in _equalities(conditions):
        sides = {columns[n] for n in ordinals(equality)}
        if sides and min(sides) < width <= max(sides):
            keys |= sides
    if not keys:
        return relation
    varying = with_varying(e, left, {n for n in keys if n < width})
    return relation.with_inputs((varying, with_varying(e, right, {n - width for n in keys if n >= width})))


def _equalities(conditions: Iterable[Expression]) -> Iterator[Expression]:
    """The equalities of values of such types that DataFusion may take out of conditions as keys."""
    parts = list(conditions)
    while parts:
        part = parts.pop()
        if not isinstance(part, ScalarFunction):
            continue
        if part.declaration.name in ("and", "or"):
            parts += part.children()
        elif part.declaration.name in EQUALITIES and part.children()[0].type.kind in ORDERED_OTHERWISE:
            yield part
