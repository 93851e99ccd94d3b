"""Releases of Spark."""

from __future__ import annotations

import re


def release(version: str) -> tuple[int, ...]:
    """The release of a version, (4, 1, 4) of "4.1.4" and of "4.1.4-SNAPSHOT"; empty where it says none."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def running() -> tuple[int, ...]:
    """The release of the Spark that PySpark here brings."""
    import pyspark

    return release(pyspark.__version__)
