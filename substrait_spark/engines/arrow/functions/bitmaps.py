"""Bitmaps, as bytes."""

from __future__ import annotations

from collections.abc import Mapping

from ..function import PythonFunction
from .rows import of_rows

FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_bitmap_count": of_rows(lambda bitmap: int.from_bytes(bitmap, "big").bit_count()),
}
