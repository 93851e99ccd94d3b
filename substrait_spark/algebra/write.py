"""Relations that change what there is: WriteRel, UpdateRel, a MERGE of ours and DdlRel (https://substrait.io/relations/logical_relations/#write-operator).

They have no columns: a plan of one names none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from substrait.algebra_pb2 import DdlRel, WriteRel
from substrait.algebra_pb2 import Rel as Message

from . import types
from .expression import Anchors, Expression, Literal, write_literal
from .extension_messages import URL, TableStorage, WriteBehavior
from .extension_messages import Merge as MergeMessage
from .relation import ExtensionSingle, NamedTable, Relation
from .traversal import is_true
from .types import Type

Options = tuple[tuple[str, str], ...]


class Storage(NamedTuple):
    """How a table's rows are stored, or those of a folder: as Spark calls it, and empty where nothing is said."""

    format: str = ""
    location: str = ""
    options: Options = ()
    partition_by: tuple[str, ...] = ()
    buckets: int = 0
    bucket_by: tuple[str, ...] = ()
    sort_by: tuple[str, ...] = ()
    comment: str = ""
    column_comments: Options = ()
    """Columns and the comments that they have."""

    def message(self) -> TableStorage:
        message = TableStorage(**self._replace(options=(), column_comments=())._asdict())
        _write_options(self.options, message.options)
        _write_options(self.column_comments, message.column_comments)
        return message


class Behavior(NamedTuple):
    """What a statement does beyond what the specification's fields say."""

    overwrite: bool = False
    """Whether the rows take the place of those that are there: of all, or of those in the static partitions."""
    static_partitions: Options = ()
    dynamic_partitions: bool = False
    """Whether rows are replaced only in the partitions that the new ones are in."""
    if_not_exists: bool = False
    """Whether nothing happens where the table, the view or the partition is there already."""
    temporary: str = ""
    """Of a view, `session` or `global` where it is none of the catalog's."""
    purge: bool = False
    replace_where: Expression | None = None
    """Which rows of the table the new ones take the place of: a condition over its columns."""

    def message(self, anchors: Anchors) -> WriteBehavior:
        message = WriteBehavior(**self._replace(static_partitions=(), replace_where=None)._asdict())
        _write_options(self.static_partitions, message.static_partitions)
        if self.replace_where is not None:
            self.replace_where.write(message.replace_where, anchors)
        return message


class Target(NamedTuple):
    """What a statement is about: a table or view by its name, or what only its storage names."""

    names: tuple[str, ...]
    storage: Storage = Storage()
    behavior: Behavior = Behavior()

    def write_names(self, message: Any, anchors: Anchors) -> None:
        """Fill the message of a named object, with what is said beyond the name."""
        message.names.extend(self.names)
        if self.behavior != Behavior():
            message.advanced_extension.enhancement.Pack(self.behavior.message(anchors))
            anchors.message(f"{URL}WriteBehavior")
        if self.storage != Storage():
            message.advanced_extension.optimization.add().Pack(self.storage.message())
            anchors.message(f"{URL}TableStorage")

    def write_detail(self, relation: Any, detail: Any, anchors: Anchors) -> None:
        """Fill the detail of an object without a name, and what the relation does with it beyond the specification."""
        detail.Pack(self.storage.message())
        anchors.message(f"{URL}TableStorage")
        if self.behavior != Behavior():
            relation.advanced_extension.enhancement.Pack(self.behavior.message(anchors))
            anchors.message(f"{URL}WriteBehavior")


