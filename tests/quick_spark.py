"""Options and settings under which short sessions and small queries of Spark take the least time."""

from __future__ import annotations

import os

OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java options: compile once, collect in one thread."""

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Small queries take less time to interpret than to compile."""

SETTINGS = {**INTERPRETED, "spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}
"""Settings of sessions. Spark's logical plans hang on none of them."""


def use() -> None:
    """Let every JVM that Spark starts from here, or from a process below, have the options."""
    for variable in ("SPARK_SUBMIT_OPTS", "SPARK_LAUNCHER_OPTS"):
        os.environ.setdefault(variable, OPTIONS)
