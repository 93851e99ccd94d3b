"""Acero, as it is compared with Spark."""

from __future__ import annotations

from ..engine import Engine, by_execute

ENGINE = Engine("Acero", "acero", by_execute(f"{__package__}.run"))
