"""What the plan of a MERGE means for the rows of its table, as queries of that table: written from the message's description."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait.plan_pb2 import Plan

from substrait_spark.algebra.builder import CallBuilder, Traits
from substrait_spark.algebra.expression import Expression, FieldReference, Literal, SortField
from substrait_spark.algebra.frame import WHOLE
from substrait_spark.algebra.relation import Aggregate, Filter, Join, Project, Relation, Set, Window
from substrait_spark.algebra.traversal import rewritten
from substrait_spark.algebra.types import BOOLEAN
from substrait_spark.algebra.write import Clause, Merge
from substrait_spark.plan.message import build
from substrait_spark.reading.plan import read_plan

Move = Callable[[Expression], Expression]
"""Has an expression over the table and the source refer to the columns of a join."""


def left_by_merge(plan: Plan) -> Plan:
    """A query of the rows that a MERGE leaves in its table, where no row is matched twice that must not be."""
    merge = _merge(plan)
    unmatched = Join(*_switched(merge), "LEFT_ANTI", _switch(merge)(merge.condition))
    left = Join(merge.rows(), merge.inputs[0], "LEFT_ANTI", merge.condition)
    branches = [
        _changed(merge, _first_of_each(merge), merge.clauses["matched"], _behind_number(merge)),
        _inserted(merge, unmatched, merge.clauses["not_matched"], _switch(merge)),
        _changed(
            merge,
            _numbered_clauses(left, merge.clauses["not_matched_by_source"], _same),
            merge.clauses["not_matched_by_source"],
            _same,
        ),
    ]
    return build(Set(branches, "UNION_ALL"), merge.names)


def matched_twice(plan: Plan) -> Plan:
    """A query of the rows of the table, by number, that several rows of the source match, where that is an error."""
    merge = _merge(plan)
    matches = Filter(_matched(merge), Literal(merge.matches_once, BOOLEAN))
    counts = Aggregate(matches, [_number(merge, matches)], [_e().aggregate("aggregate_generic:count")])
    return build(
        Filter(counts, _e().call("comparison:gt", FieldReference(1, counts.types[1]), _e().i64(1))), ["row", "matches"]
    )


def _merge(plan: Plan) -> Merge:
    root = read_plan(plan).root
    assert isinstance(root, Merge)
    return root


def _e() -> CallBuilder:
    return CallBuilder(Traits())


def _same(expression: Expression) -> Expression:
    return expression


def _moved(places: Sequence[int]) -> Move:
    def change(part: Expression) -> Expression | None:
        if not isinstance(part, FieldReference) or part.outer or part.parameter is not None:
            return None
        return FieldReference(places[part.ordinal], part.type, part.path)

    return lambda expression: rewritten(expression, change)


def _switch(merge: Merge) -> Move:
    """For a join of the source with the table."""
    width, beside = len(merge.schema), len(merge.inputs[0].types)
    return _moved([*range(beside, beside + width), *range(beside)])


def _behind_number(merge: Merge) -> Move:
    """For a join of the table, whose rows have numbers behind their columns, with the source."""
    width, beside = len(merge.schema), len(merge.inputs[0].types)
    return _moved([*range(width), *range(width + 1, width + 1 + beside)])


def _switched(merge: Merge) -> tuple[Relation, Relation]:
    return merge.inputs[0], merge.rows()


def _number(merge: Merge, rows: Relation) -> FieldReference:
    return FieldReference(len(merge.schema), rows.types[len(merge.schema)])


def _matched(merge: Merge) -> Relation:
    """The rows of the table, numbered, beside the rows of the source that match them."""
    numbered = Window(merge.rows(), [_e().window("arithmetic:row_number", frame=WHOLE)], [], [])
    return Join(numbered, merge.inputs[0], "INNER", _behind_number(merge)(merge.condition))


def _numbered_clauses(rows: Relation, clauses: Sequence[Clause], move: Move) -> Relation:
    """The rows, and behind their columns which clause is for them, counted from 1: 0 where none is."""
    e = _e()
    parts = [part for n, each in enumerate(clauses, 1) for part in (move(each.condition), e.i32(n))]
    return Project(rows, [e.if_then(*parts, e.i32(0)) if parts else e.i32(0)])


def _first_of_each(merge: Merge) -> Relation:
    """Each row of the table that is matched, once: with the row of the source for which a clause changes it, if there is one."""
    e = _e()
    matched = _numbered_clauses(_matched(merge), merge.clauses["matched"], _behind_number(merge))
    last = len(matched.types) - 1
    unchanged = e.equal(FieldReference(last, matched.types[last]), e.i32(0))
    number = e.window("arithmetic:row_number", frame=WHOLE)
    ranked = Window(matched, [number], [_number(merge, matched)], [SortField(unchanged, True, True)])
    first = e.equal(FieldReference(last + 1, ranked.types[last + 1]), e.i64(1))
    return Filter(ranked, first).select(range(last + 1))


def _changed(merge: Merge, rows: Relation, clauses: Sequence[Clause], move: Move) -> Relation:
    """The rows of the table that clauses leave, with the values that they have then."""
    e = _e()
    clause = FieldReference(len(rows.types) - 1, rows.types[-1])
    kept = rows
    for n, each in enumerate(clauses, 1):
        if each.deletes:
            kept = Filter(kept, e.call("comparison:not_equal", clause, e.i32(n)))
    values = []
    for column, type in enumerate(merge.schema):
        parts: list[Expression] = []
        for n, each in enumerate(clauses, 1):
            if column in each.values:
                parts += [e.equal(clause, e.i32(n)), move(each.values[column])]
        old = FieldReference(column, type)
        values.append(e.if_then(*parts, old) if parts else old)
    return _project(kept, values)


def _inserted(merge: Merge, rows: Relation, clauses: Sequence[Clause], move: Move) -> Relation:
    """The rows that clauses insert."""
    e = _e()
    rows = _numbered_clauses(rows, clauses, move)
    clause = FieldReference(len(rows.types) - 1, rows.types[-1])
    inserted = Filter(rows, e.call("comparison:gt", clause, e.i32(0)))
    values = []
    for column, type in enumerate(merge.schema):
        parts = [
            part for n, each in enumerate(clauses, 1) for part in (e.equal(clause, e.i32(n)), move(each.values[column]))
        ]
        values.append(e.if_then(*parts, e.null(type)) if parts else e.null(type))
    return _project(inserted, values)


def _project(rows: Relation, values: Sequence[Expression]) -> Relation:
    width = len(rows.types)
    return Project(rows, values).select(range(width, width + len(values)))
