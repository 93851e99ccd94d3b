"""`nested_keys_in_order`: DataFusion can't group batches that some of the keys are sorted by, where one of these has nested parts.

    SELECT DISTINCT [[1]], value % 99991 FROM generate_series(1, 100000)   -- Internal error: Uncomparable values

It compares a batch's last keys with those of the next one, for which it has no order of lists of lists, of structs of
lists and the like. A constant is sorted too. This hides the order of such keys from it.
"""

from __future__ import annotations

from ....algebra.relation import Aggregate, Relation
from ....algebra.traversal import is_column, ordinals
from ....algebra.types import Type
from ....lowering.builder import LoweringBuilder
from ....lowering.general.computed_keys import over_columns
from .constants import with_varying


def without_order(e: LoweringBuilder, relation: Aggregate) -> Relation:
    """An aggregate by several keys, in whose input DataFusion knows no order of nested ones."""
    nested = [key for key in relation.groupings if _has_nested_parts(key.type)]
    if not nested or len(relation.groupings) == 1:
        return relation
    over = over_columns(relation, [key for key in nested if not is_column(key)])
    (input,) = over.inputs
    keys = {
        n for key in over.expressions()[: len(relation.groupings)] if _has_nested_parts(key.type) for n in ordinals(key)
    }
    return over.with_inputs((with_varying(e, input, keys),))


def _has_nested_parts(type: Type) -> bool:
    return any(
        isinstance(part, Type) and any(isinstance(inner, Type) for inner in part.parameters) for part in type.parameters
    )
