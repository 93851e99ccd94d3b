"""Spark as an engine: running canonical plans, as the specification means them, in a session of the caller's."""

from .run import execute

__all__ = ["execute"]
