"""The bytes that nested values are sorted by in DataFusion, over random types: they are in the order of the values."""

from __future__ import annotations

import itertools
from decimal import Decimal
from math import isnan
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from substrait_spark.engines.arrow.functions.order_keys import order_keys

LEAVES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [True, False],
    pa.int8(): [-128, -1, 0, 127],
    pa.int64(): [-(2**63), -1, 0, 1, 2**63 - 1],
    pa.float32(): [0.0, -0.0, float("nan"), 1.5, -1.5, -2.0],
    pa.float64(): [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 5e-324, -5e-324, -1.5],
    pa.decimal128(20, 3): [Decimal(n) for n in ("-12345678901234567.123", "-0.001", "0", "12345678901234567.123")],
    pa.string(): ["", "a", "a\0", "a\0b", "ab", "é", "\0", "\0\uffff"],
    pa.binary(): [b"", b"\0", b"\0\0", b"\0\xff", b"\xff"],
}
TYPES = st.recursive(
    st.sampled_from(list(LEAVES)),
    lambda parts: st.one_of(
        parts.map(pa.list_),
        st.lists(parts, min_size=1, max_size=3).map(
            lambda kinds: pa.struct([(f"f{n}", k) for n, k in enumerate(kinds)])
        ),
    ),
    max_leaves=5,
)


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    some: st.SearchStrategy[Any]
    if pa.types.is_struct(kind):
        some = st.fixed_dictionaries({field.name: values(field.type) for field in kind})
    elif pa.types.is_list(kind):
        some = st.lists(values(kind.value_type), max_size=3)
    else:
        some = st.sampled_from(LEAVES[kind])
    return st.none() | some


def order(left: Any, right: Any, kind: pa.DataType) -> int:
    """How Spark orders two values: below, at or above 0."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if pa.types.is_struct(kind):
        return next(filter(None, (order(left[f.name], right[f.name], f.type) for f in kind)), 0)
    if pa.types.is_list(kind):
        pairs = (order(a, b, kind.value_type) for a, b in zip(left, right, strict=False))
        return next(filter(None, pairs), (len(left) > len(right)) - (len(left) < len(right)))
    if isinstance(left, float) and (isnan(left) or isnan(right)):
        return isnan(left) - isnan(right)
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return bool(left > right) - bool(left < right)


@settings(max_examples=100, deadline=None)
@given(TYPES.flatmap(lambda kind: st.tuples(st.just(kind), st.lists(values(kind), min_size=2, max_size=12))))
def test_keys_are_in_the_order_of_the_values(drawn: tuple[pa.DataType, list[Any]]) -> None:
    kind, rows = drawn
    # A slice: what lies before it must not be read.
    keys = order_keys(pa.concat_arrays([pa.array(rows, kind)] * 2).slice(len(rows))).to_pylist()
    for (left, left_key), (right, right_key) in itertools.combinations(zip(rows, keys, strict=True), 2):
        if left is None or right is None:
            assert (left_key is None, right_key is None) == (left is None, right is None)
        else:
            assert (left_key > right_key) - (left_key < right_key) == order(left, right, kind)
