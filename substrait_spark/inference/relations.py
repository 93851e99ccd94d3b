"""Output types of relation messages, derived from the messages alone; broken rules are complained of on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from substrait.algebra_pb2 import JoinRel, Rel, RelCommon, SetRel
from substrait.type_pb2 import Type as TypeMessage

from ..algebra import types
from ..algebra.extension_messages import Generate, Sample
from ..algebra.types import Type
from .complaints import Complaints
from .expressions import Expressions, Scope, Types
from .functions import Functions
from .type_messages import name_count, struct_types

_MARK = types.of("boolean", nullable=True)
_LEAF = Scope(())
"""Expressions that have no input."""


class Relations:
    """Derives the output types of relations; None stands for those of an extension, which nobody knows."""

    def __init__(self, functions: Functions, complain: Complaints) -> None:
        self._expressions = Expressions(functions, complain, self)
        self._complain = complain
        self._at = complain.at
        self._roots: list[Types | None] = []

    def read_root(self, rel: Rel) -> Types | None:
        """The output types of the plan's next relation; ReferenceRels refer to those before them by number."""
        found = self.types(rel, None)
        self._roots.append(found)
        return found

    def types(self, rel: Rel, outer: Scope | None) -> Types | None:
        """The output types of a relation, after its emit; `outer` is the query around it."""
        kind = rel.WhichOneof("rel_type")
        if kind is None:
            self._complain("a relation is empty")
            return None
        rule = getattr(self, f"_{kind}", None)
        with self._at(kind):
            if rule is None:
                self._complain("there is no rule for this relation")
                return None
            message = getattr(rel, kind)
            direct: Types | None = rule(message, outer)
            return self._emitted(message.common, direct) if hasattr(message, "common") else direct

    def _emitted(self, common: RelCommon, direct: Types | None) -> Types | None:
        if common.WhichOneof("emit_kind") != "emit":
            return direct
        mapping = common.emit.output_mapping
        if direct is None:
            return (None,) * len(mapping)
        beyond = [ordinal for ordinal in mapping if not 0 <= ordinal < len(direct)]
        if beyond:
            self._complain(f"emit refers to column {beyond[0]} of {len(direct)}")
        return tuple(direct[ordinal] if 0 <= ordinal < len(direct) else None for ordinal in mapping)

    def _input(self, message: Any, outer: Scope | None, field: str = "input") -> Types | None:
        if not message.HasField(field):
            self._complain(f"there is no {field}")
            return None
        with self._at(field):
            return self.types(getattr(message, field), outer)

    def _bound(self, message: Any, columns: Types | None, outer: Scope | None) -> Scope:
        """The scope of a relation's own expressions; a relation with an anchor lends its rows to those inside."""
        if message.common.rel_anchor:
            self._expressions.bound_rows[message.common.rel_anchor] = columns
        return Scope(columns, outer)

    # ---- leaves

    def _read(self, read: Any, outer: Scope | None) -> Types | None:
        schema = read.base_schema
        columns = struct_types(schema.struct, self._complain)
        known = [column for column in columns if column is not None]
        expected = len(columns) + sum(map(name_count, known))
        if len(known) == len(columns) and len(schema.names) != expected:
            self._complain(f"{len(schema.names)} names for a schema of {expected} fields, counted depth-first")
        if schema.struct.nullability != TypeMessage.NULLABILITY_REQUIRED:
            self._complain("the schema's struct is not required")
        scope = self._bound(read, columns, outer)
        for name in ("filter", "best_effort_filter"):
            if read.HasField(name):
                self._expressions.condition(getattr(read, name), scope, name)
        self._check_source(read, columns)
        return self._masked(read.projection.select, columns) if read.HasField("projection") else columns

    def _check_source(self, read: Any, columns: Types) -> None:
        kind = read.WhichOneof("read_type")
        if kind is None:
            self._complain("the read has no source")
        if kind == "named_table" and not read.named_table.names:
            self._complain("the named table has no name")
        if kind == "local_files":
            for item in read.local_files.items:
                if item.WhichOneof("path_type") is None or item.WhichOneof("file_format") is None:
                    self._complain("a file has no path or no format")
        if kind == "virtual_table":
            for index, row in enumerate(read.virtual_table.expressions):
                self._check_row(self._expressions.types(row.fields, _LEAF, f"rows[{index}]"), columns, index)

    def _check_row(self, row: Types, columns: Types, index: int) -> None:
        if len(row) != len(columns):
            self._complain(f"row {index} has {len(row)} values for {len(columns)} columns")
        for value, column in zip(row, columns, strict=False):
            if value is not None and column is not None and not _fits(value, column):
                self._complain(f"row {index} has a {value} in a column of {column}")

    def _masked(self, select: Any, columns: Types) -> Types:
        """The columns that a projection mask keeps."""
        found: list[Type | None] = []
        for item in select.struct_items:
            if not 0 <= item.field < len(columns):
                self._complain(f"the projection refers to column {item.field} of {len(columns)}")
                found.append(None)
                continue
            column = columns[item.field]
            if column is not None and item.child.HasField("struct") and column.kind == "struct":
                inner = self._masked(item.child.struct, column.parameters)
                column = None if None in inner else types.of("struct", *inner, nullable=column.nullable)
            found.append(column)
        return tuple(found)

    def _reference(self, reference: Any, outer: Scope | None) -> Types | None:
        ordinal: int = reference.subtree_ordinal
        if not 0 <= ordinal < len(self._roots):
            self._complain(f"a reference to the plan's relation {ordinal}, which isn't before it")
            return None
        return self._roots[ordinal]

    # ---- one input

    def _filter(self, filter: Any, outer: Scope | None) -> Types | None:
        columns = self._input(filter, outer)
        self._expressions.condition(filter.condition, self._bound(filter, columns, outer), "condition")
        return columns

    def _project(self, project: Any, outer: Scope | None) -> Types | None:
        columns = self._input(project, outer)
        scope = self._bound(project, columns, outer)
        computed = self._expressions.types(project.expressions, scope, "expressions")
        return None if columns is None else columns + computed

    def _sort(self, sort: Any, outer: Scope | None) -> Types | None:
        columns = self._input(sort, outer)
        if not sort.sorts:
            self._complain("a sort by nothing")
        self._expressions.sorts(sort.sorts, self._bound(sort, columns, outer))
        return columns

    def _fetch(self, fetch: Any, outer: Scope | None) -> Types | None:
        self._check_counts(fetch, ("offset_expr", "count_expr"))
        return self._input(fetch, outer)

    def _top_n(self, top: Any, outer: Scope | None) -> Types | None:
        self._check_counts(top, ("offset", "count"))
        return self._sort(top, outer)

    def _check_counts(self, message: Any, fields: Iterable[str]) -> None:
        for field in fields:
            if message.HasField(field):
                with self._at(field):
                    type = self._expressions.type(getattr(message, field), _LEAF)
                if type is not None and type.kind not in types.INTEGERS:
                    self._complain(f"the {field} is {type}")

    def _aggregate(self, aggregate: Any, outer: Scope | None) -> Types | None:
        scope = self._bound(aggregate, self._input(aggregate, outer), outer)
        keys = self._expressions.types(aggregate.grouping_expressions, scope, "grouping_expressions")
        sets = [list(grouping.expression_references) for grouping in aggregate.groupings] or [[]]
        self._check_sets(sets, len(keys))
        found = [
            key if key is None or all(index in chosen for chosen in sets) else types.nullable(key)
            for index, key in enumerate(keys)
        ]
        for index, measure in enumerate(aggregate.measures):
            with self._at(f"measures[{index}]"):
                found.append(self._expressions.aggregate_call(measure.measure, scope))
                if measure.HasField("filter"):
                    self._expressions.condition(measure.filter, scope, "filter")
        if not aggregate.groupings and not aggregate.measures:
            self._complain("an aggregate of nothing")
        return (*found, types.I32) if len(sets) > 1 else tuple(found)

    def _check_sets(self, sets: Sequence[Sequence[int]], keys: int) -> None:
        used = {reference for chosen in sets for reference in chosen}
        for reference in sorted(used):
            if reference >= keys:
                self._complain(f"a grouping set refers to key {reference} of {keys}")
        for key in sorted(set(range(keys)) - used):
            self._complain(f"the key {key} is in no grouping set")

    def _expand(self, expand: Any, outer: Scope | None) -> Types | None:
        scope = self._bound(expand, self._input(expand, outer), outer)
        found: list[Type | None] = []
        counts = set()
        for index, field in enumerate(expand.fields):
            with self._at(f"fields[{index}]"):
                if field.WhichOneof("field_type") == "consistent_field":
                    found.append(self._expressions.type(field.consistent_field, scope))
                    continue
                duplicates = self._expressions.types(field.switching_field.duplicates, scope, "duplicates")
                counts.add(len(duplicates))
                found.append(self._merged(duplicates, "the duplicates of a field"))
        if len(counts) > 1:
            self._complain(f"switching fields of {', '.join(map(str, sorted(counts)))} duplicates")
        return (*found, types.I32)

    def _window(self, window: Any, outer: Scope | None) -> Types | None:
        columns = self._input(window, outer)
        scope = self._bound(window, columns, outer)
        self._expressions.types(window.partition_expressions, scope, "partition_expressions")
        self._expressions.sorts(window.sorts, scope)
        found = []
        for index, call in enumerate(window.window_functions):
            with self._at(f"window_functions[{index}]"):
                found.append(self._expressions.window_call(call, scope))
        return None if columns is None else (*columns, *found)

    def _extension_single(self, extension: Any, outer: Scope | None) -> Types | None:
        columns = self._input(extension, outer)
        self._check_detail(extension)
        if extension.detail.Is(Sample.DESCRIPTOR):
            return columns
        if extension.detail.Is(Generate.DESCRIPTOR):
            detail = Generate.FromString(extension.detail.value)
            return self._generate(detail, columns, self._bound(extension, columns, outer))
        return None

    def _generate(self, detail: Any, columns: Types | None, scope: Scope) -> Types | None:
        with self._at("rows"):
            rows = self._expressions.type(detail.rows, scope)
        if rows is None or columns is None:
            return None
        if rows.kind != "list" or rows.parameters[0].kind != "struct":
            self._complain(f"the rows to generate are {rows}, and no list of structs")
            return None
        struct = rows.parameters[0]
        maybe_null = detail.outer or struct.nullable
        return (*columns, *[types.nullable(field) if maybe_null else field for field in struct.parameters])

    def _extension_leaf(self, extension: Any, outer: Scope | None) -> None:
        self._check_detail(extension)

    def _check_detail(self, extension: Any) -> None:
        if not extension.detail.type_url:
            self._complain("an extension relation has no detail")

    # ---- several inputs

    def _join(self, join: Any, outer: Scope | None) -> Types | None:
        left = self._input(join, outer, "left")
        return self._joined(join, left, self._input(join, outer, "right"), outer)

    def _lateral_join(self, join: Any, outer: Scope | None) -> Types | None:
        left = self._input(join, outer, "left")
        self._bound(join, left, outer)
        return self._joined(join, left, self._input(join, outer, "right"), outer)

    def _joined(self, join: Any, left: Types | None, right: Types | None, outer: Scope | None) -> Types | None:
        both = None if left is None or right is None else left + right
        if not join.HasField("expression"):
            self._complain("a join has no condition")
        else:
            self._expressions.condition(join.expression, Scope(both, outer), "condition")
        if not join.type:
            self._complain("a join doesn't state its type")
        joined = _join_types(JoinRel.JoinType.Name(join.type).removeprefix("JOIN_TYPE_"), left, right)
        if join.HasField("post_join_filter"):
            self._expressions.condition(join.post_join_filter, Scope(joined, outer), "post_join_filter")
        return joined

    def _cross(self, cross: Any, outer: Scope | None) -> Types | None:
        left = self._input(cross, outer, "left")
        right = self._input(cross, outer, "right")
        return None if left is None or right is None else left + right

    def _set(self, message: Any, outer: Scope | None) -> Types | None:
        inputs = []
        for index, rel in enumerate(message.inputs):
            with self._at(f"inputs[{index}]"):
                inputs.append(self.types(rel, outer))
        if len(inputs) < 2:
            self._complain(f"a set operation over {len(inputs)} inputs")
        if not message.op:
            self._complain("a set operation doesn't state which")
        known = [columns for columns in inputs if columns is not None]
        if not known or len(known) < len(inputs):
            return None
        if len({len(columns) for columns in known}) > 1:
            self._complain(f"inputs of {', '.join(str(len(columns)) for columns in known)} columns")
            return None
        operation = SetRel.SetOp.Name(message.op).removeprefix("SET_OP_")
        return tuple(self._set_column(operation, column) for column in zip(*known, strict=True))

    def _set_column(self, operation: str, column: Sequence[Type | None]) -> Type | None:
        merged = self._merged(column, "the inputs of a set operation")
        first = column[0]
        if merged is None or first is None or operation.startswith("UNION"):
            return merged
        nullables = [type.nullable for type in column if type is not None]
        if operation.startswith("MINUS"):
            return first
        if operation == "INTERSECTION_PRIMARY":
            return types.with_nullable(first, nullables[0] and any(nullables[1:]))
        return types.with_nullable(first, all(nullables))

    def _merged(self, column: Sequence[Type | None], what: str) -> Type | None:
        """The one type, nullability aside, that all have; nullable wherever one is."""
        merged = column[0] if column else None
        for other in column[1:]:
            if merged is None or other is None:
                return None
            if not types.equal_but_nullability(merged, other):
                self._complain(f"{what} have the types {merged} and {other}")
                return None
            merged = types.least_nullable_common(merged, other)
        return merged


def _fits(value: Type, column: Type) -> bool:
    """Whether a value of one type can stand in a column of another: the same, or nullable in fewer places."""
    if not types.equal_but_nullability(value, column):
        return False
    return types.least_nullable_common(value, column) == column


def _join_types(join_type: str, left: Types | None, right: Types | None) -> Types | None:
    """The columns of a join (https://substrait.io/relations/logical_relations/#join-types)."""
    side, _, form = join_type.partition("_")
    if form in ("SEMI", "ANTI"):
        return left if side == "LEFT" else right
    if form == "MARK":
        kept = left if side == "LEFT" else right
        return None if kept is None else (*kept, _MARK)
    if left is None or right is None:
        return None
    if join_type == "OUTER" or side == "RIGHT":
        left = _all_nullable(left)
    if join_type == "OUTER" or side == "LEFT":
        right = _all_nullable(right)
    return left + right


def _all_nullable(columns: Types) -> Types:
    return tuple(None if column is None else types.nullable(column) for column in columns)
