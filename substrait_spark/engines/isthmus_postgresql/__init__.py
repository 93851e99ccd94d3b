"""SQL of Isthmus for PostgreSQL, and plans that run there by it."""

from __future__ import annotations

from .run import execute

__all__ = ["execute"]
