"""DataFusion's lists and structs: building them, reaching into them, and nulls of them, with the names of their fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...algebra import types
from ...algebra.expression import Cast, Expression, FieldReference, Lambda, Literal, ScalarFunction, StandIn
from ...algebra.traversal import moved_inwards
from ...algebra.types import Type
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from .defects.struct_names import ANY, Names, has_names, names_of, own_names, parts

# ---- types that would lose the names of fields


def require_nameless(e: LoweringBuilder, type: Type) -> None:
    """Refuse a type that would lose the names of struct fields: DataFusion knows structs by them."""
    if types.holds(type, ("struct",)):
        raise NotInDialect(
            f"the dialect {e.dialect.name} has structs by the names of their fields, which {type} doesn't tell",
            "Compute the struct in Spark, or use its fields by themselves.",
        )


def of_named(e: LoweringBuilder, cast: Cast) -> Expression:
    """A cast. To another nullability, a value that holds structs comes by a call that keeps their names."""
    if not types.equal_but_nullability(cast.input.type, cast.type):
        require_nameless(e, cast.type)
        return cast
    return e.call_as(cast.type, "datafusion:coalesce", cast.input) if types.holds(cast.type, ("struct",)) else cast


def nameless_null(e: LoweringBuilder, literal: Literal) -> Expression:
    """A null, of a type without structs."""
    if literal.value is None:
        require_nameless(e, literal.type)
    return literal


# ---- building


def list_of(e: LoweringBuilder, type: Type, values: Sequence[Expression]) -> Expression:
    """A list of one or more values."""
    return e.call_as(type, "datafusion:make_array", *values)


def named_struct(
    e: LoweringBuilder, type: Type, names: Sequence[str | None], values: Sequence[Expression]
) -> Expression:
    """A struct of values in fields of these names; where one is not known, any will do."""
    if not names:
        raise NotInDialect(f"the dialect {e.dialect.name} has no structs without fields")
    known = [f"c{n}" for n in range(len(names))] if None in names else [name for name in names if name is not None]
    if not all(known):
        raise NotInDialect("a field of the struct has an empty name", "Give the field a name.")
    _require_distinct(known)
    arguments = [part for name, value in zip(known, values, strict=True) for part in (e.text(name), value)]
    return e.call_as(type, "datafusion:named_struct", *arguments)


def bare(value: Expression) -> Expression:
    """A value without what changes the nullability of its type only, which functions of any type don't need."""
    if isinstance(value, Literal) and value.value is not None:
        return Literal(value.value, types.required(value.type))
    while types.equal_but_nullability(value.type, (inner := _retyped(value)).type) and inner is not value:
        value = inner
    return value


def _retyped(value: Expression) -> Expression:
    """What a value is another type of, if it is that."""
    if isinstance(value, Cast) or (isinstance(value, ScalarFunction) and _is_only_retyping(value)):
        return value.children()[0]
    return value


def _is_only_retyping(call: ScalarFunction) -> bool:
    return call.declaration.name == "coalesce" and call.declaration.alias == "datafusion"


def is_built(value: Expression) -> bool:
    """Whether a value is a struct of values that are at hand."""
    return isinstance(value, ScalarFunction) and value.declaration.name == "named_struct"


def _require_distinct(names: Sequence[str]) -> None:
    """Refuse structs of which a name doesn't tell the field."""
    if len({name.lower() for name in names}) < len(names):
        raise NotInDialect("two fields of the struct have the same name")


# ---- constants


def constant(e: LoweringBuilder, value: Any, type: Type, names: Names) -> Expression:
    """A value in a plan's form, None for null, of a type that holds structs with fields of these names."""
    if not has_names(type):
        return Literal(value, types.required(type))
    if ANY in names:
        return StandIn(type)
    if value is None:  # the second element of a list of one
        one = types.of("list", types.required(type), nullable=False)
        return e.call_as(
            types.nullable(type), "datafusion:array_element", list_of(e, one, [_any_value(e, type, names)]), e.i64(2)
        )
    kind = types.required(type)
    if type.kind == "struct":
        inside = zip(value, type.parameters, parts(type, names), strict=True)
        return named_struct(e, kind, own_names(type, names), [constant(e, *field) for field in inside])
    if type.kind == "list" and value:
        (part,) = type.parameters
        return list_of(e, kind, [constant(e, each, part, names) for each in value])
    if type.kind == "list":
        return empty_list(e, kind, names)
    raise NotInDialect(f"the dialect {e.dialect.name} has no literal of the type {type}")


def _any_value(e: LoweringBuilder, type: Type, names: Names) -> Expression:
    """Some value that is not null."""
    if type.kind == "struct":
        return constant(e, [None] * len(type.parameters), type, names)
    if type.kind == "list":
        return constant(e, [None], type, names)
    raise NotInDialect(f"the dialect {e.dialect.name} has no literal of the type {type}")


