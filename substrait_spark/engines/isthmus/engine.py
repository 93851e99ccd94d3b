"""DuckDB by SQL of Isthmus, as it is compared with Spark."""

from __future__ import annotations

from ..engine import Engine, by_execute

ENGINE = Engine("DuckDB", "isthmus", by_execute(f"{__package__}.run"))
