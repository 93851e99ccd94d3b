"""Reading types out of protobuf messages: of type messages, and of literals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from substrait.algebra_pb2 import Expression
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type as TypeMessage

from ..errors.quotation import identifier
from . import types
from .types import Type

Complain = Callable[[str], None]

URN = "extension:io.github.substrait-spark:functions_spark"
"""The file that declares the user-defined types which plans of ours have."""

LEVELS = 100
"""How deep a type or a literal may nest: readers follow no more messages."""


class DeclaredTypes(NamedTuple):
    """By anchor, the names of a plan's user-defined types, and the types that its aliases stand for."""

    names: dict[int, str]
    aliases: dict[int, TypeMessage]
    known: dict[int, Type | None]
    """The types of the aliases that were read, so that each is read once; None while it is."""


def declared_types(plan: Plan) -> DeclaredTypes:
    """The aliases of a plan, and the names of those of its user-defined types that functions_spark.yaml declares."""
    own = {entry.extension_urn_anchor for entry in plan.extension_urns if entry.urn == URN}
    declared = [entry.extension_type for entry in plan.extensions if entry.HasField("extension_type")]
    names = {entry.type_anchor: entry.name for entry in declared if entry.extension_urn_reference in own}
    return DeclaredTypes(names, {alias.type_alias_anchor: alias.type for alias in plan.type_aliases}, {})


_NONE_DECLARED = DeclaredTypes({}, {}, {})

_PLAIN = ("i8", "i16", "i32", "i64", "fp32", "fp64", "string", "binary", "date", "uuid", "interval_year")
_RENAMED = {"bool": "boolean", "fixed_char": "fixedchar", "fixed_binary": "fixedbinary"}
_PRECISION = ("precision_time", "precision_timestamp", "precision_timestamp_tz", "interval_day", "interval_compound")
_NESTED: dict[str, Callable[[Any], Sequence[TypeMessage]]] = {
    "list": lambda field: (field.type,),
    "map": lambda field: (field.key, field.value),
    "struct": lambda field: field.types,
    "func": lambda field: (*field.parameter_types, field.return_type),
}
_LENGTH = ("fixed_char", "varchar", "fixed_binary")

_LITERALS = {
    **{kind: kind for kind in _PLAIN if kind != "interval_year"},
    "boolean": "boolean",
    "interval_year_to_month": "interval_year",
}
_PRECISION_LITERALS = {
    "interval_day_to_second": "interval_day",
    "precision_time": "precision_time",
    "precision_timestamp": "precision_timestamp",
    "precision_timestamp_tz": "precision_timestamp_tz",
}
_DECIMAL_BYTES = 16


def read_type(
    message: TypeMessage,
    complain: Complain,
    declared: DeclaredTypes = _NONE_DECLARED,
    level: int = 0,
    is_aliased: bool = False,
) -> Type | None:
    """The type that a message stands for; None, after a complaint, where it stands for none that we know.

    A user-defined type is of the kind `u!name`. One that an alias stands for need not state its nullability.
    """
    kind = message.WhichOneof("kind")
    if kind is None or level > LEVELS:
        complain("a type is empty" if kind is None else f"a type nests deeper than {LEVELS}")
        return None
    field = getattr(message, kind)
    if not hasattr(field, "nullability"):
        complain(f"the type {kind} is not known")
        return None
    if field.nullability == TypeMessage.NULLABILITY_UNSPECIFIED and not is_aliased:
        complain(f"the type {kind} doesn't state its nullability")
    nullable = field.nullability != TypeMessage.NULLABILITY_REQUIRED
    if kind == "alias":
        return _aliased(field.type_alias_reference, nullable, complain, declared, level)
    parameters = _parameters(kind, field, complain, declared, level + 1)
    if parameters is None or None in parameters:
        return None
    name = _RENAMED.get(kind, kind)
    if kind == "user_defined":
        declared_name = declared.names.get(field.type_reference, f"undeclared_type_{field.type_reference}")
        name = f"u!{identifier(declared_name)}"
    return types.of(name, *parameters, nullable=nullable)


def _aliased(anchor: int, nullable: bool, complain: Complain, declared: DeclaredTypes, level: int) -> Type | None:
    if anchor not in declared.aliases:
        complain(f"the type alias {anchor} is not declared")
        return None
    if anchor not in declared.known:
        declared.known[anchor] = None
        if declared.aliases[anchor].WhichOneof("kind") == "alias":
            complain(f"the type alias {anchor} is one of an alias")
        declared.known[anchor] = read_type(declared.aliases[anchor], complain, declared, level + 1, is_aliased=True)
    type = declared.known[anchor]
    if type is None:
        complain(f"the type alias {anchor} stands for no type")
        return None
    if level + type.height // 2 > LEVELS:
        complain(f"a type nests deeper than {LEVELS}")
        return None
    return types.with_nullable(type, nullable)


