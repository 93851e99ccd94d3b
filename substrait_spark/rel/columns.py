"""The columns of a leaf: those in its schema, and those of them that the plan uses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..algebra import types
from ..algebra.relation import Read, Relation
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.types import field_names, to_substrait
from ..errors import Unsupported
from .builder import RelationBuilder
from .output import Output, ids_of


class Columns(NamedTuple):
    """A leaf's schema: the columns' attributes, their depth-first names, and their types."""

    attributes: Sequence[tree.Expression]
    names: list[str]
    types: list[Type]

    def output(self, r: RelationBuilder, relation: Relation) -> Output:
        """The relation, whose columns are these, with only those that the plan uses."""
        if isinstance(relation, Read):
            relation.origins = self.attributes
        ids, used = ids_of(self.attributes), r.context.used
        if used is None:
            return Output(relation, ids)
        kept = [n for n, id in enumerate(ids) if id in used]
        return Output(relation.select(kept), tuple([ids[n] for n in kept]))


def used_of(r: RelationBuilder, attributes: Sequence[tree.Expression]) -> list[tree.Expression]:
    """The columns among these that the plan uses."""
    used = r.context.used
    if used is None:
        return list(attributes)
    return [attributes[n] for n, id in enumerate(ids_of(attributes)) if id in used]


def needed(r: RelationBuilder, items: Sequence[tree.Expression]) -> list[tree.Expression]:
    """Columns that a plan computes, without NULLs that have no type and that nothing uses."""
    return [item for item in items if item.type.name != "void" or is_used(r, item)]


def is_used(r: RelationBuilder, attribute: tree.Expression) -> bool:
    """Whether the plan uses a column."""
    return r.context.used is None or attribute["exprId"] in r.context.used


def stored(r: RelationBuilder, attributes: Sequence[tree.Expression], by_name: bool) -> Columns:
    """The columns of a table or of files, every used one of them checked.

    Where a consumer finds columns `by_name`, unused ones of a type that can't be said are left out.
    """
    row = _row(attributes.type) if isinstance(attributes, tree.SourceColumns) else None
    if row is not None:
        return Columns(attributes, *row)
    kept: list[tree.Expression] = []
    kinds: list[Type] = []
    for attribute in attributes:
        try:
            kind = to_substrait(attribute.type, attribute.nullable)
        except Unsupported as problem:
            if by_name and not is_used(r, attribute):
                continue
            kind = _reported(r, attribute, problem)
        kept.append(attribute)
        kinds.append(kind)
    return _columns(kept, kinds)


@lru_cache(maxsize=256)
def _row(type: tree.DataType) -> tuple[list[str], list[Type]] | None:
    """The names and types of a source's columns, which are the same in query after query; None where one has no type."""
    fields = type.parameters
    try:
        kinds = [to_substrait(field.type, field.nullable) for field in fields]
    except Unsupported:
        return None
    return _names([field.name for field in fields], [field.type for field in fields], kinds), kinds


def local(r: RelationBuilder, attributes: Sequence[tree.Expression]) -> Columns:
    """The columns of rows that are written into the plan, every one of them checked."""
    return _columns(attributes, [_checked_type(r, attribute) for attribute in attributes])


def _columns(attributes: Sequence[tree.Expression], kinds: list[Type]) -> Columns:
    names = _names([attribute["name"] for attribute in attributes], [attribute.type for attribute in attributes], kinds)
    return Columns(list(attributes), names, kinds)


def _names(columns: Sequence[str], spark_types: Sequence[tree.DataType], kinds: Sequence[Type]) -> list[str]:
    """The depth-first names of columns and of the fields in them."""
    shown = _unique(columns)
    if not any(kind.names for kind in kinds):
        return shown
    return [name for column, type in zip(shown, spark_types, strict=True) for name in field_names(column, type)]


def _unique(names: Sequence[str]) -> list[str]:
    """The names of columns, with a number where one repeats: local rows may have that, no engine's table has."""
    taken = set(names)
    if len(taken) == len(names):
        return list(names)
    unique = []
    next_number: dict[str, int] = {}
    for name in names:
        candidate, number = name, next_number.get(name)
        while number is not None and candidate in taken:
            candidate, number = f"{name}_{number}", number + 1
        taken.add(candidate)
        next_number[name] = number or 2
        unique.append(candidate)
    return unique


def _checked_type(r: RelationBuilder, attribute: tree.Expression) -> Type:
    try:
        return to_substrait(attribute.type, attribute.nullable)
    except Unsupported as problem:
        return _reported(r, attribute, problem)


def _reported(r: RelationBuilder, attribute: tree.Expression, problem: Unsupported) -> Type:
    r.context.report(attribute, problem)
    return types.nullable(types.BOOLEAN)


def type_names(attributes: Sequence[tree.Expression]) -> frozenset[str]:
    """The names of all types in columns, those inside others included."""
    names: set[str] = set()
    stack = [attribute.type for attribute in attributes]
    while stack:
        kind = stack.pop()
        names.add(kind.name)
        for part in kind.parameters:
            inner = part.type if isinstance(part, tree.Field) else part
            if isinstance(inner, tree.DataType):
                stack.append(inner)
    return frozenset(names)
