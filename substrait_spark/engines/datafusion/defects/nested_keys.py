"""`nested_keys_in_order`: DataFusion can't group batches that some of the keys are sorted by, where one of these has nested parts.

    SELECT DISTINCT [[1]], value % 99991 FROM generate_series(1, 100000)   -- Internal error: Uncomparable values

It compares a batch's last keys with those of the next one, for which it has no order of lists of lists, of structs of
lists and the like. A constant is sorted too. This hides the order of such keys from it.
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.relation import Aggregate, Relation
from ....algebra.traversal import is_column, ordinals
from ....lowering.builder import LoweringBuilder
from ....lowering.general.computed_keys import over_columns
from .constants import with_varying


def without_order(e: LoweringBuilder, relation: Aggregate) -> Relation:
    """An aggregate by several keys, in whose input DataFusion knows no order of nested ones."""
    nested = [n for n, key in enumerate(relation.groupings) if any(map(types.parts, types.parts(key.type)))]
    if not nested or len(relation.groupings) == 1:
        return relation
    over = over_columns(relation, [relation.groupings[n] for n in nested if not is_column(relation.groupings[n])])
    (input,) = over.inputs
    keys = {ordinal for n in nested for ordinal in ordinals(over.expressions()[n])}
    return over.with_inputs((with_varying(e, input, keys),))