def _parameters(
    kind: str, field: Any, complain: Complain, declared: DeclaredTypes, level: int
) -> tuple[Any, ...] | None:
    if kind in _PLAIN or kind == "bool":
        return ()
    if kind in _LENGTH:
        return (field.length,)
    if kind in _PRECISION:
        if kind == "interval_day" and not field.HasField("precision"):
            complain("the type interval_day doesn't state its precision")
        return (field.precision,)
    if kind == "decimal":
        if not (1 <= field.precision <= 38 and 0 <= field.scale <= field.precision):
            complain(f"there is no decimal({field.precision}, {field.scale})")
        return (field.precision, field.scale)
    if kind in _NESTED:
        return tuple(read_type(inner, complain, declared, level) for inner in _NESTED[kind](field))
    if kind == "user_defined":
        return tuple(_parameter(parameter, complain, declared, level) for parameter in field.type_parameters)
    complain(f"the type {kind} is not known")
    return None


def _parameter(message: TypeMessage.Parameter, complain: Complain, declared: DeclaredTypes, level: int) -> Any:
    kind = message.WhichOneof("parameter")
    if kind is None:
        complain("a type parameter is empty")
        return None
    if kind == "data_type":
        return read_type(message.data_type, complain, declared, level)
    return "null" if kind == "null" else getattr(message, kind)


def struct_types(
    message: TypeMessage.Struct, complain: Complain, declared: DeclaredTypes = _NONE_DECLARED
) -> tuple[Type | None, ...]:
    """The types of a struct's fields."""
    return tuple(read_type(inner, complain, declared) for inner in message.types)


def literal_type(
    literal: Expression.Literal, complain: Complain, declared: DeclaredTypes = _NONE_DECLARED, level: int = 0
) -> Type | None:
    """The type of a literal."""
    kind = literal.WhichOneof("literal_type")
    if kind is None or level > LEVELS:
        complain("a literal is empty" if kind is None else f"a literal nests deeper than {LEVELS}")
        return None
    if kind == "null":
        type = read_type(literal.null, complain, declared)
        if type is not None and not type.nullable:
            complain(f"a null literal has the required type {type}")
        return type
    value = getattr(literal, kind)
    type_of_value = _typed_literal(kind, value, complain)
    if type_of_value is None:
        type_of_value = _nested_literal(kind, value, complain, declared, level + 1)
    return None if type_of_value is None else types.with_nullable(type_of_value, literal.nullable)


def _typed_literal(kind: str, value: Any, complain: Complain) -> Type | None:
    if kind in _LITERALS:
        return types.of(_LITERALS[kind])
    if kind == "interval_compound":
        return types.of(kind, value.interval_day_to_second.precision)
    if kind in _PRECISION_LITERALS:
        return types.of(_PRECISION_LITERALS[kind], value.precision)
    if kind == "fixed_char":
        return types.of("fixedchar", len(value))
    if kind == "var_char":
        return types.of("varchar", value.length)
    if kind == "fixed_binary":
        return types.of("fixedbinary", len(value))
    if kind == "decimal":
        if len(value.value) != _DECIMAL_BYTES:
            complain(f"a decimal literal has {len(value.value)} bytes, not {_DECIMAL_BYTES}")
        return types.of("decimal", value.precision, value.scale)
    return None


def _nested_literal(kind: str, value: Any, complain: Complain, declared: DeclaredTypes, level: int) -> Type | None:
    def every(literals: Sequence[Expression.Literal]) -> list[Type | None]:
        return [literal_type(inner, complain, declared, level) for inner in literals]

    if kind in ("empty_list", "empty_map"):
        message = TypeMessage()
        getattr(message, kind.removeprefix("empty_")).CopyFrom(value)
        return read_type(message, complain, declared)
    if kind == "list":
        return _built("list", [common_type(every(value.values), "a list literal's elements", complain)])
    if kind == "map":
        keys = common_type(every([pair.key for pair in value.key_values]), "a map literal's keys", complain)
        values = common_type(every([pair.value for pair in value.key_values]), "a map literal's values", complain)
        return _built("map", [keys, values])
    if kind == "struct":
        return _built("struct", every(value.fields))
    if kind == "user_defined":
        return _user_defined_literal(value, complain, declared, level)
    complain(f"the literal {kind} is not known")
    return None


def _user_defined_literal(value: Any, complain: Complain, declared: DeclaredTypes, level: int) -> Type | None:
    if value.WhichOneof("type_anchor_type") == "type_alias_reference":
        return _aliased(value.type_alias_reference, False, complain, declared, level)
    message = TypeMessage()
    message.user_defined.type_reference = value.type_reference
    message.user_defined.nullability = TypeMessage.NULLABILITY_REQUIRED
    for parameter in value.type_parameters:
        message.user_defined.type_parameters.add().CopyFrom(parameter)
    return read_type(message, complain, declared, level)


def _built(kind: str, parameters: Sequence[Type | None]) -> Type | None:
    return None if None in parameters else types.of(kind, *parameters)


def common_type(candidates: Sequence[Type | None], what: str, complain: Complain) -> Type | None:
    """The one type that all of them have; None, after a complaint, where there is none."""
    if not candidates:
        complain(f"{what} are missing")
        return None
    known = [type for type in candidates if type is not None]
    if any(type != known[0] for type in known):
        complain(f"{what} have different types: {', '.join(sorted({str(type) for type in known}))}")
        return None
    return known[0] if len(known) == len(candidates) else None
