"""Output types of relation messages, derived from the messages alone; broken rules are complained of on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from google.protobuf.message import Message
from substrait.algebra_pb2 import Rel, RelCommon
from substrait.plan_pb2 import PlanRel
from substrait.type_pb2 import Type as TypeMessage

from ..algebra import extension_messages, limits, types
from ..algebra.enum_names import enum_name
from ..algebra.extension_messages import WriteBehavior
from ..algebra.relation import generated_types
from ..algebra.trampoline import Steps, done, run
from ..algebra.types import Type, field_count
from ..algebra.write import CLAUSES
from .complaints import Complaints
from .expressions import Expressions, Scope, Types
from .functions import Functions

_MARK = types.of("boolean", nullable=True)
_LEAF = Scope(())
"""Expressions that have no input."""


class Relations:
    """Derives the output types of relations; None stands for those of an extension, which nobody knows.

    Raises InvalidPlanError where the relations of a plan have too many columns: each ReferenceRel has those of a whole tree.
    """

    def __init__(self, functions: Functions, complain: Complaints) -> None:
        self.expressions = Expressions(functions, complain, self)
        self._complain = complain
        self._at = complain.at
        self._roots: list[Types | None] = []
        self._derived: dict[int, tuple[Message, Types | None]] = {}
        self._columns = limits.Columns()
        self._details: dict[int, tuple[Message, Any]] = {}

    def derived(self, rel: Message) -> Types | None:
        """The types that were derived for a relation: by identity, which a message keeps while it is held."""
        return self._derived.get(id(rel), (rel, None))[1]

    def detail(self, detail: Any) -> Any:
        """The message that an extension relation of ours tells itself by, else None; the same one each time."""
        if id(detail) not in self._details:
            self._details[id(detail)] = (detail, extension_messages.unpacked(detail))
        return self._details[id(detail)][1]

    def read_root(self, entry: PlanRel) -> Types | None:
        """The output types of the plan's next relation; ReferenceRels refer to those before them by number."""
        rel = entry.root.input if entry.WhichOneof("rel_type") == "root" else entry.rel
        self.expressions.detached = entry.detached_expressions
        columns = run(self.types(rel, None))
        self._roots.append(columns)
        return columns

    def types(self, rel: Rel, outer: Scope | None) -> Steps[Types | None]:
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
            columns: Types | None = yield rule(message, outer)
            columns = self._emitted(message.common, columns) if hasattr(message, "common") else columns
            self._columns.take(sum(1 if type is None else type.size for type in columns or ()))
            self._derived[id(rel)] = (rel, columns)
            return columns

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

    def _input(self, message: Any, outer: Scope | None, field: str = "input") -> Steps[Types | None]:
        if not message.HasField(field):
            self._complain(f"there is no {field}")
            return None
        with self._at(field):
            return (yield self.types(getattr(message, field), outer))

    def _bound(self, message: Any, columns: Types | None, outer: Scope | None) -> Scope:
        """The scope of a relation's own expressions; a relation with an anchor lends its rows to those inside."""
        if message.common.rel_anchor:
            self.expressions.bound_rows[message.common.rel_anchor] = columns
        return Scope(columns, outer)

    # ---- leaves

    def _read(self, read: Any, outer: Scope | None) -> Steps[Types | None]:
        schema = read.base_schema
        columns = self.expressions.read_struct(schema.struct)
        known = [column for column in columns if column is not None]
        expected = len(columns) + sum(map(field_count, known))
        if len(known) == len(columns) and len(schema.names) != expected:
            self._complain(f"{len(schema.names)} names for a schema of {expected} fields, counted depth-first")
        if schema.struct.nullability != TypeMessage.NULLABILITY_REQUIRED:
            self._complain("the schema's struct is not required")
        scope = self._bound(read, columns, outer)
        for name in ("filter", "best_effort_filter"):
            if read.HasField(name):
                yield self.expressions.condition(getattr(read, name), scope, name)
        yield self._check_source(read, columns)
        return self._masked(read.projection.select, columns) if read.HasField("projection") else columns

    def _check_source(self, read: Any, columns: Types) -> Steps[None]:
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
                self._check_row((yield self.expressions.types(row.fields, _LEAF, f"rows[{index}]")), columns, index)

    def _check_row(self, row: Types, columns: Types, index: int) -> None:
        if len(row) != len(columns):
            self._complain(f"row {index} has {len(row)} values for {len(columns)} columns")
        for value, column in zip(row, columns, strict=False):
            if value is not None and column is not None and not _fits(value, column):
                self._complain(f"row {index} has a {value} in a column of {column}")

    def _masked(self, select: Any, columns: Types) -> Types:
        """The columns that a projection mask keeps."""
        kept: list[Type | None] = []
        for item in select.struct_items:
            if not 0 <= item.field < len(columns):
                self._complain(f"the projection refers to column {item.field} of {len(columns)}")
                kept.append(None)
                continue
            column = columns[item.field]
            if column is not None and item.child.HasField("struct") and column.kind == "struct":
                inner = self._masked(item.child.struct, column.parameters)
                column = None if None in inner else types.of("struct", *inner, nullable=column.nullable)
            kept.append(column)
        return tuple(kept)

    def _reference(self, reference: Any, outer: Scope | None) -> Steps[Types | None]:
        ordinal: int = reference.subtree_ordinal
        if not 0 <= ordinal < len(self._roots):
            self._complain(f"a reference to the plan's relation {ordinal}, which isn't before it")
            return done(None)
        return done(self._roots[ordinal])

    # ---- one input

    def _filter(self, filter: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(filter, outer)
        yield self.expressions.condition(filter.condition, self._bound(filter, columns, outer), "condition")
        return columns

    def _project(self, project: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(project, outer)
        scope = self._bound(project, columns, outer)
        computed = yield self.expressions.types(project.expressions, scope, "expressions")
        return None if columns is None else columns + computed

    def _sort(self, sort: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(sort, outer)
        if not sort.sorts:
            self._complain("a sort by nothing")
        yield self.expressions.sorts(sort.sorts, self._bound(sort, columns, outer))
        return columns

    def _fetch(self, fetch: Any, outer: Scope | None) -> Steps[Types | None]:
        yield self._check_counts(fetch, ("offset_expr", "count_expr"))
        return (yield self._input(fetch, outer))

    def _top_n(self, top: Any, outer: Scope | None) -> Steps[Types | None]:
        yield self._check_counts(top, ("offset", "count"))
        return (yield self._sort(top, outer))

    def _check_counts(self, message: Any, fields: Iterable[str]) -> Steps[None]:
        for field in fields:
            if message.HasField(field):
                with self._at(field):
                    type = yield self.expressions.type(getattr(message, field), _LEAF)
                if type is not None and type.kind not in types.INTEGERS:
                    self._complain(f"the {field} is {type}")

    def _aggregate(self, aggregate: Any, outer: Scope | None) -> Steps[Types | None]:
        scope = self._bound(aggregate, (yield self._input(aggregate, outer)), outer)
        keys = yield self.expressions.types(aggregate.grouping_expressions, scope, "grouping_expressions")
        sets = [list(grouping.expression_references) for grouping in aggregate.groupings] or [[]]
        self._check_sets(sets, len(keys))
        columns = [
            key if key is None or all(index in chosen for chosen in sets) else types.nullable(key)
            for index, key in enumerate(keys)
        ]
        for index, measure in enumerate(aggregate.measures):
            with self._at(f"measures[{index}]"):
                columns.append((yield self.expressions.aggregate_call(measure.measure, scope)))
                if measure.HasField("filter"):
                    yield self.expressions.condition(measure.filter, scope, "filter")
        if not aggregate.groupings and not aggregate.measures:
            self._complain("an aggregate of nothing")
        return (*columns, types.I32) if len(sets) > 1 else tuple(columns)

    def _check_sets(self, sets: Sequence[Sequence[int]], keys: int) -> None:
        used = {reference for chosen in sets for reference in chosen}
        for reference in sorted(used):
            if reference >= keys:
                self._complain(f"a grouping set refers to key {reference} of {keys}")
        for key in sorted(set(range(keys)) - used):
            self._complain(f"the key {key} is in no grouping set")

    def _expand(self, expand: Any, outer: Scope | None) -> Steps[Types | None]:
        """The columns of the fields, then those of the input beyond as many, and the number of the duplicate."""
        columns = yield self._input(expand, outer)
        scope = self._bound(expand, columns, outer)
        fields: list[Type | None] = []
        counts = set()
        for index, field in enumerate(expand.fields):
            with self._at(f"fields[{index}]"):
                if field.WhichOneof("field_type") == "consistent_field":
                    fields.append((yield self.expressions.type(field.consistent_field, scope)))
                    continue
                duplicates = yield self.expressions.types(field.switching_field.duplicates, scope, "duplicates")
                counts.add(len(duplicates))
                fields.append(self._merged(duplicates, "the duplicates of a field"))
        if len(counts) > 1:
            self._complain(f"switching fields of {', '.join(map(str, sorted(counts)))} duplicates")
        return None if columns is None else (*fields, *columns[len(fields) :], types.I32)

    def _window(self, window: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(window, outer)
        scope = self._bound(window, columns, outer)
        yield self.expressions.types(window.partition_expressions, scope, "partition_expressions")
        yield self.expressions.sorts(window.sorts, scope)
        results = []
        for index, call in enumerate(window.window_functions):
            with self._at(f"window_functions[{index}]"):
                results.append((yield self.expressions.window_call(call, scope)))
        return None if columns is None else (*columns, *results)

    def _extension_single(self, extension: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(extension, outer)
        self._check_detail(extension)
        return (yield self._extension(extension, columns, outer))

    def _extension(self, extension: Any, columns: Types | None, outer: Scope | None) -> Steps[Types | None]:
        """The columns of a relation of ours by the message in its detail; of one without a rule, those of its input."""
        detail = self.detail(extension.detail)
        if detail is None:
            return None
        rule = _EXTENSIONS.get(detail.DESCRIPTOR.name)
        return columns if rule is None else (yield rule(self, extension, detail, columns, outer))

    def _flat_map(self, extension: Any, detail: Any, columns: Types | None, outer: Scope | None) -> Steps[Types | None]:
        keys = [*detail.keys, *getattr(detail, "other_keys", ())]
        return self._rows_of_call(detail, keys, self._bound(extension, columns, outer))

    def _rows_of_call(self, detail: Any, keys: Sequence[Any], scope: Scope) -> Steps[Types | None]:
        with self._at("call"):
            rows = yield self.expressions.aggregate_call(detail.call, scope)
        yield self.expressions.types(keys, scope, "keys")
        if rows is None:
            return None
        if rows.kind != "list" or rows.parameters[0].kind != "struct":
            self._complain(f"a function over rows gives {rows}, and no list of structs")
            return None
        columns: Types = rows.parameters[0].parameters
        return columns

    def _recursion(
        self, extension: Any, detail: Any, columns: Types | None, outer: Scope | None
    ) -> Steps[Types | None]:
        if columns is None:
            return done(None)
        half = len(columns) // 2
        if len(columns) % 2:
            self._complain("the anchor and the step of a recursion have different columns")
            return done(None)
        pairs = zip(columns[:half], columns[half:], strict=True)
        return done(tuple(self._merged(pair, "the anchor and the step of a recursion") for pair in pairs))

    def _generate(self, extension: Any, detail: Any, columns: Types | None, outer: Scope | None) -> Steps[Types | None]:
        scope = self._bound(extension, columns, outer)
        with self._at("rows"):
            rows = yield self.expressions.type(detail.rows, scope)
        if rows is None or columns is None:
            return None
        element = rows.parameters[0] if rows.kind == "list" else None
        if element is None or (element.kind != "struct" and not detail.whole_elements):
            self._complain(
                f"the rows to generate are {rows}, and no list{'' if detail.whole_elements else ' of structs'}"
            )
            return None
        return (*columns, *generated_types(element, detail.outer, detail.whole_elements, detail.with_position))

    def _merge(self, extension: Any, merge: Any, columns: Types | None, outer: Scope | None) -> Steps[Types | None]:
        scope = Scope(_both(self._table_schema(merge), columns), outer)
        yield self.expressions.condition(merge.condition, scope, "condition")
        for group in CLAUSES:
            for index, clause in enumerate(getattr(merge, group)):
                with self._at(f"{group}[{index}]"):
                    if clause.HasField("condition"):
                        yield self.expressions.condition(clause.condition, scope, "condition")
                    yield self._transformations(clause, scope)
        return ()

    def _transformations(self, message: Any, scope: Scope) -> Steps[None]:
        for index, change in enumerate(message.transformations):
            with self._at(f"transformations[{index}]"):
                yield self.expressions.type(change.transformation, scope)

    def _extension_leaf(self, extension: Any, outer: Scope | None) -> Steps[Types | None]:
        self._check_detail(extension)
        return done(None)

    def _check_detail(self, extension: Any) -> None:
        if not extension.detail.type_url:
            self._complain("an extension relation has no detail")

    # ---- what has no columns

    def _write(self, write: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(write, outer)
        self._check_target(write, ("named_table",))
        if enum_name(write, "op") == "UNSPECIFIED":
            self._complain("the write doesn't say what it does")
        if enum_name(write, "op") == "CTAS" and enum_name(write, "create_mode") == "UNSPECIFIED":
            self._complain("the write doesn't say what becomes of a table that exists")
        schema = self._table_schema(write)
        if write.WhichOneof("write_type") == "named_table":
            yield self._replaced_rows(write.named_table.advanced_extension, schema, outer)
        if columns is not None and schema is not None and not _alike(columns, schema):
            self._complain("the columns to write are not those of the table's schema")
        return columns if enum_name(write, "output") == "MODIFIED_RECORDS" else ()

    def _replaced_rows(self, extension: Any, schema: Types | None, outer: Scope | None) -> Steps[None]:
        """Check the condition of ours that says which rows of a table are replaced."""
        behavior = extension_messages.unpacked_with_expressions(extension.enhancement)
        if isinstance(behavior, WriteBehavior) and behavior.HasField("replace_where"):
            yield self.expressions.condition(behavior.replace_where, Scope(schema or (), outer), "replace_where")

    def _ddl(self, ddl: Any, outer: Scope | None) -> Steps[Types | None]:
        self._check_target(ddl, ("named_object",))
        for field in ("object", "op"):
            if enum_name(ddl, field) == "UNSPECIFIED":
                self._complain(f"the definition doesn't say its {field}")
        schema = self._table_schema(ddl)
        if ddl.HasField("table_defaults"):
            defaults = tuple([self.expressions.read_literal(each) for each in ddl.table_defaults.fields])
            if not _alike(defaults, schema or ()):
                self._complain("the default values are not those of the table's columns")
        if ddl.HasField("view_definition"):
            columns = yield self._input(ddl, outer, "view_definition")
            if columns is not None and schema is not None and not _alike(columns, schema):
                self._complain("the columns of the view are not those of its schema")
        return ()

    def _update(self, update: Any, outer: Scope | None) -> Steps[Types | None]:
        scope = Scope(self.expressions.read_struct(update.table_schema.struct), outer)
        if update.HasField("condition"):
            yield self.expressions.condition(update.condition, scope, "condition")
        yield self._transformations(update, scope)
        return ()

    def _check_target(self, message: Any, named: Iterable[str]) -> None:
        kind = message.WhichOneof("write_type")
        if kind is None:
            self._complain("it is of nothing")
        elif kind in named and not getattr(message, kind).names:
            self._complain("the table has no name")

    def _table_schema(self, message: Any) -> Types | None:
        if not message.HasField("table_schema"):
            return None
        schema = message.table_schema
        columns = self.expressions.read_struct(schema.struct)
        known = [column for column in columns if column is not None]
        expected = len(columns) + sum(map(field_count, known))
        if len(known) == len(columns) and len(schema.names) != expected:
            self._complain(f"{len(schema.names)} names for a schema of {expected} fields, counted depth-first")
        return columns

    # ---- several inputs

    def _extension_multi(self, extension: Any, outer: Scope | None) -> Steps[Types | None]:
        inputs = yield self._each_input(extension, outer)
        self._check_detail(extension)
        return None if len(inputs) != 2 else (yield self._extension(extension, _both(*inputs), outer))

    def _join(self, join: Any, outer: Scope | None) -> Steps[Types | None]:
        left = yield self._input(join, outer, "left")
        right = yield self._input(join, outer, "right")
        yield self._join_condition(join, _both(left, right), outer)
        return (yield self._joined(join, left, right, outer))

    def _lateral_join(self, join: Any, outer: Scope | None) -> Steps[Types | None]:
        left = yield self._input(join, outer, "left")
        self._bound(join, left, outer)
        right = yield self._input(join, outer, "right")
        yield self._join_condition(join, _both(left, right), outer)
        return (yield self._joined(join, left, right, outer))

    def _hash_join(self, join: Any, outer: Scope | None) -> Steps[Types | None]:
        left = yield self._input(join, outer, "left")
        right = yield self._input(join, outer, "right")
        for index, key in enumerate(join.keys):
            with self._at(f"keys[{index}]"):
                self.expressions.reference(key.left, Scope(left, outer))
                self.expressions.reference(key.right, Scope(right, outer))
        if not join.keys:
            self._complain("a join has no keys")
        if join.HasField("residual_expression"):
            yield self.expressions.condition(join.residual_expression, Scope(_both(left, right), outer), "residual")
        return (yield self._joined(join, left, right, outer))

    _merge_join = _hash_join

    def _nested_loop_join(self, join: Any, outer: Scope | None) -> Steps[Types | None]:
        left = yield self._input(join, outer, "left")
        right = yield self._input(join, outer, "right")
        yield self._join_condition(join, _both(left, right), outer)
        return (yield self._joined(join, left, right, outer))

    def _join_condition(self, join: Any, both: Types | None, outer: Scope | None) -> Steps[None]:
        if not join.HasField("expression"):
            self._complain("a join has no condition")
        else:
            yield self.expressions.condition(join.expression, Scope(both, outer), "condition")

    def _joined(self, join: Any, left: Types | None, right: Types | None, outer: Scope | None) -> Steps[Types | None]:
        if not join.type:
            self._complain("a join doesn't state its type")
        joined = _join_types(enum_name(join, "type"), left, right)
        filtered = "post_join_filter" in join.DESCRIPTOR.fields_by_name and join.HasField("post_join_filter")
        if filtered:
            yield self.expressions.condition(join.post_join_filter, Scope(joined, outer), "post_join_filter")
        return joined

    def _cross(self, cross: Any, outer: Scope | None) -> Steps[Types | None]:
        left = yield self._input(cross, outer, "left")
        right = yield self._input(cross, outer, "right")
        return _both(left, right)

    def _each_input(self, message: Any, outer: Scope | None) -> Steps[list[Types | None]]:
        columns: list[Types | None] = []
        for index, rel in enumerate(message.inputs):
            with self._at(f"inputs[{index}]"):
                columns.append((yield self.types(rel, outer)))
        return columns

    def _set(self, message: Any, outer: Scope | None) -> Steps[Types | None]:
        inputs = yield self._each_input(message, outer)
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
        operation = enum_name(message, "op")
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

    # ---- exchanges and writes

    def _exchange(self, exchange: Any, outer: Scope | None) -> Steps[Types | None]:
        columns = yield self._input(exchange, outer)
        scope = self._bound(exchange, columns, outer)
        for index, field in enumerate(exchange.scatter_by_fields.fields):
            with self._at(f"fields[{index}]"):
                self.expressions.reference(field, scope)
        kind = exchange.WhichOneof("exchange_kind")
        if kind in ("single_target", "multi_target"):
            with self._at(kind):
                yield self.expressions.type(getattr(exchange, kind).expression, scope)
        return columns


_EXTENSIONS: dict[str, Callable[[Relations, Any, Any, Types | None, Scope | None], Steps[Types | None]]] = {
    "FlatMap": Relations._flat_map,
    "FlatMapCoGroups": Relations._flat_map,
    "Generate": Relations._generate,
    "Merge": Relations._merge,
    "Recursion": Relations._recursion,
}
"""Extension relations whose columns aren't those of their input, by the names of their messages."""


def _both(left: Types | None, right: Types | None) -> Types | None:
    return None if left is None or right is None else left + right


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


def _alike(columns: Types, schema: Types) -> bool:
    """Whether columns are those of a schema: a table's may be null where what is written never is."""
    return len(columns) == len(schema) and all(
        None in (column, stated) or types.equal_but_nullability(column, stated)  # type: ignore[arg-type]
        for column, stated in zip(columns, schema, strict=True)
    )
