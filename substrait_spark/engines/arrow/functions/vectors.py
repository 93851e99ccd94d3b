"""Vectors: lists of 32-bit floats, computed in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..function import PythonFunction
from .rows import of_rows

Numbers = Sequence[float | None]

LANES = 8
"""How many terms Spark adds up before it adds their sum to the total."""


def total(terms: np.ndarray) -> float:
    """The sum, in the order in which Spark adds up."""
    whole = len(terms) // LANES * LANES
    lanes = np.add.accumulate(terms[:whole].reshape(-1, LANES), axis=1)[:, -1]
    return float(np.add.accumulate(np.concatenate(([0.0], lanes, terms[whole:])))[-1])


def _of_two(statistic: Callable[[np.ndarray, np.ndarray], float | None]) -> Callable[[Numbers, Numbers], float | None]:
    """A statistic of two vectors of one length, null where an element is."""

    def compute(left: Numbers, right: Numbers) -> float | None:
        if len(left) != len(right):
            raise ValueError(f"[VECTOR_DIMENSION_MISMATCH] vectors of {len(left)} and {len(right)} elements")
        if None in left or None in right:
            return None
        with np.errstate(all="ignore"):
            found = statistic(np.array(left, np.float64), np.array(right, np.float64))
            return None if found is None else float(np.float32(found))

    return compute


def _inner_product(left: np.ndarray, right: np.ndarray) -> float:
    return total(left * right)


def _cosine(left: np.ndarray, right: np.ndarray) -> float | None:
    sizes = np.sqrt(np.float64(total(left * left)) * total(right * right))
    return float(np.float64(total(left * right)) / sizes) if len(left) and sizes != 0 else None


def _distance(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.sqrt(total((left - right) ** 2)))


def _norm_of(values: np.ndarray, degree: float) -> float:
    if degree == 1:
        return total(np.abs(values))
    if degree == 2:
        return float(np.sqrt(total(values * values)))
    if degree == np.inf:
        return float(np.max(np.abs(values), initial=0.0))
    raise ValueError(f"[INVALID_VECTOR_NORM_DEGREE] {degree} is none of 1, 2 and infinity")


def _norm(values: Numbers, degree: float) -> float | None:
    with np.errstate(all="ignore"):
        found = np.float32(_norm_of(np.array([] if None in values else values, np.float64), degree))
    return None if None in values else float(found)


def _normalized(values: Numbers, degree: float) -> Any:
    with np.errstate(all="ignore"):
        numbers = np.array([] if None in values else values, np.float64)
        norm = _norm_of(numbers, degree)
        if None in values or (len(values) and norm == 0):
            return None
        return (numbers / np.float64(norm)).astype(np.float32)


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
    "spark_vector_cosine_similarity": of_rows(_of_two(_cosine)),
    "spark_vector_inner_product": of_rows(_of_two(_inner_product)),
    "spark_vector_l2_distance": of_rows(_of_two(_distance)),
    "spark_vector_norm": of_rows(_norm),
    "spark_vector_normalize": of_rows(_normalized),
    "spark_vector_sum": of_rows(_sum),
}
