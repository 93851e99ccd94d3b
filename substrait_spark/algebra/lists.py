"""Lists and elements, maps and keys of one type: Spark lets their types differ in nullability, calls that take both don't."""

from __future__ import annotations

from functools import reduce

from . import types
from .builder import CallBuilder
from .expression import Expression


def unified(e: CallBuilder, *lists: Expression) -> tuple[Expression, ...]:
    """Lists with elements of one type."""
    elements = [list.type.parameters[0] for list in lists]
    if all(element == elements[0] for element in elements):
        return lists
    common = reduce(types.least_nullable_common, elements)
    return tuple([e.as_type(list, types.of("list", common, nullable=list.type.nullable)) for list in lists])


def with_key(e: CallBuilder, map: Expression, key: Expression) -> tuple[Expression, Expression]:
    """A map and a key of its keys' type, the nullability of the key itself aside."""
    of_keys, of_values = map.type.parameters
    if types.required(of_keys) == types.required(key.type):
        return map, key
    common = types.least_nullable_common(of_keys, types.required(key.type))
    wanted = types.of("map", common, of_values, nullable=map.type.nullable)
    return e.as_type(map, wanted), e.as_type(key, types.with_nullable(common, key.type.nullable))


def with_element(e: CallBuilder, list: Expression, value: Expression) -> tuple[Expression, Expression]:
    """A list and a value of its elements' type, the nullability of the value itself aside."""
    element = list.type.parameters[0]
    if types.required(element) == types.required(value.type):
        return list, value
    common = types.least_nullable_common(element, value.type)
    wanted = types.of("list", types.with_nullable(common, element.nullable), nullable=list.type.nullable)
    return e.as_type(list, wanted), e.as_type(value, types.with_nullable(common, value.type.nullable))
