"""`sorts_unions_by_input`: DataFusion sorts each input of a union by the keys that it needs there. This has it sort by all.

    SELECT x, y FROM (SELECT x, x AS y FROM (VALUES (1)) t(x) UNION ALL SELECT x, 0 FROM (VALUES (1)) t(x)) ORDER BY x, y
    -- an error: SanityCheckPlan

An input needs no key that is constant in it, or equal to another column of it. The union as a whole is then not sorted
by all keys: an error, or rows that are lost below a limit. So DataFusion isn't to know such things of a key.
"""

from __future__ import annotations

from ....algebra.feature import SET
from ....algebra.relation import Relation, Set
from ....algebra.traversal import ordinals, transformed
from ....lowering.builder import LoweringBuilder
from .computed_keys import keys_of_order
from .constants import constants, with_varying
from .equal_columns import repeated


def sort_by_all_keys(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with no key over a union that DataFusion may leave out of an input's order."""
    over_union: dict[Relation, bool] = {}

    def rule(relation: Relation) -> Relation:
        above = any(over_union[input] for input in relation.inputs)
        made = _with_all_keys(e, relation) if above else relation
        over_union[made] = above or isinstance(relation, Set)
        return made

    return transformed(root, rule, feature=SET)


def _with_all_keys(e: LoweringBuilder, relation: Relation) -> Relation:
    used = {ordinal for key in keys_of_order(relation) for ordinal in ordinals(key)}
    if not used:
        return relation
    (input,) = relation.inputs
    known = {n for n, is_known in enumerate(constants(e, input)) if is_known}
    return relation.with_inputs((with_varying(e, input, used & (known | repeated(input))),))
