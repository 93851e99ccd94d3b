"""Messages of relations that change what there is, as the tree's: those that statements of ours are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from substrait.algebra_pb2 import Expression as ExpressionMessage

from ..algebra.enum_names import enum_name
from ..algebra.expression import Expression, Literal
from ..algebra.extension_messages import unpacked_write
from ..algebra.types import BOOLEAN, Type, equal_but_nullability
from ..algebra.write import CLAUSES, Behavior, Clause, Ddl, Merge, Options, Storage, Target, Update, Write
from ..errors import Unsupported

if TYPE_CHECKING:
    from ..algebra.relation import Relation

IF_EXISTS = "_IF_EXISTS"


Condition = Callable[[ExpressionMessage], Expression]
"""Reads an expression over the columns of the table that is written."""


def read_write(message: Any, input: Relation, schema: Sequence[Type], condition: Condition) -> Relation:
    """A WriteRel over its input, to a table of a schema. Raises `Unsupported` for what the tree has nothing for."""
    if enum_name(message, "output") != "NO_OUTPUT":
        raise Unsupported("a write that gives rows is not read")
    kind = message.WhichOneof("write_type")
    _require_no_more(message, kind == "extension_table")
    mode = enum_name(message, "create_mode")
    create_mode = "" if mode == "UNSPECIFIED" else mode.removesuffix(IF_EXISTS)
    if kind == "named_table":
        target = _named(message.named_table, condition)
    else:
        storage = unpacked_write(message.extension_table.detail)
        if storage is None or storage.DESCRIPTOR.name != "TableStorage":
            raise Unsupported("what a write is to is not known")
        target = Target((), _storage(storage), _behavior(message.advanced_extension, condition))
    return Write(input, message.table_schema.names, enum_name(message, "op"), create_mode, target, schema)


def read_ddl(
    message: Any,
    definition: Relation | None,
    schema: Sequence[Type],
    literal: Callable[[Any], Literal],
) -> Relation:
    """A DdlRel over the definition of a view. Raises `Unsupported` for what the tree has nothing for."""
    if message.WhichOneof("write_type") != "named_object":
        raise Unsupported("a definition of an object without a name is not read")
    _require_no_more(message, False)
    target = _named(message.named_object, None)
    names = message.table_schema.names
    defaults = [literal(each) for each in message.table_defaults.fields]
    return Ddl(enum_name(message, "object"), enum_name(message, "op"), target, names, schema, definition, defaults)


def read_update(message: Any, schema: Sequence[Type], condition: Expression, values: Sequence[Expression]) -> Relation:
    """An UpdateRel with its expressions. Raises `Unsupported` for what the tree has nothing for."""
    _require_no_more(message, False)
    _require_name_alone(message)
    changes = _values(message, schema, values)
    return Update(message.named_table.names, message.table_schema.names, schema, condition, changes)


def read_merge(message: Any, input: Relation, schema: Sequence[Type], read: Condition) -> Relation:
    """The detail of a MERGE over its input. Raises `Unsupported` for what the tree has nothing for."""
    _require_name_alone(message)
    clauses = {group: [_clause(each, group, schema, read) for each in getattr(message, group)] for group in CLAUSES}
    condition = read(message.condition)
    names = message.table_schema.names
    return Merge(input, message.named_table.names, names, schema, condition, clauses, message.matches_once)


def _clause(message: Any, group: str, schema: Sequence[Type], read: Condition) -> Clause:
    values = _values(message, schema, [read(each.transformation) for each in message.transformations])
    if group == "not_matched" and (message.delete or sorted(values) != list(range(len(schema)))):
        raise Unsupported("a clause for rows that match none doesn't insert a value into each column")
    if message.delete and values:
        raise Unsupported("a clause that deletes rows has values for them")
    condition = read(message.condition) if message.HasField("condition") else Literal(True, BOOLEAN)
    return Clause(condition, message.delete, values)


def _values(message: Any, schema: Sequence[Type], values: Sequence[Expression]) -> dict[int, Expression]:
    """The values that columns get, by the columns' places."""
    targets = [change.column_target for change in message.transformations]
    if len(set(targets)) < len(targets) or any(target not in range(len(schema)) for target in targets):
        raise Unsupported("its values are not of one column each")
    for target, value in zip(targets, values, strict=True):
        if not equal_but_nullability(value.type, schema[target]):
            raise Unsupported(f"the value of the column {target} is of another type than the column")
    return dict(zip(targets, values, strict=True))


def _require_name_alone(message: Any) -> None:
    if message.named_table.HasField("advanced_extension"):
        raise Unsupported("an extension of a table whose rows change is not known")


def _require_no_more(message: Any, of_relation: bool) -> None:
    """Refuse a message that says more than our statements' messages do, at a place where these say nothing."""
    if message.common.HasField("advanced_extension") or (message.HasField("advanced_extension") and not of_relation):
        raise Unsupported("an extension of a relation that writes is not known")


def _named(message: Any, condition: Condition | None) -> Target:
    extension = message.advanced_extension
    storage = Storage()
    for each in extension.optimization:
        storage_message = unpacked_write(each)
        if storage_message is None or storage_message.DESCRIPTOR.name != "TableStorage":
            raise Unsupported(f"what {each.type_url or 'an extension'} says of a table is not known")
        storage = _storage(storage_message)
    return Target(tuple(message.names), storage, _behavior(extension, condition))


def _behavior(extension: Any, condition: Condition | None) -> Behavior:
    if not extension.HasField("enhancement"):
        return Behavior()
    stated = unpacked_write(extension.enhancement)
    if stated is None or stated.DESCRIPTOR.name != "WriteBehavior":
        raise Unsupported(f"what {extension.enhancement.type_url or 'an extension'} says of a write is not known")
    behavior = Behavior(**{**_fields(stated), "replace_where": None})
    if not stated.HasField("replace_where"):
        return behavior
    if condition is None:
        raise Unsupported("only rows of a table are replaced")
    return behavior._replace(replace_where=condition(stated.replace_where))


def _storage(message: Any) -> Storage:
    return Storage(**_fields(message))


def _fields(message: Any) -> Mapping[str, Any]:
    return {field.name: _value(getattr(message, field.name)) for field in message.DESCRIPTOR.fields}


def _value(value: Any) -> Any:
    if isinstance(value, bool | int | str | ExpressionMessage):
        return value
    return tuple(value) if not value or isinstance(value[0], str) else _options(value)


def _options(messages: Any) -> Options:
    return tuple((each.name, each.value) for each in messages)
