"""`deals_rows_out`: DataFusion forgets the order of sorted rows where a filter or a computed column stands above the sort.

    SELECT x + 1 FROM (SELECT x FROM (VALUES (3), (2), (1)) t(x) ORDER BY x)   -- with a batch_size of 1, on two cores: 3, 2, 4

It deals the batches, of up to 8,192 rows, out to its cores for such work, and then takes them as they come. So a limit above cuts off
other rows than it should. What needs an order, the plan's root, a limit or a function over rows, gets a sort of its own right below,
by the same keys. The sort below is dropped where no limit lies between.

Rows that several are made of are numbered first, so that those of rows which tie don't mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ....algebra.builder import CallBuilder
from ....algebra.expression import FieldReference, SortField
from ....algebra.feature import SORT, WINDOW_FUNCTION
from ....algebra.flat_map import FlatMap
from ....algebra.frame import WHOLE
from ....algebra.relation import Expand, Fetch, Filter, Generate, Project, Relation, Sort, Window
from ....algebra.traversal import is_column, ordinals, transformed
from ....lowering.general.computed_keys import over_columns

if TYPE_CHECKING:
    from ....lowering.builder import LoweringBuilder
    from ....lowering.lowering import Lowering


class Carried(NamedTuple):
    """A relation with the columns that its rows are sorted by among its own: which these are, and how each of them sorts."""

    relation: Relation
    keys: Sequence[int]
    sorts: Sequence[SortField]

    @property
    def order(self) -> list[SortField]:
        columns = [FieldReference(key, self.relation.types[key]) for key in self.keys]
        return [sort.by(column) for sort, column in zip(self.sorts, columns, strict=True)]


def sorted_where_needed(lowering: Lowering, root: Relation) -> Relation:
    """The relation with a sort right below each place that needs an order which DataFusion forgets below it."""
    return _sorted_where_needed(CallBuilder(lowering.traits), root)


def sorted_again(e: LoweringBuilder, root: Relation) -> Relation:
    """The same of a relation whose sorts lowering has put computed columns above, such as values of their own types."""
    return _sorted_where_needed(e, root)


def _sorted_where_needed(e: CallBuilder, root: Relation) -> Relation:
    if not root.features & SORT:
        return root

    def rule(relation: Relation) -> Relation:
        if isinstance(relation, Fetch):
            return _limited(e, relation)
        if isinstance(relation, FlatMap):
            return relation.with_inputs(tuple([_sorted(e, input) for input in relation.inputs]))
        return relation

    return _sorted(e, transformed(root, rule, lambda relation: isinstance(relation, Fetch | FlatMap)))


def _limited(e: CallBuilder, fetch: Fetch) -> Relation:
    """A limit over sorted rows, below what is computed of them: that may be costly, or raise, for rows which the limit cuts off."""
    if _sorted(e, fetch.inputs[0]) is fetch.inputs[0]:
        return fetch
    computed = []
    below = fetch.inputs[0]
    while isinstance(below, Project) and _keeps_order(below):
        computed.append(below)
        below = below.inputs[0]
    limited: Relation = Fetch(_sorted(e, below), fetch.offset, fetch.count)
    limited.place = fetch.place
    for project in reversed(computed):
        limited = project.with_inputs((limited,))
    return limited.emitting_as(fetch)


def _sorted(e: CallBuilder, relation: Relation) -> Relation:
    """The relation, sorted anew if DataFusion forgets its order."""
    path = []
    below = relation
    while _keeps_order(below):
        path.append(below)
        below = below.inputs[0]
    if not isinstance(below, Sort) or not any(map(_deals_out, path)):
        return relation
    carried = _start(below, any(isinstance(step, Fetch) for step in path))
    for step in reversed(path):
        carried = _over(e, step, carried)
    return Sort(carried.relation, carried.order).select(range(len(relation.types)))


def _keeps_order(relation: Relation) -> bool:
    """Whether the rows of a relation come in the order of its first input's."""
    if isinstance(relation, Project):
        return not relation.own_features & WINDOW_FUNCTION  # which may go by the order below
    return isinstance(relation, Filter | Fetch | Generate | Expand)


def _deals_out(relation: Relation) -> bool:
    """Whether DataFusion forgets the order of what is below a relation that keeps it: above an offset there will be a filter (`offsets`)."""
    if isinstance(relation, Fetch):
        return relation.offset > 0
    return not isinstance(relation, Project) or bool(relation.computed)


def _start(relation: Sort, cut: bool) -> Carried:
    """A sort, or what it sorts unless its rows are `cut`, with the keys among its columns."""
    sort = over_columns(relation, [key for key in relation.expressions() if not is_column(key)])
    keys = [ordinal for key in sort.expressions() for ordinal in ordinals(key)]
    return _with_keys(sort.with_all_columns() if cut else sort.inputs[0], sort.emitted, keys, relation.sorts)


def _over(e: CallBuilder, step: Relation, below: Carried) -> Carried:
    """A relation that keeps the order of its input, over that with its keys."""
    if isinstance(step, Expand):
        return _expanded(step, _numbered(e, below))
    if isinstance(step, Generate):
        return _generated(step, _numbered(e, below))
    made = step.over((below.relation,), step.expressions())
    return _with_keys(made.with_all_columns(), made.emitted, below.keys, below.sorts)


# ---- several rows of each, by the number of that, and theirs among its rows


def _numbered(e: CallBuilder, rows: Carried) -> Relation:
    """Rows with their numbers in their order, as the last column."""
    return Window(rows.relation, [e.window("arithmetic:row_number", frame=WHOLE)], (), rows.order)


def _expanded(step: Expand, input: Relation) -> Carried:
    number = FieldReference(len(input.types) - 1, input.types[-1])
    made = Expand(input, [(*projection, number) for projection in step.projections])
    position = len(made.types) - 1
    return _by_numbers(made, [position if n == position - 1 else n for n in step.emitted], position - 1, position)


def _generated(step: Generate, input: Relation) -> Carried:
    made = Generate(input, step.rows, step.outer, step.whole, with_position=True)
    width, position = len(step.inputs[0].types), len(input.types)
    generated = position + (not step.with_position)
    wanted = [n - width + generated if n >= width else n for n in step.emitted]
    return _by_numbers(made, wanted, position - 1, position)


def _by_numbers(relation: Relation, wanted: Sequence[int], *keys: int) -> Carried:
    sorts = [SortField(FieldReference(key, relation.types[key]), True, True) for key in keys]
    return _with_keys(relation, wanted, keys, sorts)


def _with_keys(relation: Relation, wanted: Sequence[int], keys: Sequence[int], sorts: Sequence[SortField]) -> Carried:
    """The wanted columns of a relation, and behind them those of its keys that aren't among them."""
    emitted = [*wanted, *dict.fromkeys(key for key in keys if key not in wanted)]
    return Carried(relation.select(emitted), [emitted.index(key) for key in keys], sorts)
