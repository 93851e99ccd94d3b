"""DataFusion beside Spark, as it is compared with Spark."""

from __future__ import annotations

from ..datafusion.engine import rows
from ..engine import Engine

ENGINE = Engine("DataFusion with Catalyst", "datafusion-with-catalyst", rows)
