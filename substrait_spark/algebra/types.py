"""Substrait types (https://substrait.io/types/type_classes/) and their protobuf form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from substrait.type_pb2 import Type as TypeMessage

from ..errors.quotation import identifier
from . import limits

SHORT_NAMES = {
    "boolean": "bool",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "fp32": "fp32",
    "fp64": "fp64",
    "string": "str",
    "binary": "vbin",
    "date": "date",
    "precision_time": "pt",
    "precision_timestamp": "pts",
    "precision_timestamp_tz": "ptstz",
    "interval_year": "iyear",
    "interval_day": "iday",
    "interval_compound": "icompound",
    "uuid": "uuid",
    "fixedchar": "fchar",
    "varchar": "vchar",
    "fixedbinary": "fbin",
    "decimal": "dec",
    "struct": "struct",
    "list": "list",
    "map": "map",
    "func": "func",
}
"""Type names as compound function names abbreviate them (https://substrait.io/extensions/)."""

USER_DEFINED = ("variant", "collated_string", "geometry", "geography")
"""The types that functions_spark.yaml declares, each of the kind `u!name`. The anchor of each in plans is its place here,
from 1: types are written where nothing is known of the plan."""

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("fp32", "fp64")
NUMBERS = (*INTEGERS, *FLOATS, "decimal")
INTERVALS = ("interval_year", "interval_day", "interval_compound")
TEXTS = ("string", "varchar", "fixedchar")
DIGITS = {"i8": 3, "i16": 5, "i32": 10, "i64": 19}
"""How many decimal digits the values of an integer type have at most."""


OWN = tuple(f"u!{name}" for name in USER_DEFINED)
_ANCHORS = {kind: number for number, kind in enumerate(OWN, 1)}

made: set[str] = set()
"""The kinds in USER_DEFINED of which this process has made a type: without any, no plan has one."""


class Type:
    """A Substrait type, made by `of`: types that are the same are one object.

    `parameters`: decimal (precision, scale); the precision types (digits,); list (element,); map (key, value);
    struct its field types; func its parameter types and, last, its return type; user-defined types numbers and texts.
    `height` is how many messages its protobuf form nests, `size` how many types there are in it, itself among them, `names`
    how many fields of structs, and `kinds` the kinds of all of them.
    """

    __slots__ = ("__weakref__", "height", "kind", "kinds", "names", "nullable", "parameters", "size")

    def __init__(self, kind: str, parameters: tuple[Any, ...] = (), nullable: bool = True) -> None:
        self.kind = kind
        self.parameters = parameters
        self.nullable = nullable
        inner = [part for part in parameters if isinstance(part, Type)]
        self.height: int = 2 + max([part.height for part in inner], default=0)
        self.kinds: frozenset[str] = frozenset((kind,)).union(*[part.kinds for part in inner])
        self.size: int = 1 + sum([part.size for part in inner])
        self.names: int = sum([part.names for part in inner]) + (len(parameters) if kind == "struct" else 0)
        limits.require_parts(self.size)
        if kind in _ANCHORS:
            made.add(kind)

    def __str__(self) -> str:
        mark = "?" if self.nullable else ""
        if self.kind == "func":
            *arguments, result = map(str, self.parameters)
            return f"func{mark}<({', '.join(arguments)}) -> {result}>"
        if self.parameters or self.kind == "struct":
            return f"{self.kind}{mark}<{', '.join(map(_shown, self.parameters))}>"
        return self.kind + mark

    __repr__ = __str__


def _shown(parameter: Any) -> str:
    return identifier(parameter) if isinstance(parameter, str) else str(parameter)


_in_use: WeakValueDictionary[tuple[Any, ...], Type] = WeakValueDictionary()
_making = Lock()


@lru_cache(maxsize=65536)
def of(kind: str, *parameters: Any, nullable: bool = True) -> Type:
    """The type; the same object for the same arguments, as long as it is in use."""
    key = (kind, parameters, nullable)
    with _making:
        type = _in_use.get(key)
        if type is None:
            type = _in_use[key] = Type(*key)
    return type


def with_nullable(type: Type, nullable: bool) -> Type:
    """The same type with this outermost nullability."""
    return type if type.nullable is nullable else of(type.kind, *type.parameters, nullable=nullable)


def nullable(type: Type) -> Type:
    return with_nullable(type, True)


def required(type: Type) -> Type:
    return with_nullable(type, False)


def equal_but_nullability(left: Type, right: Type) -> bool:
    """Whether two types are the same, nullability left aside at every level."""
    if left is right:
        return True
    if left.kind != right.kind or len(left.parameters) != len(right.parameters):
        return False
    return all(
        equal_but_nullability(a, b) if isinstance(a, Type) else a == b
        for a, b in zip(left.parameters, right.parameters, strict=True)
    )


def parts(type: Type) -> list[Type]:
    """The types of the fields, the elements, or the keys and values that a type is made of."""
    return [part for part in type.parameters if isinstance(part, Type)]


def holds(type: Type, kinds: Sequence[str]) -> bool:
    """Whether a type is, or has somewhere inside, a type of one of these kinds."""
    return not type.kinds.isdisjoint(kinds)


def least_nullable_common(left: Type, right: Type) -> Type:
    """The type that both fit in when they differ in nullability only: nullable where either is."""
    if left == right:
        return left
    parameters = [
        least_nullable_common(a, b) if isinstance(a, Type) else a
        for a, b in zip(left.parameters, right.parameters, strict=True)
    ]
    return of(left.kind, *parameters, nullable=left.nullable or right.nullable)


def widens(source: Type, target: Type) -> bool:
    """Whether every value of a type has the same value in another."""
    if source.kind in INTEGERS and target.kind in INTEGERS:
        return INTEGERS.index(source.kind) <= INTEGERS.index(target.kind)
    if source.kind in INTEGERS and target.kind == "decimal":
        precision, scale = target.parameters
        return bool(precision - scale >= DIGITS[source.kind])
    if source.kind in FLOATS and target.kind in FLOATS:
        return FLOATS.index(source.kind) <= FLOATS.index(target.kind)
    if source.kind == target.kind == "decimal":
        (precision, scale), (wider, finer) = source.parameters, target.parameters
        return bool(finer >= scale and wider - finer >= precision - scale)
    return equal_but_nullability(source, target)


def common_number(left: Type, right: Type) -> Type | None:
    """The least type of numbers that has every value of both types; None where there is none."""
    for one, other in ((left, right), (right, left)):
        if one.kind in INTEGERS and other.kind == "decimal":
            return common_number(of("decimal", DIGITS[one.kind], 0, nullable=one.nullable), other)
        if widens(one, other):
            return with_nullable(other, one.nullable or other.nullable)
    if not left.kind == right.kind == "decimal":
        return None
    (p1, s1), (p2, s2) = left.parameters, right.parameters
    scale = max(s1, s2)
    precision = max(p1 - s1, p2 - s2) + scale
    return of("decimal", precision, scale, nullable=left.nullable or right.nullable) if precision <= 38 else None


_COUNTS = {
    frozenset(pair)
    for pair in (
        ("i64", "precision_timestamp"),
        ("i64", "precision_timestamp_tz"),
        ("precision_timestamp", "precision_timestamp_tz"),
        ("precision_timestamp", "date"),
        ("i32", "date"),
    )
}


def always_casts(source: Type, target: Type) -> bool:
    """Whether a cast never fails: to a wider or a floating-point type, to text, between dates, times and counts."""
    if target.kind == "string":
        return not parts(source)
    if target.kind in FLOATS and source.kind in NUMBERS:
        return True
    return widens(source, target) or frozenset((source.kind, target.kind)) in _COUNTS


def nullable_inside(type: Type) -> Type:
    """The type with every field, element and map value nullable, at every level below the type itself."""
    made = [nullable(nullable_inside(part)) if isinstance(part, Type) else part for part in type.parameters]
    if type.kind == "map":
        made[0] = with_nullable(made[0], False)
    return of(type.kind, *made, nullable=type.nullable)


def field_count(type: Type) -> int:
    """How many struct fields a type has at all its levels: each has a name in a table's schema."""
    return type.names


def column_names(kinds: Sequence[Type], names: Sequence[str]) -> list[str]:
    """The names of columns, of the depth-first names of these and of the struct fields in them."""
    if len(kinds) == len(names):
        return list(names)
    starts = accumulate([1 + field_count(kind) for kind in kinds[:-1]], initial=0)
    return [names[start] for start in starts]


def numbered(kinds: Sequence[Type]) -> list[str]:
    """Depth-first names of columns of these types and of the fields in them, where nobody asks for better ones."""
    return [f"c{n}" for n in range(sum(1 + field_count(kind) for kind in kinds))]


BOOLEAN = of("boolean", nullable=False)
I32 = of("i32", nullable=False)
I64 = of("i64", nullable=False)
FP64 = of("fp64", nullable=False)
STRING = of("string", nullable=False)


# ---- protobuf

_FIELDS = {
    "boolean": "bool",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "fp32": "fp32",
    "fp64": "fp64",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "uuid": "uuid",
    "interval_year": "interval_year",
}
_PRECISION_FIELDS = {
    "precision_time": "precision_time",
    "precision_timestamp": "precision_timestamp",
    "precision_timestamp_tz": "precision_timestamp_tz",
    "interval_day": "interval_day",
    "interval_compound": "interval_compound",
}
_LENGTH_FIELDS = {"fixedchar": "fixed_char", "varchar": "varchar", "fixedbinary": "fixed_binary"}


@lru_cache(maxsize=65536)
def message(type: Type) -> TypeMessage:
    """The type's message, to copy from and never to change."""
    target = TypeMessage()
    _fill(type, target)
    return target


@lru_cache(maxsize=65536)
def _serialised(type: Type) -> bytes:
    return message(type).SerializeToString()


def write(type: Type, target: TypeMessage) -> None:
    """Fill a type message."""
    # Reading bytes is what protobuf does fastest.
    target.MergeFromString(_serialised(type))


def _fill(type: Type, target: TypeMessage) -> None:
    nullability = TypeMessage.NULLABILITY_NULLABLE if type.nullable else TypeMessage.NULLABILITY_REQUIRED
    if type.kind in _FIELDS:
        getattr(target, _FIELDS[type.kind]).nullability = nullability
    elif type.kind in _PRECISION_FIELDS:
        field = getattr(target, _PRECISION_FIELDS[type.kind])
        field.precision = type.parameters[0]
        field.nullability = nullability
    elif type.kind in _LENGTH_FIELDS:
        field = getattr(target, _LENGTH_FIELDS[type.kind])
        field.length = type.parameters[0]
        field.nullability = nullability
    elif type.kind == "decimal":
        target.decimal.precision, target.decimal.scale = type.parameters
        target.decimal.nullability = nullability
    elif type.kind == "list":
        _fill(type.parameters[0], target.list.type)
        target.list.nullability = nullability
    elif type.kind == "map":
        _fill(type.parameters[0], target.map.key)
        _fill(type.parameters[1], target.map.value)
        target.map.nullability = nullability
    elif type.kind == "func":
        _write_all(type.parameters[:-1], target.func.parameter_types)
        _fill(type.parameters[-1], target.func.return_type)
        target.func.nullability = nullability
    elif type.kind == "struct":
        _write_all(type.parameters, target.struct.types)
        target.struct.nullability = nullability
    else:
        _fill_user_defined(type, target.user_defined)
        target.user_defined.nullability = nullability


def _fill_user_defined(type: Type, target: TypeMessage.UserDefined) -> None:
    target.type_reference = _ANCHORS[type.kind]
    for parameter in type.parameters:
        if isinstance(parameter, int):
            target.type_parameters.add().integer = parameter
        else:
            target.type_parameters.add().string = parameter


def write_struct(fields: Sequence[Type], target: TypeMessage.Struct) -> None:
    """Fill the message of a struct that is not null, which also is the schema of a NamedStruct."""
    target.CopyFrom(message(of("struct", *fields, nullable=False)).struct)


def _write_all(types: Sequence[Type], target: Any) -> None:
    for type in types:
        _fill(type, target.add())
