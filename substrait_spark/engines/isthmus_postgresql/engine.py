"""PostgreSQL by SQL of Isthmus, as it is compared with Spark."""

from __future__ import annotations

from ..engine import Engine, by_execute

ENGINE = Engine("PostgreSQL", "isthmus-postgresql", by_execute(f"{__package__}.run"))
