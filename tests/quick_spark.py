"""Options and settings under which short sessions and small queries of Spark take the least time."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import class_archive
from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

COMPILED_ONCE = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -Xss4m"
"""Java options: compile once, and keep it; collect in one thread; a stack for Spark's planner, which recurses deeply."""

SMALL_PAGES = "-Dspark.buffer.pageSize=1m"
"""Each sort, aggregate and join takes a page of memory, of up to 64 MB, for its few rows."""

OPTIONS = f"{COMPILED_ONCE} {SMALL_PAGES} -XX:SharedArchiveFile={class_archive.PATH} -Xlog:disable"
"""Java options with the archive of classes, about which nothing is said where it can't be used."""

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Small queries take less time to interpret than to compile."""

SETTINGS = {
    **INTERPRETED,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ui.explainMode": "simple",  # each run is described to a user interface that isn't there
}
"""Settings of sessions. Spark's logical plans hang on none of them."""


def use() -> None:
    """Let every JVM that Spark starts from here, or from a process below, have the options; and ask it little.

    Spark 3.5 is in ANSI mode where this variable says so; from 4.0 on, all are.
    """
    os.environ.setdefault("SPARK_ANSI_SQL_MODE", "true")
    os.environ.setdefault("SPARK_SUBMIT_OPTS", OPTIONS)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", COMPILED_ONCE)
    for named in (JVMView, JavaPackage, JavaClass):
        named.__getattr__ = _remembering(named.__getattr__)


def _remembering(ask: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Ask the JVM once for each name: for `org`, it looks for a class of that name in all of Spark's archives."""

    def found(owner: Any, name: str) -> Any:
        value = ask(owner, name)
        if isinstance(value, JavaPackage | JavaClass | JavaMember):
            vars(owner)[name] = value
        return value

    return found
