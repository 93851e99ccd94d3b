"""What emitting a plan node yields: a relation, and the exprIds of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.relation import Relation
from ..catalyst.tree import Expression, SourceColumns
from ..errors import Unsupported
from ..expr.scope import Scope, first_ordinals


class Output(NamedTuple):
    """A relation and, column by column, the exprIds that Catalyst refers to its columns by."""

    relation: Relation
    ids: tuple[int, ...]

    def scope(self) -> Scope:
        return Scope(self.ids, self.relation.types)

    def select(self, ids: Sequence[int]) -> Output:
        """These columns, in this order."""
        ordinals = first_ordinals(self.ids)
        if any(id not in ordinals for id in ids):
            raise Unsupported("a column of the result is not among the columns of the relation below")
        return Output(self.relation.select([ordinals[id] for id in ids]), tuple(ids))


def ids_of(attributes: Sequence[Expression]) -> tuple[int, ...]:
    """The exprIds of named expressions."""
    if isinstance(attributes, SourceColumns):
        return tuple(attributes.ids)
    return tuple([attribute["exprId"] for attribute in attributes])
