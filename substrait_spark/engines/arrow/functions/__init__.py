"""Functions of Spark's that no composition of DataFusion's says exactly: computed here, from Arrow arrays to Arrow arrays.

One module a family, with a table `FUNCTIONS` by the names in `functions.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..function import PythonFunction
from . import (
    bitmaps,
    decimals,
    elements,
    encodings,
    hashes,
    json_paths,
    json_texts,
    json_values,
    numbers,
    numerals,
    order_keys,
    patterns,
    rounding,
    substrings,
    texts,
    timestamps,
    urls,
    vectors,
    zones,
)

FAMILIES = (
    bitmaps,
    decimals,
    elements,
    encodings,
    hashes,
    json_paths,
    json_texts,
    json_values,
    numbers,
    numerals,
    order_keys,
    patterns,
    rounding,
    substrings,
    texts,
    timestamps,
    urls,
    vectors,
    zones,
)

FUNCTIONS: Mapping[str, PythonFunction] = {
    name: function for family in FAMILIES for name, function in family.FUNCTIONS.items()
}
