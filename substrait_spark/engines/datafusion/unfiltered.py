"""The rows of datasets and table providers as DataFusion's frames, below which no filter of a plan gets."""

from __future__ import annotations

from typing import Any

import pyarrow.dataset as pads
from datafusion import DataFrame, SessionContext

ALL_ROWS = 2**63 - 1
"""A limit that limits nothing."""


def unfiltered(ctx: SessionContext, source: Any) -> DataFrame:
    """The frame of all rows, below a limit that limits nothing.

    No filter of the plan gets below it: pyarrow's datasets drop NaN where `x > 2`, and nobody knows what other providers do.
    """
    if isinstance(source, DataFrame):
        return source.limit(ALL_ROWS)
    name = "substrait_spark_opened"
    if isinstance(source, pads.Dataset):
        ctx.register_dataset(name, source)
    else:
        ctx.register_table(name, source)
    try:
        return ctx.table(name).limit(ALL_ROWS)
    finally:
        ctx.deregister_table(name)
