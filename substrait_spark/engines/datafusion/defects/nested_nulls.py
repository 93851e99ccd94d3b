"""`nested_nulls_follow`: DataFusion puts the nulls inside a struct or a list where the nulls of the column go, Spark before all else."""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import SortField
from ....algebra.types import Type
from ....lowering.builder import LoweringBuilder
from ..functions.nested_order import order_key


def sort_key(e: LoweringBuilder, sort: SortField) -> SortField:
    """The sort key: by its bytes where its nulls inside would go elsewhere."""
    if sort.ascending == sort.nulls_first or not _holds_nulls(sort.expression.type):
        return sort
    return sort.by(order_key(e, sort.expression))


def _holds_nulls(type: Type) -> bool:
    """Whether values of a type may have a null inside."""
    return any(part.nullable or _holds_nulls(part) for part in types.parts(type))
