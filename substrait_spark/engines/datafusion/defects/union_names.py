"""`unions_lose_names`, by conditions above a union: this gives it names that it keeps.

    SELECT v FROM (SELECT 1 AS v FROM t UNION ALL SELECT DISTINCT a FROM t) WHERE v > 1   -- No field named v

DataFusion moves a condition into the inputs of a union. In one where all of its columns are constant, it finds as it plans
that no row fulfils it. So the union gets another first input, whose names it has: one row that a filter drops, of which
DataFusion doesn't know that. Others of its inputs are still left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....algebra.expression import Expression
from ....algebra.feature import NOT_DETERMINISTIC, SET
from ....algebra.relation import Aggregate, Filter, Join, Project, Relation, Set
from ....algebra.traversal import conjuncts, inputs_first, of_columns, ordinals
from ....lowering.builder import LoweringBuilder
from .column_names import can_rename, no_rows
from .constants import constants, with_varying

Unions = frozenset[Relation] | None
"""Of a column, the unions below of whose inputs some have a constant there; None of one that varies."""


def with_names_that_stay(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with a first input without rows in each union some of whose inputs a condition may find empty."""
    if not root.features & SET:
        return root
    concerned = _concerned(root)
    done: dict[Relation, Relation] = {}
    for relation in inputs_first(root):
        inputs = tuple([done[input] for input in relation.inputs])
        made = relation.with_inputs(inputs)
        done[relation] = _named(e, made) if isinstance(made, Set) and relation in concerned else made
        done[relation].place = relation.place
    return done[root]


def _named(e: LoweringBuilder, union: Set) -> Relation:
    """A union with the other input; where that can have no row, one whose inputs have no constants that DataFusion knows."""
    whole = union.with_all_columns()
    if can_rename(e, whole):
        return Set([no_rows(e, whole), *union.inputs], union.operation).emitting_as(union)
    return union.with_inputs(tuple([_varying(e, input) for input in union.inputs]))


def _varying(e: LoweringBuilder, input: Relation) -> Relation:
    return with_varying(e, input, {n for n, is_known in enumerate(constants(e, input)) if is_known})


def _concerned(root: Relation) -> set[Relation]:
    known: dict[Relation, list[Unions]] = {}
    of_columns(root, _own, lambda relation: None, known)
    found: set[Relation] = set()
    for relation in inputs_first(root):
        if isinstance(relation, Filter | Join):
            columns = [column for input in relation.inputs for column in known[input]]
            for condition in conjuncts(relation.condition):
                found |= _of_condition(condition, columns, equates=isinstance(relation, Join))
    return found


def _of_condition(condition: Expression, columns: Sequence[Unions], *, equates: bool) -> frozenset[Relation]:
    """The unions that a condition may concern. One that `equates` columns gives one what is known of the other."""
    if not equates:
        return _computed(condition, columns) or frozenset()
    return _together([columns[n] for n in ordinals(condition)])


def _computed(expression: Expression, columns: Sequence[Unions]) -> Unions:
    used = [columns[n] for n in ordinals(expression)]
    return None if expression.features & NOT_DETERMINISTIC or None in used else _together(used)


def _together(unions: Iterable[Unions]) -> frozenset[Relation]:
    return frozenset().union(*[each for each in unions if each is not None])


def _own(relation: Relation, below: Sequence[list[Unions]]) -> list[Unions]:
    if isinstance(relation, Project):
        return below[0] + [_computed(each, below[0]) for each in relation.computed]
    if isinstance(relation, Aggregate):
        return [_computed(each, below[0]) for each in relation.groupings]
    if isinstance(relation, Set):
        columns = zip(*below, strict=True)
        return [
            None if all(each is None for each in column) else _together([*column, frozenset({relation})])
            for column in columns
        ]
    return relation.passed(below)
