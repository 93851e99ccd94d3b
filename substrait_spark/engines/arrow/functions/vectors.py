"""Vectors: lists of 32-bit floats, computed in double precision, for all rows of one length at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..function import Compute, PythonFunction, Signature
from .rows import of_rows

Numbers = Sequence[float | None]
Statistic = Callable[..., tuple[np.ndarray, np.ndarray | bool]]
"""From matrices, each with a vector in a row, to a number for each row, and whether it is known."""

LANES = 8
"""How many terms Spark adds up before it adds their sum to the total."""


def totals(terms: np.ndarray) -> np.ndarray:
    """The sum of each row, in the order in which Spark adds up."""
    rows, length = terms.shape
    whole = length // LANES * LANES
    lanes = np.add.accumulate(terms[:, :whole].reshape(rows, whole // LANES, LANES), axis=2)[:, :, -1]
    return np.add.accumulate(np.hstack((np.zeros((rows, 1)), lanes, terms[:, whole:])), axis=1)[:, -1]


# ---- lists as matrices


class Vectors:
    """Lists, of which those of one length make a matrix."""

    def __init__(self, lists: pa.Array) -> None:
        self.known = lists.is_valid().to_numpy(zero_copy_only=False)
        self.lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
        self._starts = lists.offsets.to_numpy()
        self._elements = lists.values.to_numpy(zero_copy_only=False)
        self._valid = lists.values.is_valid().to_numpy(zero_copy_only=False)

    def are_whole(self, rows: np.ndarray, length: int) -> np.ndarray:
        """Whether these lists, which have that length, have no null."""
        whole: np.ndarray = self._valid[self._places(rows, length)].all(axis=1)
        return whole

    def matrix(self, rows: np.ndarray, length: int) -> np.ndarray:
        """These lists, which have that length, in double precision."""
        elements: np.ndarray = self._elements[self._places(rows, length)]
        return elements.astype(np.float64)

    def _places(self, rows: np.ndarray, length: int) -> np.ndarray:
        places: np.ndarray = self._starts[rows][:, np.newaxis] + np.arange(length)
        return places


def _by_length(*lists: pa.Array) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """By their length, the rows in which no list is null or has a null: their places, and a matrix for each argument."""
    vectors = [Vectors(each) for each in lists]
    known = np.logical_and.reduce([each.known for each in vectors])
    lengths = vectors[0].lengths
    for other in vectors[1:]:
        for row in np.flatnonzero(known & (lengths != other.lengths))[:1]:
            sizes = f"{lengths[row]} and {other.lengths[row]}"
            raise ValueError(f"[VECTOR_DIMENSION_MISMATCH] vectors of {sizes} elements")
    for length in np.unique(lengths[known]):
        rows = np.flatnonzero(known & (lengths == length))
        rows = rows[np.logical_and.reduce([each.are_whole(rows, length) for each in vectors])]
        yield rows, [each.matrix(rows, length) for each in vectors]


def _numbers(rows: int, parts: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray | bool]]) -> pa.Array:
    """A number for each row, from parts that have the places of theirs, the numbers, and whether these are known; else null."""
    numbers, known = np.zeros(rows, np.float32), np.zeros(rows, bool)
    with np.errstate(all="ignore"):
        for places, found, are_known in parts:
            numbers[places], known[places] = found, are_known
    return pa.array(numbers, mask=~known)


def _of_lists(statistic: Statistic) -> PythonFunction:
    """A statistic of vectors of one length, null where one of them or an element is."""

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        return _numbers(rows, ((places, *statistic(*matrices)) for places, matrices in _by_length(*arrays)))

    return PythonFunction(lambda _: compute)


# ---- statistics


def _inner_product(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, bool]:
    return totals(left * right), True


def _cosine(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Null where a vector has no length."""
    sizes = np.sqrt(totals(left * left) * totals(right * right))
    return totals(left * right) / sizes, sizes != 0


def _distance(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, bool]:
    return np.sqrt(totals((left - right) ** 2)), True


# ---- norms, whose degree may be another in each row

NORMS: Mapping[float, Callable[[np.ndarray], np.ndarray]] = {
    1.0: lambda vectors: totals(np.abs(vectors)),
    2.0: lambda vectors: np.sqrt(totals(vectors * vectors)),
    np.inf: lambda vectors: np.max(np.abs(vectors), axis=1, initial=0.0),
}
"""The norms of vectors, by their degree."""


def _with_norms(lists: pa.Array, degrees: pa.Array) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows that have a norm: their places, their vectors and these norms."""
    asked = np.logical_and(*(each.is_valid().to_numpy(zero_copy_only=False) for each in (lists, degrees)))
    degree = degrees.fill_null(0.0).to_numpy()
    for unknown in set(degree[asked].tolist()) - NORMS.keys():
        raise ValueError(f"[INVALID_VECTOR_NORM_DEGREE] {unknown} is none of 1, 2 and infinity")
    for rows, (vectors,) in _by_length(lists):
        for each, norm in NORMS.items():
            chosen = asked[rows] & (degree[rows] == each)
            yield rows[chosen], vectors[chosen], norm(vectors[chosen])


def _norm(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
    return _numbers(rows, ((places, norms, True) for places, _, norms in _with_norms(*arrays)))


def _normalized(signature: Signature) -> Compute:
    """Null for a vector of no length, but for one of no elements."""

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        normalized: list[np.ndarray | None] = [None] * rows
        with np.errstate(all="ignore"):
            for places, vectors, norms in _with_norms(*arrays):
                known = (norms != 0) | (vectors.shape[1] == 0)
                scaled = (vectors / norms[:, np.newaxis]).astype(np.float32)
                for place in np.flatnonzero(known):
                    normalized[places[place]] = scaled[place]
        return pa.array(normalized, signature.arrow_result)

    return compute


# ---- sums and means of vectors


def _counted(vectors: Sequence[Numbers]) -> Any:
    """The vectors that have no null, in 32-bit floats; None without one."""
    counted = [np.array(vector, np.float32) for vector in vectors if None not in vector]
    lengths = {len(vector) for vector in counted}
    if len(lengths) > 1:
        raise ValueError(f"[VECTOR_DIMENSION_MISMATCH] vectors of {min(lengths)} and {max(lengths)} elements")
    return np.stack(counted) if counted else None


def _sum(vectors: Sequence[Numbers]) -> Any:
    counted = _counted(vectors)
    with np.errstate(all="ignore"):
        return None if counted is None else np.add.accumulate(counted, axis=0)[-1]


def _mean(vectors: Sequence[Numbers]) -> Any:
    """The mean, which each vector moves by its share of the distance."""
    counted = _counted(vectors)
    if counted is None:
        return None
    mean = counted[0]
    with np.errstate(all="ignore"):
        for number, vector in enumerate(counted[1:], 2):
            mean = mean + (vector - mean) * (np.float32(1) / np.float32(number))
    return mean


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_vector_avg": of_rows(_mean),
    "spark_vector_cosine_similarity": _of_lists(_cosine),
    "spark_vector_inner_product": _of_lists(_inner_product),
    "spark_vector_l2_distance": _of_lists(_distance),
    "spark_vector_norm": PythonFunction(lambda _: _norm),
    "spark_vector_normalize": PythonFunction(_normalized),
    "spark_vector_sum": of_rows(_sum),
}
