"""Leaves out of reads those columns of types that the dialect lacks, where nothing uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ...algebra.relation import DeltaTable, IcebergTable, LocalFiles, Read, Relation
from ...algebra.traversal import transformed
from ...algebra.types import Type, field_count

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each read that finds its columns by name, without the columns that nothing uses and whose type the dialect lacks in tables."""
    if lowering.dialect.has_all_types:
        return root

    def lacking(kind: Type) -> bool:
        return not lowering.dialect.allows_type(kind, column=True)

    def concerned(relation: Relation) -> TypeGuard[Read]:
        return (
            isinstance(relation, Read)
            and relation.emit is not None
            and _by_name(relation)
            and any(map(lacking, set(relation.schema)))
        )

    def rule(relation: Relation) -> Relation:
        if not concerned(relation) or relation.emit is None:
            return relation
        dropped = {n for n, kind in enumerate(relation.schema) if n not in relation.emit and lacking(kind)}
        return without(relation, dropped) if dropped else relation

    return transformed(root, rule, concerned)


def _by_name(read: Read) -> bool:
    return isinstance(read, DeltaTable | IcebergTable) or (
        isinstance(read, LocalFiles) and isinstance(read.format, str)
    )


def without(read: Read, dropped: set[int]) -> Relation:
    """The read without columns that it doesn't emit, by their ordinals."""
    kept = [n for n in range(len(read.schema)) if n not in dropped]
    names: list[str] = []
    position = 0
    for n, kind in enumerate(read.schema):
        count = 1 + field_count(kind)
        if n not in dropped:
            names += read.names[position : position + count]
        position += count
    new_ordinals = {n: ordinal for ordinal, n in enumerate(kept)}
    made = read.with_schema(names, [read.schema[n] for n in kept])
    return made.select([new_ordinals[n] for n in read.emit or ()])
