"""Relations that Acero gets wrong as they are."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Expression, SortField
from ...algebra.join_columns import with_columns_of, with_right_side_moved
from ...algebra.relation import LEFT_ONLY, Join, Project, Relation, Sort
from ...algebra.types import FLOATS
from ...dialects.rewrite import Rewrite
from ...lowering.builder import LoweringBuilder
from ...lowering.forms import Key


def with_emit(e: LoweringBuilder, join: Join) -> Relation:
    """A semi or anti join that picks its columns: without `emit`, Acero takes those of the right input for columns of it too."""
    if join.join_type not in LEFT_ONLY:
        return join
    left, right = join.inputs
    wider = Project(left, [e.true()])
    made = Join(wider, right, join.join_type, with_right_side_moved(join.condition, len(left.types), 1))
    return with_columns_of(join, made, wider)


def with_nan_behind(e: LoweringBuilder, sort: Sort) -> Sort:
    """A sort in which NaN is greater than any number: in Acero, it stands beside nulls."""
    keys: list[SortField] = []
    for key in sort.sorts:
        if key.expression.type.kind in FLOATS:
            keys.append(key.by(e.call("comparison:is_nan", key.expression)))
        keys.append(key)
    return Sort(sort.inputs[0], keys)


def one_zero_and_nan(e: LoweringBuilder, key: Key) -> Expression | Key:
    """A key of floating-point numbers, for which neither zero nor NaN has a sign: in Acero, they are two groups."""
    value = key.value
    if value.type.kind not in FLOATS:
        return key
    value = e.share(value)
    zero, nan = (e.literal(number, types.required(value.type)) for number in (0.0, float("nan")))
    return e.if_then(e.call("comparison:equal", value, zero), zero, e.call("comparison:is_nan", value), nan, value)


REWRITES = [
    Rewrite(Join, with_emit, defect="columns_of_semi_joins"),
    Rewrite(Sort, with_nan_behind, defect="unordered_nan"),
    Rewrite(Key, one_zero_and_nan, defect="signed_zeros_in_keys"),
]
