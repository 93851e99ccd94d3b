"""`nested_nulls_follow`: DataFusion puts the nulls inside a struct or a list where the nulls of the column go, Spark before all else."""

from __future__ import annotations

from ....algebra.expression import SortField
from ....algebra.types import Type
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder


def refused(e: LoweringBuilder, sort: SortField) -> SortField:
    """The sort key. Raises NotInDialect for one whose nulls inside would go elsewhere."""
    kind = sort.expression.type
    if sort.ascending != sort.nulls_first and _holds_nulls(kind):
        raise NotInDialect(
            f"the dialect {e.dialect.name} puts the nulls inside a {kind.kind} where the nulls of the column go",
            "Sort by the fields or elements themselves, or in the default order of nulls.",
        )
    return sort


def _holds_nulls(type: Type) -> bool:
    """Whether values of a type may have a null inside."""
    parts = [part for part in type.parameters if isinstance(part, Type)]
    return any(part.nullable or _holds_nulls(part) for part in parts)