def null(e: LoweringBuilder, type: Type, names: Names) -> Expression:
    """A null of a type, with fields of these names in it."""
    return constant(e, None, type, names) if has_names(type) else e.null(type)


def null_like(e: LoweringBuilder, value: Expression) -> Expression:
    """A null of a value's type."""
    return null(e, types.nullable(value.type), names_of(e, value))


def empty_list(e: LoweringBuilder, type: Type, names: Names) -> Expression:
    """A list without elements."""
    if not has_names(type) or ANY in names:
        return e.literal((), type)
    one = list_of(e, types.required(type), [_any_value(e, type.parameters[0], names)])
    return e.call("datafusion:array_slice", one, e.i64(2), e.i64(1))


# ---- reaching in


def field_of(e: LoweringBuilder, struct: Expression, ordinal: int) -> Expression:
    """A field of a struct. DataFusion may show what a null struct hides, so that the struct's own null comes first."""
    if not struct.type.nullable:
        return stored_field(e, struct, ordinal)
    shared = e.share(struct)
    return guarded(e, [shared], lambda: stored_field(e, shared, ordinal))


def stored_field(e: LoweringBuilder, struct: Expression, ordinal: int) -> Expression:
    """What is in a field of a struct, be that null or not: what it is built of, where it is built right there."""
    built = bare(struct)
    if is_built(built):
        return built.children()[2 * ordinal + 1]
    names = own_names(struct.type, names_of(e, struct))
    known = [name for name in names if name is not None]
    if ANY in names:
        return StandIn(struct.type.parameters[ordinal])
    if len(known) < len(names):
        require_nameless(e, struct.type)
    _require_distinct(known)
    field: Type = struct.type.parameters[ordinal]
    type = types.with_nullable(field, field.nullable or struct.type.nullable)
    return e.call_as(type, "datafusion:get_field", struct, e.text(known[ordinal]))


def rebuilt(
    e: LoweringBuilder, value: Expression, names: Names, target: Type, wanted: Names, cast: Callable[..., Expression]
) -> Expression:
    """A value in which structs have fields of other names or types: they are built anew.

    `names` and `wanted` are those that the fields have and will have; `cast` gives a value without structs another type.
    DataFusion's lambdas take no structs, so that those of lists are made by one of the positions.
    """
    if not has_names(value.type):
        return cast(value, target)
    if value.type.kind == "list":
        position = FieldReference(0, types.I64, parameter=0)
        there = element(e, moved_inwards(value, 1), position)
        if not value.type.parameters[0].nullable:
            there = e.required(there)
        body = rebuilt(e, there, names, target.parameters[0], wanted, cast)
        number = e.cast(size(e, value), types.I64)
        positions = e.call("datafusion:generate_series", e.i64(1), number, e.i64(1))
        return e.call("datafusion:array_transform", positions, Lambda((types.I64,), body))
    own, new = own_names(value.type, names), own_names(target, wanted)
    if value.type.kind != "struct" or None in own or ANY in own:
        raise NotInDialect(f"the dialect {e.dialect.name} can't build {value.type} anew")
    inside = zip(value.type.parameters, parts(value.type, names), target.parameters, parts(target, wanted), strict=True)
    built = []
    for name, (kind, inner, part, wanted_inner) in zip(own, inside, strict=True):
        field = e.call_as(types.nullable(kind), "datafusion:get_field", value, e.text(str(name)))
        built.append(rebuilt(e, field, inner, part, wanted_inner, cast))
    kind = types.of("struct", *(part.type for part in built), nullable=False)
    struct = named_struct(e, kind, new, built)
    if not value.type.nullable:
        return struct
    return e.if_then(e.is_not_null(value), struct, null(e, types.nullable(kind), wanted))


def guarded(e: LoweringBuilder, inputs: Sequence[Expression], value: Callable[[], Expression]) -> Expression:
    """A value where no input is null, else null."""
    maybe_null = [input for input in inputs if input.type.nullable]
    if not maybe_null:
        return value()
    known = e.and_(*[e.is_not_null(input) for input in maybe_null])
    guarded_value = value()
    return e.if_then(known, guarded_value, null_like(e, guarded_value))


def element(e: LoweringBuilder, list: Expression, index: Expression) -> Expression:
    """An element as DataFusion counts them: from 1, or from the end; null out of range."""
    return e.call("datafusion:array_element", list, index)


def size(e: LoweringBuilder, list: Expression) -> Expression:
    """The number of elements of a list; null for null. It fits, as Arrow's lists have: the cast needs no check."""
    length = e.call("datafusion:array_length", list)
    return Cast(length, types.with_nullable(types.I32, length.type.nullable), True)
