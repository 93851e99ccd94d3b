"""`named_by_text`: DataFusion names a computed column by its expression's text. This keeps such names short.

    SELECT *, count(*) OVER () FROM (SELECT count(*) OVER ()) u   -- an error: two columns of one name

A column that is computed of computed ones has all their texts in its name, as often as it uses them. Over some projects
in a chain, names outgrow any memory. Arrow also hands on no name with a zero character. So a long name is replaced by a
union, which takes the names of its first input. That input is one row that a filter drops, since DataFusion's optimizer
removes an input that it knows to be empty, and its names with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Literal, WindowFunction
from ....algebra.feature import ZERO_CHARACTER
from ....algebra.relation import Aggregate, Filter, Project, Relation, Set, VirtualTable
from ....algebra.traversal import columns, inputs_first, is_own
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Windowed
from ....lowering.lowering import Lowering
from .neutral_values import NEUTRAL, neutral
from .struct_names import ANY, has_names, relation_names

LONGEST_NAME = 1000
"""How many operands the texts of a relation's columns may have, before the columns are named anew."""


def shorten_names(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with the columns of those below it named anew where their names would grow long."""
    if longest_text(e, root) <= LONGEST_NAME:
        return root
    done: dict[Relation, tuple[Relation, list[int]]] = {}
    for relation in inputs_first(root):
        done[relation] = _shortened(e, relation, [done[input] for input in relation.inputs])
    return done[root][0]


def with_levels(e: LoweringBuilder, form: Windowed) -> Windowed:
    """Window calls above others, by one more key that is the same for all rows: that makes their text another."""
    level = _levels(form.input) if form.calls else 0
    return form._replace(partition=(*form.partition, e.i64(level))) if level else form


def _levels(relation: Relation) -> int:
    """How many projects with window functions lie upon each other."""
    levels: dict[Relation, int] = {}
    for each in inputs_first(relation):
        own = any(isinstance(expression, WindowFunction) for expression in each.expressions())
        levels[each] = own + max([levels[input] for input in each.inputs], default=0)
    return levels[relation]


def longest_text(e: LoweringBuilder, root: Relation) -> int:
    """An upper limit of the operands that the text of any column in a plan has, as if each expression used the longest column below."""
    if root.features & ZERO_CHARACTER:
        return UNTOLD
    longest = e.lowering.memory(_none_known)
    for relation in inputs_first(root, known=longest):
        below = max([longest[input] for input in relation.inputs], default=1)
        longest[relation] = below * _largest(relation)
    return longest[root]


def _none_known(lowering: Lowering) -> dict[Relation, int]:
    """A memory of the longest text in each relation, which is asked for more than once."""
    return {}


UNTOLD = 2**31
"""The length that is assumed of texts that are not looked at."""


def _largest(relation: Relation) -> int:
    """The operands of the largest expression that a relation computes a column by."""
    if isinstance(relation, Project):
        return max([each.size for each in relation.computed], default=1)
    if isinstance(relation, Aggregate):
        measures = [1 + sum([each.size for each in measure.expressions()]) for measure in relation.measures]
        return max([*measures, *[key.size for key in relation.groupings]], default=1)
    return 1


def _shortened(
    e: LoweringBuilder, relation: Relation, inputs: Sequence[tuple[Relation, list[int]]]
) -> tuple[Relation, list[int]]:
    """The relation, and how long the name of each column is, counted in operands."""
    if any(new is not old for (new, _), old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(tuple([input for input, _ in inputs]))
    own = _own_lengths(relation, [lengths for _, lengths in inputs])
    lengths = [own[n] if n < len(own) else 1 for n in relation.emitted]  # the last ones are new and short
    if max(lengths, default=0) <= LONGEST_NAME or not can_rename(e, relation):
        return relation, lengths
    return renamed(e, relation), [1] * len(relation.types)


def renamed(e: LoweringBuilder, relation: Relation) -> Relation:
    """The relation with short names for its columns; `can_rename` says of which relations there is one."""
    return Set([no_rows(e, relation), relation], "UNION_ALL")


def no_rows(e: LoweringBuilder, relation: Relation) -> Relation:
    """Columns like a relation's with short names, and one row, which a filter drops that DataFusion doesn't see through.

    Structs in them have the names that they have in the relation, since a union of others matches fields by name.
    """
    kinds = [types.nullable_inside(kind) if has_names(kind) else kind for kind in relation.types]
    row = (
        *(Literal(neutral(kind), kind) for kind in kinds),
        Literal(False, types.BOOLEAN),
    )
    names = [name for n, inside in enumerate(relation_names(e, relation)) for name in (f"c{n}", *map(str, inside))]
    table = VirtualTable([row], [*names, f"c{len(kinds)}"], [*kinds, types.BOOLEAN])
    dropped = Filter(table, FieldReference(len(kinds), types.BOOLEAN)).select(range(len(kinds)))
    pairs = enumerate(zip(kinds, relation.types, strict=True))
    return columns(dropped, [e.as_type(FieldReference(n, kind), wanted) for n, (kind, wanted) in pairs])


RENAMED = (*NEUTRAL, "list", "map", "struct")
"""The kinds of types that a column without nulls may have to be named anew."""


def can_rename(e: LoweringBuilder, relation: Relation) -> bool:
    """Whether every column has a type that the row of the union's first input can have a value of, with the same names in it."""
    return all(
        (kind.nullable or kind.kind in RENAMED) and {None, ANY}.isdisjoint(names)
        for kind, names in zip(relation.types, relation_names(e, relation), strict=True)
    )


def _own_lengths(relation: Relation, below: list[list[int]]) -> list[int]:
    """The lengths of the names of a relation's own columns, before it picks some of them."""
    return LENGTHS.get(type(relation), _passed_lengths)(relation, below)


def _passed_lengths(relation: Relation, below: list[list[int]]) -> list[int]:
    return relation.passed(below)


def _set_lengths(relation: Set, below: list[list[int]]) -> list[int]:
    return below[0]


def _project_lengths(relation: Project, below: list[list[int]]) -> list[int]:
    return below[0] + text_lengths(relation.computed, below[0])


def _aggregate_lengths(relation: Aggregate, below: list[list[int]]) -> list[int]:
    measures = [1 + sum(text_lengths(measure.expressions(), below[0])) for measure in relation.measures]
    return text_lengths(relation.groupings, below[0]) + measures


LENGTHS: Mapping[type[Relation], Callable[[Any, list[list[int]]], list[int]]] = {
    Aggregate: _aggregate_lengths,
    Project: _project_lengths,
    Set: _set_lengths,
}
"""Relations whose columns' names are not just those of their inputs' columns."""


def text_lengths(expressions: Sequence[Expression], columns: Sequence[int]) -> list[int]:
    """How many operands the texts of expressions have, those of the columns they use included."""
    known: dict[Expression, int] = {}
    stack = list(expressions)
    while stack:
        expression = stack[-1]
        children = expression.children()
        for child in children:
            if not child.children():
                known[child] = _operands(child, columns)
        pending = [child for child in children if child not in known]
        if pending:
            stack.extend(pending)
            continue
        stack.pop()
        if expression not in known:
            known[expression] = _operands(expression, columns) + sum([known[child] for child in children])
    return [known[expression] for expression in expressions]


def _operands(expression: Expression, columns: Sequence[int]) -> int:
    if is_own(expression):
        return columns[expression.ordinal]
    if isinstance(expression, Literal) and expression.features & ZERO_CHARACTER:
        return LONGEST_NAME + 1
    return 1
