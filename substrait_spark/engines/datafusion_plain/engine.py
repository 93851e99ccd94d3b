"""DataFusion without Spark's functions, as it is compared with Spark."""

from __future__ import annotations

from functools import partial

from ..datafusion.engine import rows
from ..engine import Engine

ENGINE = Engine("DataFusion without Spark's functions", "datafusion-plain", partial(rows, plain=True))