class Write(Relation):
    """The rows of the input, written somewhere."""

    NAME = "WRITE"
    __slots__ = ("create_mode", "names", "op", "schema", "target")
    schema: tuple[Type, ...]
    """The types of the table's columns, which may be nullable where the input's aren't."""

    def __init__(
        self,
        input: Relation,
        names: Sequence[str],
        op: str,
        create_mode: str,
        target: Target,
        schema: Sequence[Type] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.schema = tuple(input.types if schema is None else schema)
        self.op = op
        self.create_mode = create_mode
        self.target = target
        condition = target.behavior.replace_where
        self._finish((input,), (), 3 if condition is None else 4 + condition.height)

    def variant(self) -> tuple[str, str]:
        return "write_types", "NAMED_TABLE" if self.target.names else "EXTENSION_TABLE"

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        return Write(inputs[0], self.names, self.op, self.create_mode, self.target, self.schema)

    def write(self, target: Message, anchors: Anchors) -> None:
        relation = target.write
        self._write_common(relation.common)
        if self.target.names:
            self.target.write_names(relation.named_table, anchors)
        else:
            self.target.write_detail(relation, relation.extension_table.detail, anchors)
        _write_schema(self.names, self.schema, relation.table_schema)
        relation.op = WriteRel.WriteOp.Value(f"WRITE_OP_{self.op}")
        if self.create_mode:
            relation.create_mode = WriteRel.CreateMode.Value(f"CREATE_MODE_{self.create_mode}_IF_EXISTS")
        relation.output = WriteRel.OutputMode.OUTPUT_MODE_NO_OUTPUT
        self.inputs[0].write(relation.input, anchors)


class Update(Relation):
    """New values for columns of a table, in the rows for which a condition is true: all are of a row as it was before."""

    NAME = "UPDATE"
    LEVELS_ABOVE_EXPRESSIONS = 3
    __slots__ = ("condition", "names", "schema", "table", "values")

    def __init__(
        self,
        table: Sequence[str],
        names: Sequence[str],
        schema: Sequence[Type],
        condition: Expression,
        values: Mapping[int, Expression],
    ) -> None:
        self.table = tuple(table)
        self.names = tuple(names)
        self.schema = tuple(schema)
        self.condition = condition
        self.values = dict(values)
        self._finish((), (), 1 + max(each.height for each in self.expressions()))

    def rows(self) -> NamedTable:
        """The table, whose columns its expressions are over."""
        return NamedTable(self.table, self.names, self.schema)

    def expressions(self) -> tuple[Expression, ...]:
        return self.condition, *self.values.values()

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        values = dict(zip(self.values, expressions[1:], strict=True))
        return Update(self.table, self.names, self.schema, expressions[0], values)

    def write(self, target: Message, anchors: Anchors) -> None:
        relation = target.update
        self._write_common(relation.common)
        relation.named_table.names.extend(self.table)
        _write_schema(self.names, self.schema, relation.table_schema)
        self.condition.write(relation.condition, anchors)
        _write_values(self.values, relation, anchors)


class Clause(NamedTuple):
    """What becomes of rows that a condition is true for, and no clause before it: they are deleted, or columns get values."""

    condition: Expression
    deletes: bool
    values: Mapping[int, Expression]

    def expressions(self) -> tuple[Expression, ...]:
        return self.condition, *self.values.values()

    def over(self, expressions: Iterator[Expression]) -> Clause:
        """The same clause with the next expressions."""
        condition = next(expressions)
        return Clause(condition, self.deletes, {column: next(expressions) for column in self.values})

    def write(self, message: Any, anchors: Anchors) -> None:
        if not is_true(self.condition):
            self.condition.write(message.condition, anchors)
        message.delete = self.deletes
        _write_values(self.values, message, anchors)


CLAUSES = ("matched", "not_matched", "not_matched_by_source")
"""The groups of a MERGE's clauses."""


class Merge(ExtensionSingle):
    """Rows of a table deleted, updated and inserted, as they match the rows of the input.

    All expressions are over the columns of the table, and behind them those of the input. With `matches_once`, it is an error
    if several rows of the input match one of the table.
    """

    DOES = "merges rows into a table"
    OVER_INPUT = False
    __slots__ = ("clauses", "condition", "matches_once", "names", "schema", "table")

    def __init__(
        self,
        input: Relation,
        table: Sequence[str],
        names: Sequence[str],
        schema: Sequence[Type],
        condition: Expression,
        clauses: Mapping[str, Sequence[Clause]],
        matches_once: bool,
    ) -> None:
        self.table = tuple(table)
        self.names = tuple(names)
        self.schema = tuple(schema)
        self.condition = condition
        self.clauses = {group: tuple(clauses[group]) for group in CLAUSES}
        self.matches_once = matches_once
        self._finish((input,), (), 4 + max(each.height for each in self.expressions()))

    def rows(self) -> NamedTable:
        """The table, whose columns come before the input's in its expressions."""
        return NamedTable(self.table, self.names, self.schema)

    def expressions(self) -> tuple[Expression, ...]:
        inside = [each for group in self.clauses.values() for clause in group for each in clause.expressions()]
        return self.condition, *inside

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        each = iter(expressions)
        condition = next(each)
        clauses = {name: [clause.over(each) for clause in group] for name, group in self.clauses.items()}
        return Merge(inputs[0], self.table, self.names, self.schema, condition, clauses, self.matches_once)

    def detail(self, anchors: Anchors) -> Any:
        message = MergeMessage(matches_once=self.matches_once)
        message.named_table.names.extend(self.table)
        _write_schema(self.names, self.schema, message.table_schema)
        self.condition.write(message.condition, anchors)
        for name, group in self.clauses.items():
            for clause in group:
                clause.write(getattr(message, name).add(), anchors)
        return message


class Ddl(Relation):
    """A table or a view that is created, replaced, altered or dropped; a view's definition is the input.

    A table's columns are those that it will have. With `defaults` there is one for each, null where none is stated.
    """

    NAME = "DDL"
    __slots__ = ("defaults", "names", "object", "op", "schema", "target")

    def __init__(
        self,
        object: str,
        op: str,
        target: Target,
        names: Sequence[str] = (),
        schema: Sequence[Type] = (),
        definition: Relation | None = None,
        defaults: Sequence[Literal] = (),
    ) -> None:
        self.object = object
        self.defaults = tuple(defaults)
        self.op = op
        self.target = target
        self.names = tuple(names)
        self.schema = tuple(schema)
        deepest = max((default.height for default in self.defaults), default=1)
        self._finish(() if definition is None else (definition,), (), 2 + deepest)

    def variant(self) -> tuple[str, str]:
        return "write_types", "NAMED_OBJECT"

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        definition = inputs[0] if inputs else None
        return Ddl(self.object, self.op, self.target, self.names, self.schema, definition, self.defaults)

    def write(self, target: Message, anchors: Anchors) -> None:
        relation = target.ddl
        self._write_common(relation.common)
        self.target.write_names(relation.named_object, anchors)
        if self.schema:
            _write_schema(self.names, self.schema, relation.table_schema)
        for default in self.defaults:
            write_literal(default.value, default.type, relation.table_defaults.fields.add())
        relation.object = DdlRel.DdlObject.Value(f"DDL_OBJECT_{self.object}")
        relation.op = DdlRel.DdlOp.Value(f"DDL_OP_{self.op}")
        for definition in self.inputs:
            definition.write(relation.view_definition, anchors)


def _write_schema(names: Sequence[str], schema: Sequence[Type], target: Any) -> None:
    target.names.extend(names)
    types.write_struct(schema, target.struct)


def _write_values(values: Mapping[int, Expression], target: Any, anchors: Anchors) -> None:
    for column, value in values.items():
        value.write(target.transformations.add(column_target=column).transformation, anchors)


def _write_options(options: Options, target: Any) -> None:
    for name, value in options:
        target.add(name=name, value=value)
