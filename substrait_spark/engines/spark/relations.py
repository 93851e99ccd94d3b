"""Relations of the tree as Catalyst's plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...algebra import types
from ...algebra.expression import Expression, Literal, Nested, ScalarFunction
from ...algebra.flat_map import FlatMap, FlatMapCoGroups
from ...algebra.recursion import PreviousRows, Recursion
from ...algebra.relation import (
    ALL_ROWS,
    Aggregate,
    Cross,
    DeltaTable,
    Expand,
    Fetch,
    Filter,
    Generate,
    IcebergTable,
    Join,
    LateralJoin,
    LocalFiles,
    NamedTable,
    Project,
    Relation,
    Sample,
    Set,
    Sort,
    VirtualTable,
    Window,
)
from ...algebra.write import Ddl, Merge, Update, Write
from ...errors import Unsupported
from . import joins, recursion, rows_functions, sets
from .aggregates import aggregate
from .builder import Builder, Columns
from .document import Node, Part, some
from .expressions import ExpressionBuilder, Scope
from .literals import written
from .subqueries import require_known


class RelationBuilder:
    """Writes the relations of one plan."""

    def __init__(self, builder: Builder) -> None:
        self.b = builder
        self.document = builder.document
        self.expressions = ExpressionBuilder(builder, self.plan)

    def plan(self, relation: Relation, outer: Scope | None = None) -> Columns:
        """A plan that puts out exactly the relation's columns. `outer` is what a query around it offers."""
        columns = self.build(relation, outer)
        return self.b.project(columns.plan, columns.columns)

    def build(self, relation: Relation, outer: Scope | None = None) -> Columns:
        """A plan, and the relation's columns among those that it puts out."""
        return self.b.within(partial(self._build, relation, outer))

    def _build(self, relation: Relation, outer: Scope | None) -> Columns:
        try:
            require_known(relation)
            plan, columns = RULES[type(relation)](self, relation, outer)
        except Unsupported as problem:
            self.b.at(relation)
            self.b.report(None, problem)
            plan, columns = self._stand_in(relation)
        if relation.emit is not None:
            columns = [columns[ordinal] for ordinal in relation.emit]
        self.b.made(plan, None)
        if all(map(self.document.is_column, columns)):
            return Columns(plan, columns)
        return self.b.project(plan, columns)

    def input(self, relation: Relation, outer: Scope | None) -> Columns:
        """The one input of a relation, which is the one at work from then on."""
        (only,) = self.inputs(relation, outer)
        return only

    def inputs(self, relation: Relation, outer: Scope | None) -> list[Columns]:
        """The inputs of a relation, which is the one at work from then on."""
        inputs = [self.build(input, outer) for input in relation.inputs]
        self.b.at(relation)
        return inputs

    def _stand_in(self, relation: Relation) -> Columns:
        count = len(relation.types) if relation.emit is None else 1 + max(relation.emit, default=0)
        nothing = self.document.new("OneRowRelation")
        return Columns(nothing, [self.document.literal(None, types.of("boolean"))] * count)


# ---- rules


def _virtual_table(r: RelationBuilder, table: VirtualTable, outer: Scope | None) -> Columns:
    r.b.at(table)
    document = r.document
    if table.rows == ((),):
        return Columns(document.new("OneRowRelation"), [])
    attributes = [document.attribute(f"c{n}", kind, kind.nullable) for n, kind in enumerate(table.schema)]
    if all(isinstance(value, Literal) for value in table.expressions()):
        values = [
            [written(value.value, value.type) for value in row if isinstance(value, Literal)] for row in table.rows
        ]
        return Columns(document.rows(attributes, values), attributes)
    rows = [r.expressions.build_all(row, Scope(())) for row in table.rows]
    return Columns(document.new("Expand", rows, attributes, document.new("OneRowRelation")), attributes)


def _read(
    r: RelationBuilder, read: NamedTable | LocalFiles | DeltaTable | IcebergTable, outer: Scope | None
) -> Columns:
    r.b.at(read)
    dataset = r.document.dataset(r.b.tables.dataset(read))
    columns = [
        r.b.typed(column, kind)
        for column, kind in zip(r.document.columns(dataset, len(read.schema)), read.schema, strict=True)
    ]
    # Each read has columns of its own, also of a table that is read several times.
    return r.b.project(dataset, [r.document.alias(column, f"c{n}") for n, column in enumerate(columns)])


