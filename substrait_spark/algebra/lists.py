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


def with_element(e: CallBuilder, whole: Expression, value: Expression) -> tuple[Expression, Expression]:
    """A list and a value of its elements' type, or a map and one of its keys' type, the nullability of the value itself aside."""
    own, *others = whole.type.parameters
    common = types.least_nullable_common(own, types.with_nullable(value.type, own.nullable))
    wanted = types.of(whole.type.kind, common, *others, nullable=whole.type.nullable)
    return e.as_type(whole, wanted), e.as_type(value, types.with_nullable(common, value.type.nullable))
