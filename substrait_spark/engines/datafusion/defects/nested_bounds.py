"""`bounds_of_nested_keys`: DataFusion skips files by the least and the greatest key of a join's other input, of lists and structs too.

    SELECT count(*) FROM (VALUES (2), (NULL)) t(x) JOIN 'p.parquet' ON [x] = [p]   -- 0, though p is 2 in the file's three rows

For the greatest, it takes nulls inside of them as the last, and compares as if they were the first. A file is skipped where its keys are
constant, as those of a partition are. So keys are made of columns behind a condition that DataFusion doesn't know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....algebra.expression import Expression, ScalarFunction
from ....algebra.relation import Cross, Join, Relation
from ....algebra.traversal import ordinals
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered
from .constants import with_varying
from .join_keys import EQUALITIES

NESTED = ("list", "struct")


def in_join(e: LoweringBuilder, join: Join) -> Relation:
    """A join whose nested keys are constant in no file."""
    keys = _columns_of_keys([join.condition])
    if not keys:
        return join
    left, right = join.inputs
    width = len(left.types)
    lefts, rights = {n for n in keys if n < width}, {n - width for n in keys if n >= width}
    return join.with_inputs((with_varying(e, left, lefts), with_varying(e, right, rights)))


def in_filter(e: LoweringBuilder, form: Filtered) -> Filtered:
    """A filter whose conditions become no nested keys of the join below."""
    relation, conditions = form
    if not isinstance(relation, Join | Cross):
        return form
    return Filtered(with_varying(e, relation, _columns_of_keys(conditions)), conditions)


def _columns_of_keys(conditions: Iterable[Expression]) -> set[int]:
    """The columns that conditions compare as lists or structs, or make such of."""
    return {n for condition in conditions for equality in _nested_equalities(condition) for n in ordinals(equality)}


def _nested_equalities(condition: Expression) -> Iterator[Expression]:
    """The equalities of lists or structs that DataFusion may take out of a condition as keys."""
    parts = [condition]
    while parts:
        part = parts.pop()
        if not isinstance(part, ScalarFunction):
            continue
        if part.declaration.name in ("and", "or"):
            parts += part.children()
        elif part.declaration.name in EQUALITIES and part.children()[0].type.kind in NESTED:
            yield part
