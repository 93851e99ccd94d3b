"""Mathematics that DataFusion does in other last digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..function import Compute, PythonFunction, Signature


def _of_doubles(function: Callable[[Any], Any]) -> PythonFunction:
    """A function of doubles, NaN where it has no value."""

    def computed(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        (array,) = arrays
        values = array.fill_null(0.0).to_numpy(zero_copy_only=False)
        with np.errstate(all="ignore"):
            return pa.array(function(values), pa.float64(), mask=array.is_null().to_numpy(zero_copy_only=False))

    def compute(_: Signature) -> Compute:
        return computed

    return PythonFunction(compute)


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_acosh": _of_doubles(np.arccosh),
    "spark_asinh": _of_doubles(np.arcsinh),
    "spark_atanh": _of_doubles(np.arctanh),
}
