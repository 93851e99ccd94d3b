"""Java options under which short sessions of Spark take the least time: compile once, collect in one thread."""

from __future__ import annotations

import os

OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def use() -> None:
    """Let every JVM that Spark starts from here, or from a process below, have them."""
    for variable in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS"):
        os.environ.setdefault(variable, OPTIONS)
