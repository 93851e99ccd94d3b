"""A JVM that makes SQL of plans: started for the first of them, and ended with this process."""

from __future__ import annotations

import atexit
import importlib.resources
import os
import struct
import subprocess
import tempfile
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...connect.jvm import java
from ...errors import PlanningError, SubstraitSparkError
from .archives import archives

if TYPE_CHECKING:
    from importlib.abc import Traversable

SOURCE = "ToSql.java"

OPTIONS = (
    "-Xss256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dcalcite.default.charset=UTF-8",
    "-Dcalcite.default.nationalcharset=UTF-8",
    "-Dcalcite.default.collation.name=UTF-8$en_US",
)
"""Deep plans need a deep stack, and Calcite takes texts of Latin-1 alone unless it is told otherwise."""


class Converter:
    """A running JVM with Isthmus in it, which writes for one database. Calcite brings Janino, which compiles our source there."""

    def __init__(self, database: str, functions: Traversable) -> None:
        self.owner = os.getpid()
        with ExitStack() as undone:
            self._errors = undone.enter_context(tempfile.TemporaryFile())
            source = undone.enter_context(
                importlib.resources.as_file(importlib.resources.files(__package__).joinpath(SOURCE))
            )
            declared = undone.enter_context(importlib.resources.as_file(functions))
            self._process = subprocess.Popen(  # noqa: S603
                self._command(archives(), source, database, declared),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for Python; the JVM ends when its input does
            )
            self._opened = undone.pop_all()
        atexit.register(self.end)

    def _command(self, jars: Path, source: Path, database: str, functions: Path) -> list[str]:
        return [
            java(),
            *OPTIONS,
            "-cp",
            str(jars / "*"),
            "org.codehaus.janino.SimpleCompiler",
            str(source),
            "substrait_spark.ToSql",
            database,
            str(functions),
        ]

    @property
    def runs(self) -> bool:
        """Whether the JVM is there, and this process's own."""
        return self.owner == os.getpid() and self._process.poll() is None

    def sql(self, plan: bytes) -> str:
        """The query of a plan. Raises PlanningError with the reason where Isthmus has none."""
        pipe, answers = self._process.stdin, self._process.stdout
        assert pipe is not None  # noqa: S101 - both are pipes
        assert answers is not None  # noqa: S101
        with suppress(BrokenPipeError):
            pipe.write(struct.pack(">i", len(plan)) + plan)
            pipe.flush()
        head = answers.read(5)
        if len(head) < 5:
            self._errors.seek(0)
            told = self._errors.read().decode(errors="replace").strip()
            raise SubstraitSparkError(f"The JVM that makes SQL has ended: {told[:1000]}")
        made, length = struct.unpack(">?i", head)
        text: str = answers.read(length).decode()
        if not made:
            raise PlanningError(f"Isthmus makes no SQL of the plan: {text.partition(chr(10))[0]}")
        return text

    def end(self) -> None:
        """End the JVM."""
        atexit.unregister(self.end)
        if self.owner != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        self._opened.close()


_lock = threading.Lock()
_converters: dict[str, Converter] = {}


def sql(plan: bytes, database: str, functions: Traversable) -> str:
    """The query of a plan, by the JVM that this process has for a database; `functions` are the database's own."""
    with _lock:
        if database not in _converters or not _converters[database].runs:
            _converters[database] = Converter(database, functions)
        return _converters[database].sql(plan)
