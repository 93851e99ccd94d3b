"""Recursions: UnionLoop, which Spark has since 4.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.recursion import NONE, PreviousRows, Recursion
from ...errors import Unsupported
from .builder import Columns
from .document import NEW_ID, Part, some
from .expressions import Scope

if TYPE_CHECKING:
    from .relations import RelationBuilder

ROWS = "spark.sql.cteRecursionRowLimit"


def repeated(r: RelationBuilder, relation: Recursion, outer: Scope | None) -> Columns:
    """The rows of the anchor and of each level."""
    if int(r.b.tables.setting(ROWS)) != relation.row_limit:
        raise Unsupported(
            "its recursion ends with an error at so many rows, and one of this session's at others",
            f"Set {ROWS} to {relation.row_limit}.",
        )
    plans = [r.plan(input, outer).plan for input in relation.inputs]
    r.b.at(relation)
    limit = None if relation.limit == NONE else some(relation.limit)
    ids = [NEW_ID] * len(relation.inputs[0].types)
    plan = r.document.new("UnionLoop", Part("long", relation.number), *plans, ids, limit, some(relation.level_limit))
    return r.b.output(plan, len(ids))


def previous(r: RelationBuilder, read: PreviousRows, outer: Scope | None) -> Columns:
    """The rows that the step is over."""
    r.b.at(read)
    attributes = [r.document.attribute(f"c{n}", kind, kind.nullable) for n, kind in enumerate(read.schema)]
    return Columns(r.document.new("UnionLoopRef", Part("long", read.number), attributes, False), attributes)
