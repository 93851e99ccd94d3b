"""Two defects of fetches with an offset.

`offsets_forgotten`: DataFusion moves a sort below a fetch with an offset, and loses rows.

    SELECT x FROM (SELECT x FROM (VALUES (1), (2), (3)) t(x) LIMIT 2 OFFSET 1) ORDER BY x   -- 2, without 3

Groups, windows and lists that need an order make it sort too. A sort above a filter on a random number stays there, so each
such fetch gets a filter of this kind (https://github.com/apache/datafusion/pull/24958).

`offsets_lose_order`: where nothing above needs the order, DataFusion drops the sort below a fetch that has an offset and no count,
if the columns between don't have its keys.

    SELECT y FROM (SELECT x, y FROM (VALUES (2, 2), (1, 1)) t(x, y) ORDER BY x OFFSET 1) CROSS JOIN (VALUES (0)) u(z)   -- 1, not 2

Such rows are numbered in place of it. A count that no table has as many rows as would keep the sort, and make it 15 times as slow.
"""

from __future__ import annotations

from ....algebra.expression import FieldReference, WindowFunction
from ....algebra.feature import FETCH
from ....algebra.frame import WHOLE
from ....algebra.relation import Fetch, Filter, Project, Relation, Sort
from ....algebra.traversal import transformed
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Windowed
from .constants import always


def filter_above_offsets(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with a filter that keeps all rows above each Fetch with an offset."""

    def rule(relation: Relation) -> Relation:
        return Filter(relation, always(e)) if _skips(relation) else relation

    return transformed(root, rule, _skips, FETCH)


def _skips(relation: Relation) -> bool:
    """Whether a relation leaves out rows at the beginning."""
    return isinstance(relation, Fetch) and relation.offset > 0


def by_number(e: LoweringBuilder, fetch: Fetch) -> Relation:
    """A fetch from an offset to the end of sorted rows, by the rows' numbers."""
    if fetch.count is not None or not fetch.offset:
        return fetch
    left = _numbered_from(e, fetch.inputs[0], fetch.offset)
    return fetch if left is None else left.emitting_as(fetch)


def _numbered_from(e: LoweringBuilder, relation: Relation, offset: int) -> Relation | None:
    """The rows of a relation from an offset on, where a sort below says which these are."""
    if isinstance(relation, Project) and not any(isinstance(each, WindowFunction) for each in relation.computed):
        left = _numbered_from(e, relation.inputs[0], offset)
        return None if left is None else relation.with_inputs((left,))
    if not isinstance(relation, Sort):
        return None
    (input,) = relation.inputs
    width = len(input.types)
    row_number = e.over(input).window("arithmetic:row_number", frame=WHOLE)
    numbered = e.over(input).rewritten(Windowed(input, [row_number], (), relation.sorts))
    number = FieldReference(width, numbered.types[width])
    left = Filter(numbered, e.call("comparison:gt", number, e.i64(offset))).select(range(width))
    return Sort(left, relation.sorts).emitting_as(relation)
