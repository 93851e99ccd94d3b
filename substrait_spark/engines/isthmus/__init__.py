"""SQL of plans, for databases that read no Substrait: by Isthmus, substrait-java's converter over Apache Calcite, run by Java."""

from __future__ import annotations

from .archives import fetch
from .sql import DATABASES, to_sql

__all__ = ["DATABASES", "fetch", "to_sql"]
