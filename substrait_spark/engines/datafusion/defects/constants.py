"""`constants_survive`: DataFusion takes columns for constant that no longer are. This finds them, and computes them in a form that it can't see through.

    SELECT j FROM (VALUES (1), (2)) LEFT JOIN (SELECT 1 AS j) ON column1 = j ORDER BY j NULLS FIRST   -- 1, NULL

It leaves constant keys out of sorts, groups and partitions, and computes early what is constant. It knows constants from
projections, conditions, the statistics of files, and aggregates without keys; and it goes on taking them for constant above
outer joins, where they are null for rows without a match, and above unions, of whose inputs each has another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....algebra import constants as algebra_constants
from ....algebra import types
from ....algebra.constants import Below, Known, Rule, of_keys
from ....algebra.expression import Expression, FieldReference, IfThen, Literal, ScalarFunction
from ....algebra.feature import SET
from ....algebra.relation import Aggregate, Filter, Join, Relation, Set
from ....algebra.traversal import columns, conjuncts, ordinals
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered
from ....lowering.lowering import Lowering

NULL_LEFT = ("RIGHT", "OUTER")
NULL_RIGHT = ("LEFT", "OUTER")


def varying_join(e: LoweringBuilder, join: Join) -> Relation:
    """An outer join, in a form in which DataFusion takes no column for constant that is null in rows without a match."""
    if join.join_type not in NULL_LEFT + NULL_RIGHT:
        return join
    left, right = (constants(e, input) for input in join.inputs)
    known = _by_condition(join.condition, left + right, between=True)
    nulled = [join.join_type in NULL_LEFT] * len(left) + [join.join_type in NULL_RIGHT] * len(right)
    return with_varying(e, join, {n for n, is_known in enumerate(known) if is_known and nulled[n]})


def varying_filter(e: LoweringBuilder, form: Filtered) -> Filtered:
    """A filter, in a form in which DataFusion takes no column for constant that a raising condition uses.

    It moves the filter into the inputs of a union, and computes as it plans what is constant in one of them.
    """
    relation, conditions = form
    raising = [condition for condition in conditions if condition.raises]
    if not raising or not relation.features & SET:
        return form
    known = constants(e, relation)
    keys = {n for condition in raising for n in ordinals(condition) if known[n]}
    return Filtered(with_varying(e, relation, keys), conditions)


def with_varying(e: LoweringBuilder, relation: Relation, keys: set[int]) -> Relation:
    """The relation with some of its columns behind a condition that always holds, which DataFusion doesn't know."""
    if not keys:
        return relation
    kept = [FieldReference(n, type) for n, type in enumerate(relation.types)]
    return columns(relation, [varying(e, column) if column.ordinal in keys else column for column in kept])


def varying(e: LoweringBuilder, column: Expression) -> Expression:
    """A column behind a condition that always holds, which DataFusion doesn't know."""
    return IfThen(((always(e), column),), column)


def always(e: LoweringBuilder) -> Expression:
    """A condition that always holds, by a random number, so that the engine doesn't know it."""
    return e.call("comparison:gte", e.call("datafusion:random"), Literal(0.0, types.FP64))


def constants(e: LoweringBuilder, relation: Relation) -> list[bool]:
    """For each column of a relation, whether DataFusion may take it for constant."""
    return algebra_constants.constants(relation, CONSTANTS, e.lowering.memory(_none_known))


def _none_known(lowering: Lowering) -> Known:
    """A memory of the answers, empty when a plan's lowering begins: most relations are asked about several times."""
    return {}


def _of_aggregate(relation: Aggregate, below: Below) -> list[bool]:
    return of_keys(relation, below) + [not relation.groupings] * len(relation.measures)


def _of_set(relation: Set, below: Below) -> list[bool]:
    return [any(column) for column in zip(*below, strict=True)]


def _of_filter(relation: Filter, below: Below) -> list[bool]:
    return _by_condition(relation.condition, relation.passed(below), between=False)


def _of_join(relation: Join, below: Below) -> list[bool]:
    passed = relation.passed(below)
    return _by_condition(relation.condition, passed, between=True) if relation.join_type == "INNER" else passed


CONSTANTS: Mapping[type[Relation], Rule] = {
    Aggregate: _of_aggregate,
    Filter: _of_filter,
    Join: _of_join,
    Set: _of_set,
}
"""Relations of which DataFusion knows more constants than their keys and literals."""


def _by_condition(condition: Expression, known: list[bool], *, between: bool) -> list[bool]:
    """The columns that may be taken for constant where a condition holds: whatever it compares.

    Two columns that it equates are so if one of them is, `between` two inputs.
    """
    known = list(known)
    pairs = []
    for conjunct in conjuncts(condition):
        used = list(ordinals(conjunct))
        if between and len(used) == len(conjunct.children()) == 2:
            pairs.append(used)
        elif not _is_not_null(conjunct):
            _mark(known, used)
    for _ in pairs:
        for pair in pairs:
            if any(known[ordinal] for ordinal in pair):
                _mark(known, pair)
    return known


def _mark(known: list[bool], constant: Iterable[int]) -> None:
    for ordinal in constant:
        known[ordinal] = True


def _is_not_null(condition: Expression) -> bool:
    return isinstance(condition, ScalarFunction) and condition.declaration.name == "is_not_null"
