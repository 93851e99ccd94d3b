"""Subqueries and lateral joins that the tree has no words for, in those that it has."""

from __future__ import annotations

from collections.abc import Callable

from ..algebra import types
from ..algebra.builder import CallBuilder
from ..algebra.expression import Exists, Expression, FieldReference, InSubquery, Nested, ScalarSubquery, Subquery
from ..algebra.relation import Aggregate, Filter, LateralJoin, Project, Relation
from ..algebra.traversal import is_true, rewritten, subexpressions
from ..errors import Unsupported
from .numbers import as_one_type

COMPARISONS = {"EQ": "equal", "NE": "not_equal", "LT": "lt", "GT": "gt", "LE": "lte", "GE": "gte"}
"""Functions for the operators of set comparisons."""


def compared(e: CallBuilder, reduction: str, operator: str, value: Expression, relation: Relation) -> Expression:
    """A comparison of a value with any row, or with all rows, of a relation of one column: null where it hangs on nulls."""
    is_any = reduction == "ANY"
    if (reduction, operator) in (("ANY", "EQ"), ("ALL", "NE")) and types.equal_but_nullability(
        value.type, relation.types[0]
    ):
        membership = InSubquery((value,), relation)
        return membership if is_any else e.not_(membership)
    operands = as_one_type((seen_from_inside(value), FieldReference(0, relation.types[0])))
    condition = e.call(f"comparison:{COMPARISONS[operator]}", *operands)
    return _decided(e, relation, condition if is_any else e.not_(condition), is_any)


def _decided(e: CallBuilder, relation: Relation, condition: Expression, value_if_met: bool) -> Expression:
    """`value_if_met` where a row of a relation meets a condition; null where the condition is null for one; else the opposite."""
    unknown = (Exists(Filter(relation, e.is_null(condition))), e.null(types.BOOLEAN)) if condition.type.nullable else ()
    value, otherwise = e.literal(value_if_met, types.BOOLEAN), e.literal(not value_if_met, types.BOOLEAN)
    return e.if_then(Exists(Filter(relation, condition)), value, *unknown, otherwise)


def unique(e: CallBuilder, relation: Relation) -> Expression:
    """Whether no two rows of a relation are equal; those with a null equal none."""
    columns = [FieldReference(n, kind) for n, kind in enumerate(relation.types)]
    known = [e.is_not_null(column) for column in columns if column.type.nullable]
    rows = Filter(relation, e.and_(*known)) if known else relation
    counted = Aggregate(rows, columns, [e.aggregate("aggregate_generic:count")])
    count = FieldReference(len(columns), counted.types[-1])
    return e.not_(Exists(Filter(counted, e.call("comparison:gt", count, e.i64(1)))))


def lateral(e: CallBuilder, left: Relation, right: Relation, join_type: str, condition: Expression) -> Relation:
    """A lateral join. Types that ask only whether there is a row, or which one, are subqueries of the left input."""
    if join_type in ("INNER", "LEFT"):
        return LateralJoin(left, right, join_type, condition)
    width = len(left.types)
    matched = right if is_true(condition) else Filter(right, _over_right(condition, width))
    if join_type == "LEFT_SEMI":
        return Filter(left, Exists(matched))
    if join_type == "LEFT_ANTI":
        return Filter(left, e.not_(Exists(matched)))
    if join_type == "LEFT_MARK":
        mark = _decided(e, right, _over_right(condition, width), True)
        return Project(left, [e.as_type(mark, types.of("boolean"))])
    columns = tuple([FieldReference(n, kind) for n, kind in enumerate(right.types)])
    record = Project(matched, [Nested(types.of("struct", *right.types), columns)]).select([len(columns)])
    with_row = Project(left, [ScalarSubquery(record)])
    row = FieldReference(width, with_row.types[width])
    fields = [row.step(("field", n), types.nullable(kind)) for n, kind in enumerate(right.types)]
    return Project(with_row, fields).select([*range(width), *range(width + 1, width + 1 + len(fields))])


def _over_right(condition: Expression, width: int) -> Expression:
    """The condition of a join as one over the right input in a subquery, where the left input's columns are a query outwards."""

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, FieldReference) or part.parameter is not None:
            return None
        if not part.outer and part.ordinal >= width:
            return FieldReference(part.ordinal - width, part.type, part.path)
        return FieldReference(part.ordinal, part.type, part.path, part.outer + 1)

    return _moved(condition, change)


def seen_from_inside(expression: Expression) -> Expression:
    """An expression moved into a subquery of its relation: its columns are then one query further outwards."""

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, FieldReference) or part.parameter is not None:
            return None
        return FieldReference(part.ordinal, part.type, part.path, part.outer + 1)

    return _moved(expression, change)


def _moved(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    if any(isinstance(part, Subquery) for part in subexpressions(expression)):
        raise Unsupported("a subquery in what is compared with the rows of another is not read")
    return rewritten(expression, change)
