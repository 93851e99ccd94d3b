"""Functions on maps, which DataFusion makes of a list of keys and a list of values."""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Lambda, ScalarFunction
from ....algebra.lists import unified
from ....algebra.traversal import moved_inwards
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ..structs import bare, element, field_of, guarded, null_like, size
from .collection import is_constant, positions
from .nested import map_of


def made_of(e: LoweringBuilder, call: ScalarFunction, keys: Expression, values: Expression) -> Expression:
    """The map that a call makes of keys and values. Its keys are never null."""
    if dict(call.options).get("duplicate_keys", "ERROR") != "ERROR":
        raise NotInDialect("spark.sql.mapKeyDedupPolicy lets the last of several equal keys win")
    return map_of(e, types.required(call.type), keys, values)


def from_arrays(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Lists of different lengths, null keys and equal keys raise."""
    keys, values = call.children()
    if _length(keys) is not None and _length(keys) == _length(values):
        return made_of(e, call, keys, values)
    shared, others = e.share(keys), e.share(values)
    differ = e.not_(e.equal(size(e, shared), size(e, others)))
    witness = size(e, others if is_constant(keys) else shared)  # what is constant is computed early, an error too
    error = e.raises("[MAP_KEY_VALUE_DIFF_SIZES]", types.I64, witness)
    checked = e.call("spark:slice", shared, e.if_then(differ, e.cast(error, types.I32), e.i32(1)), size(e, shared))
    return guarded(e, [shared, others], lambda: made_of(e, call, checked, others))


def _length(list: Expression) -> int | None:
    """How many elements a list has that is built in place; None for any other."""
    if isinstance(list, ScalarFunction) and list.declaration.name == "make_array":
        return len(list.arguments)
    return None


def from_entries(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A map of the keys and the values of entries; null where any entry is."""
    (list,) = call.children()
    entries, within = e.share(bare(list)), moved_inwards(e.share(bare(list)), 1)
    count = e.share(size(e, entries))

    def parts(ordinal: int) -> Expression:
        entry = element(e, within, FieldReference(0, types.I64, parameter=0))
        function = Lambda((types.I64,), field_of(e, entry, ordinal))
        return e.call("datafusion:array_transform", positions(e, count), function)

    complete = e.equal(size(e, e.call("datafusion:array_compact", entries)), count)
    made = made_of(e, call, parts(0), parts(1))
    return e.if_then(complete, made, null_like(e, made))


def concat(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A map of the entries of all; null where any map is."""
    shared = [e.share(bare(map)) for map in call.children()]
    keys = unified(e, *[e.call("spark:map_keys", map) for map in shared])
    values = unified(e, *[e.call("spark:map_values", map) for map in shared])
    joined = [e.call("datafusion:array_concat", *lists) for lists in (keys, values)]
    return guarded(e, shared, lambda: made_of(e, call, *joined))


REWRITES = rewrites(
    {
        "spark:map_concat": concat,
        "spark:map_from_arrays": from_arrays,
        "spark:map_from_entries": from_entries,
    }
)
