"""Recursions: UnionLoop, which Spark has since 4.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.recursion import PreviousRows, Recursion
from ...errors import Unsupported
from .builder import Columns
from .document import NEW_ID, Part, some
from .expressions import Scope

if TYPE_CHECKING:
    from .relations import RelationBuilder

ROWS = "spark.sql.cteRecursionRowLimit"


def repeated(r: RelationBuilder, relation: Recursion, outer: Scope | None) -> Columns:
    """The rows of the anchor and of each level."""
    if _rows_of_session(r) != relation.row_limit:
        raise Unsupported(
            f"its recursion ends with an error at {relation.row_limit or 'no'} rows, and that of this session at others",
            f"Set {ROWS} to {-1 if relation.row_limit is None else relation.row_limit}.",
        )
    plans = [r.plan(input, outer).plan for input in relation.inputs]
    r.b.at(relation)
    levels = some(-1 if relation.level_limit is None else relation.level_limit)
    limit = None if relation.limit is None else some(relation.limit)
    ids = [NEW_ID] * len(relation.inputs[0].types)
    plan = r.document.new("UnionLoop", Part("long", relation.number), *plans, ids, limit, levels)
    return r.b.output(plan, len(ids))


def previous(r: RelationBuilder, read: PreviousRows, outer: Scope | None) -> Columns:
    """The rows that the step is over."""
    r.b.at(read)
    attributes = [r.document.attribute(f"c{n}", kind, kind.nullable) for n, kind in enumerate(read.schema)]
    return Columns(r.document.new("UnionLoopRef", Part("long", read.number), attributes, False), attributes)


def _rows_of_session(r: RelationBuilder) -> int | None:
    """The rows at which a recursion of the session's ends with an error; None where it never does."""
    limit = int(r.b.tables.setting(ROWS))
    return None if limit < 0 else limit
