"""Bitmaps, as bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..function import PythonFunction
from .rows import of_rows

SIZE = 4096
"""The bytes of a bitmap that an aggregate makes."""


def _constructed(positions: Sequence[int]) -> bytes:
    """The bitmap in which the bits at some positions are set."""
    bits = np.zeros(SIZE * 8, np.uint8)
    for position in positions:
        if not 0 <= position < len(bits):
            raise ValueError(f"[INVALID_BITMAP_POSITION] {position} is not from 0 to {len(bits) - 1}")
        bits[position] = 1
    return np.packbits(bits, bitorder="little").tobytes()


def _merged(operation: Callable[[int, int], int], empty: bytes) -> PythonFunction:
    """Bitmaps merged byte by byte, each cut or filled up with zeros."""

    def compute(bitmaps: Sequence[bytes]) -> bytes:
        found = int.from_bytes(empty, "big")
        for bitmap in bitmaps:
            found = operation(found, int.from_bytes(bitmap[:SIZE].ljust(SIZE, b"\0"), "big"))
        return found.to_bytes(SIZE, "big")

    return of_rows(compute)


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_bitmap_and_agg": _merged(int.__and__, b"\xff" * SIZE),
    "spark_bitmap_construct_agg": of_rows(_constructed),
    "spark_bitmap_count": of_rows(lambda bitmap: int.from_bytes(bitmap, "big").bit_count()),
    "spark_bitmap_or_agg": _merged(int.__or__, b"\0" * SIZE),
}
