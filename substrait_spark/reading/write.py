"""Messages of relations that change what there is, as the tree's: those that statements of ours are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from substrait.type_pb2 import Type as TypeMessage

from ..algebra.enum_names import enum_name
from ..algebra.extension_messages import unpacked_write
from ..algebra.types import Type
from ..algebra.write import Behavior, Ddl, Options, Storage, Target, Write
from ..errors import Unsupported

if TYPE_CHECKING:
    from ..algebra.relation import Relation

IF_EXISTS = "_IF_EXISTS"


def read_write(message: Any, input: Relation) -> Relation:
    """A WriteRel over its input. Raises `Unsupported` for what the tree has nothing for."""
    if enum_name(message, "output") != "NO_OUTPUT":
        raise Unsupported("a write that gives rows is not read")
    kind = message.WhichOneof("write_type")
    _require_no_more(message, kind == "extension_table")
    mode = enum_name(message, "create_mode")
    create_mode = "" if mode == "UNSPECIFIED" else mode.removesuffix(IF_EXISTS)
    if kind == "named_table":
        target = _named(message.named_table)
    else:
        storage = unpacked_write(message.extension_table.detail)
        if storage is None or storage.DESCRIPTOR.name != "TableStorage":
            raise Unsupported("what a write is to is not known")
        target = Target((), _storage(storage), _behavior(message.advanced_extension))
    return Write(input, message.table_schema.names, enum_name(message, "op"), create_mode, target)


def read_ddl(message: Any, definition: Relation | None, type: Callable[[TypeMessage], Type]) -> Relation:
    """A DdlRel over the definition of a view. Raises `Unsupported` for what the tree has nothing for."""
    if message.WhichOneof("write_type") != "named_object" or message.HasField("table_defaults"):
        raise Unsupported("a definition of an object without a name, or with default values, is not read")
    _require_no_more(message, False)
    schema = [type(kind) for kind in message.table_schema.struct.types]
    target = _named(message.named_object)
    names = message.table_schema.names
    return Ddl(enum_name(message, "object"), enum_name(message, "op"), target, names, schema, definition)


def _require_no_more(message: Any, of_relation: bool) -> None:
    """Refuse what is said at another place than statements of ours say it."""
    if message.common.HasField("advanced_extension") or (message.HasField("advanced_extension") and not of_relation):
        raise Unsupported("an extension of a relation that writes is not known")


def _named(message: Any) -> Target:
    extension = message.advanced_extension
    storage = Storage()
    for each in extension.optimization:
        found = unpacked_write(each)
        if found is None or found.DESCRIPTOR.name != "TableStorage":
            raise Unsupported(f"what {each.type_url or 'an extension'} says of a table is not known")
        storage = _storage(found)
    return Target(tuple(message.names), storage, _behavior(extension))


def _behavior(extension: Any) -> Behavior:
    if not extension.HasField("enhancement"):
        return Behavior()
    found = unpacked_write(extension.enhancement)
    if found is None or found.DESCRIPTOR.name != "WriteBehavior":
        raise Unsupported(f"what {extension.enhancement.type_url or 'an extension'} says of a write is not known")
    return Behavior(**_fields(found))


def _storage(message: Any) -> Storage:
    return Storage(**_fields(message))


def _fields(message: Any) -> Mapping[str, Any]:
    return {field.name: _value(getattr(message, field.name)) for field in message.DESCRIPTOR.fields}


def _value(value: Any) -> Any:
    if isinstance(value, bool | int | str):
        return value
    return tuple(value) if not value or isinstance(value[0], str) else _options(value)


def _options(messages: Any) -> Options:
    return tuple((each.name, each.value) for each in messages)
