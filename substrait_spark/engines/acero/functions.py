"""Functions that Acero has by their names in PyArrow alone: over arrays, as the extension file of the dialect declares them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ...extensions import registry
from ..arrow.function import PythonFunction, over_arrays
from ..arrow.functions import FUNCTIONS as SHARED


def _matches(texts: pa.Array, pattern: pa.Array) -> pa.Array:
    return pc.match_substring_regex(texts, pattern[0].as_py()) if len(texts) else pa.array([], pa.bool_())


def _part(texts: pa.Array, start: pa.Array, length: pa.Array) -> pa.Array:
    if not len(texts):
        return texts
    first, count = start[0].as_py(), length[0].as_py()
    return pc.utf8_slice_codeunits(texts, first, first + count)


def _length(texts: pa.Array) -> pa.Array:
    return pc.utf8_length(texts).cast(pa.int64())


OWN: Mapping[str, PythonFunction] = {
    "length": PythonFunction(over_arrays(_length)),
    "matches": PythonFunction(over_arrays(_matches)),
    "part": PythonFunction(over_arrays(_part)),
}

FUNCTIONS: Mapping[tuple[str, str], PythonFunction] = {
    (registry.urn(alias), name): function
    for alias, listed in (("acero", OWN), ("arrow", SHARED))
    for name, function in listed.items()
}
"""By URN and name, all that plans for Acero may call."""
