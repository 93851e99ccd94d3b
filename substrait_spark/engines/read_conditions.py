"""What the filters of a plan say of single columns of its reads, for readers to leave out files by.

The filters stay: what is told here is true of every row that they keep, and of others perhaps.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from substrait.algebra_pb2 import Expression, ReadRel, Rel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from ..algebra.message_walk import messages_of
from ..plan.declared_functions import declared_functions
from .arrow.schema import Condition

COMPARISONS = {"equal": "=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
"""The specification's functions of a column and a value."""

SWITCHED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The same comparisons with the column on the right."""

KINDS = ("i8", "i16", "i32", "i64", "string", "date")
"""Types whose values have one order everywhere: no NaN, no zone, no scale."""

_BOOLEAN, _COMPARISON = "extension:io.substrait:functions_boolean", "extension:io.substrait:functions_comparison"


def conditions(plan: Plan, reads: Sequence[ReadRel]) -> list[tuple[Condition, ...]]:
    """Of each read of a plan, the conditions of the filter right above it."""
    functions = declared_functions(plan)
    places = {id(read): place for place, read in enumerate(reads)}
    found: list[tuple[Condition, ...]] = [()] * len(reads)
    for rel in messages_of(plan, Rel):
        if not rel.filter.input.HasField("read"):
            continue
        place = places.get(id(rel.filter.input.read))
        if place is not None and reads[place] is rel.filter.input.read:
            found[place] = tuple(_conditions(rel.filter.condition, reads[place], functions))
    return found


def _conditions(expression: Expression, read: ReadRel, functions: Mapping[int, tuple[str, str]]) -> Iterator[Condition]:
    if expression.HasField("singular_or_list"):
        among = expression.singular_or_list
        yield from _condition("=", among.value, list(among.options), read)
    if not expression.HasField("scalar_function"):
        return
    called = expression.scalar_function
    urn, name = functions.get(called.function_reference, ("", ""))
    values = [argument.value for argument in called.arguments]
    if (urn, name) == (_BOOLEAN, "and"):
        for value in values:
            yield from _conditions(value, read, functions)
    elif urn == _COMPARISON and name in COMPARISONS and len(values) == 2:
        comparison = COMPARISONS[name]
        yield from _condition(comparison, values[0], values[1:], read)
        yield from _condition(SWITCHED[comparison], values[1], values[:1], read)


def _condition(comparison: str, column: Expression, values: Sequence[Expression], read: ReadRel) -> Iterator[Condition]:
    """A comparison of a column with literals of its type; nothing for anything else."""
    reference = column.selection
    field = reference.direct_reference.struct_field
    if not reference.HasField("root_reference") or not reference.direct_reference.HasField("struct_field"):
        return
    types = read.base_schema.struct.types
    picked = read.common.emit.output_mapping if read.common.HasField("emit") else range(len(types))
    if field.HasField("child") or field.field >= len(picked) or picked[field.field] >= len(types):
        return
    place = picked[field.field]
    kind = types[place].WhichOneof("kind")
    if kind not in KINDS or not all(value.literal.WhichOneof("literal_type") == kind for value in values):
        return
    name = read.base_schema.names[sum(1 + _names_within(type) for type in types[:place])]
    # Python's dates end with the year 9999.
    with suppress(OverflowError):
        yield Condition(name, comparison, tuple(_value(value, kind) for value in values))


def _names_within(type: Type) -> int:
    """How many names of fields a type has."""
    kind = type.WhichOneof("kind")
    if kind == "struct":
        return sum(1 + _names_within(field) for field in type.struct.types)
    if kind == "list":
        return _names_within(type.list.type)
    return _names_within(type.map.key) + _names_within(type.map.value) if kind == "map" else 0


def _value(expression: Expression, kind: str) -> Any:
    value = getattr(expression.literal, kind)
    return dt.date(1970, 1, 1) + dt.timedelta(value) if kind == "date" else value