def _filter(r: RelationBuilder, relation: Filter, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    condition = r.expressions.build(relation.condition, Scope(columns, outer))
    return Columns(r.document.new("Filter", condition, plan), columns)


def _project(r: RelationBuilder, relation: Project, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    return Columns(plan, columns + r.expressions.build_all(relation.computed, Scope(columns, outer)))


def _window(r: RelationBuilder, relation: Window, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    scope = Scope(columns, outer)
    partition = r.expressions.build_all(relation.partition, scope)
    calls = [r.expressions.window(call, partition, relation.sorts, scope) for call in relation.calls]
    return Columns(plan, columns + calls)


def _sort(r: RelationBuilder, relation: Sort, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    sorts = r.expressions.sorts(relation.sorts, Scope(columns, outer))
    return Columns(r.document.new("Sort", sorts, True, plan), columns)


def _fetch(r: RelationBuilder, relation: Fetch, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    if relation.offset:
        plan = r.document.new("Offset", _count(r, relation.offset), plan)
    if relation.count not in (None, ALL_ROWS):
        count = _count(r, relation.count)
        plan = r.document.new("GlobalLimit", count, r.document.new("LocalLimit", count, plan))
    return Columns(plan, columns)


def _count(r: RelationBuilder, rows: int) -> Node:
    if not 0 <= rows < 2**31:
        raise Unsupported("Spark counts the rows that it takes or leaves out in 32 bits, from 0")
    return r.document.literal(rows, types.I32)


def _expand(r: RelationBuilder, relation: Expand, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    scope = Scope(columns, outer)
    projections = [
        [*r.expressions.build_all(projection, scope), r.document.literal(n, types.I32)]
        for n, projection in enumerate(relation.projections)
    ]
    width = len(relation.projections[0])
    kinds = [types.nullable(relation.projections[0][n].type) for n in range(width)]
    attributes = [r.document.attribute(f"c{n}", kind, True) for n, kind in enumerate(kinds)]
    attributes.append(r.document.attribute(f"c{width}", types.I32, False))
    return Columns(r.document.new("Expand", projections, attributes, plan), attributes)


def _generate(r: RelationBuilder, relation: Generate, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    if _explodes_variant(relation):
        return _variant_parts(r, relation, Columns(plan, columns), outer)
    if (calls := _fields_of_json(relation)) is not None:
        return _json_fields(r, calls, Columns(plan, columns), outer)
    document, element = r.document, relation.rows.type.parameters[0]
    rows = r.expressions.build(relation.rows, Scope(columns, outer))
    generated = [document.attribute("element", types.nullable(element), True)]
    if relation.with_position:
        generated.insert(0, document.attribute("position", types.nullable(types.I32), True))
    generator = document.new("PosExplode" if relation.with_position else "Explode", rows)
    made = document.new("Generate", generator, [], relation.outer, None, generated, plan)
    *position, value = generated
    parts = [value]
    if not relation.whole:
        parts = [document.new("GetStructField", value, n, None) for n in range(len(element.parameters))]
    return Columns(made, [*columns, *position, *parts])


def _explodes_variant(relation: Generate) -> bool:
    """Whether rows are made of a variant's parts, which Spark has as rows, and not as a list."""
    rows = relation.rows
    parts = isinstance(rows, ScalarFunction) and rows.declaration.name == "variant_explode"
    return parts and not (relation.whole or relation.with_position)


def _variant_parts(r: RelationBuilder, relation: Generate, input: Columns, outer: Scope | None) -> Columns:
    (variant,) = r.expressions.build_all(relation.rows.children(), Scope(input.columns, outer))
    parts = [types.nullable(part) for part in relation.rows.type.parameters[0].parameters]
    generated = [r.document.attribute(f"c{n}", part, True) for n, part in enumerate(parts)]
    generator = r.document.new("VariantExplode", variant)
    made = r.document.new("Generate", generator, [], relation.outer, None, generated, input.plan)
    return Columns(made, [*input.columns, *generated])


def _fields_of_json(relation: Generate) -> Sequence[Expression] | None:
    """The calls where the one row of each is the fields of JSON texts, which Spark has as rows only; else None."""
    rows = relation.rows
    if relation.whole or relation.with_position or not isinstance(rows, Nested) or len(rows.parts) != 1:
        return None
    calls = rows.parts[0].children()
    of_json = [isinstance(call, ScalarFunction) and call.declaration.name == "json_tuple" for call in calls]
    return calls if calls and all(of_json) else None


def _json_fields(r: RelationBuilder, calls: Sequence[Expression], input: Columns, outer: Scope | None) -> Columns:
    """A generator of one row for each field."""
    scope, made, generated = Scope(input.columns, outer), input.plan, []
    for n, call in enumerate(calls):
        generated.append(r.document.attribute(f"c{n}", types.nullable(call.type), True))
        generator = r.document.new("JsonTuple", r.expressions.build_all(call.children(), scope))
        made = r.document.new("Generate", generator, [], False, None, generated[-1:], made)
    return Columns(made, [*input.columns, *generated])


def _sample(r: RelationBuilder, relation: Sample, outer: Scope | None) -> Columns:
    plan, columns = r.input(relation, outer)
    bounds = (float(relation.lower), float(relation.upper), relation.replacement)
    return Columns(r.document.new("Sample", *bounds, some(Part("long", relation.seed)), plan), columns)


def _no_query(r: RelationBuilder, relation: Write | Update | Merge | Ddl, outer: Scope | None) -> Columns:
    raise Unsupported("it writes, and only queries are run")


RULES: dict[type[Relation], Callable[[RelationBuilder, Any, Scope | None], Columns]] = {
    Aggregate: aggregate,
    Cross: joins.cross,
    Ddl: _no_query,
    Expand: _expand,
    Fetch: _fetch,
    Filter: _filter,
    FlatMap: rows_functions.mapped,
    FlatMapCoGroups: rows_functions.cogrouped,
    Generate: _generate,
    DeltaTable: _read,
    IcebergTable: _read,
    Join: joins.join,
    LateralJoin: joins.lateral_join,
    LocalFiles: _read,
    NamedTable: _read,
    PreviousRows: recursion.previous,
    Project: _project,
    Recursion: recursion.repeated,
    Sample: _sample,
    Set: sets.combined,
    Sort: _sort,
    Update: _no_query,
    Merge: _no_query,
    VirtualTable: _virtual_table,
    Window: _window,
    Write: _no_query,
}
