"""A JVM of this process's own, with Spark's classes: started without a network, and ended with the process."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import struct
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ..errors import UnsupportedSessionError

JARS_NEEDED = (
    "Spark Connect frames are planned with Spark's own classes, and there are no jars of Spark 4 {where}. "
    "Install `pyspark` in place of a client without jars, or set SPARK_HOME to a Spark of the server's version "
    "or to the `pyspark` folder of an environment that has one."
)

NO_JAVA = (
    "Spark Connect frames are planned in a JVM, and Java can't be started: install Java 17 or later, or set JAVA_HOME."
)

PATIENCE = 120
"""Seconds that the JVM may take to answer."""

OPENED = """
    java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent
    java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar
""".split()
"""The packages of the JDK that Spark opens for itself (its class JavaModuleOptions)."""

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    # A name that is a path names a file of the server's, not one of this machine.
    "spark.sql.runSQLOnFiles": "false",
}


class PlannerJvm:
    """A running JVM: `gateway` is py4j's way into it, `version` its Spark's."""

    def __init__(self) -> None:
        home, self.version = spark_home()
        self._owner = os.getpid()
        with ExitStack() as undone:  # where the JVM doesn't start, or an interrupt comes before it has
            self._folder = Path(tempfile.mkdtemp(prefix="substrait-spark-"))
            undone.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self._process = self._started(home)
            undone.callback(self._process.kill)
            self.gateway = self._gateway()
            undone.pop_all()
        atexit.register(self.end)

    def _started(self, home: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603
            self._command(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._environment(home),
            cwd=self._folder,
            # Ctrl-C is for Python; the JVM ends when its input does.
            start_new_session=True,
        )

    def _command(self, home: Path) -> list[str]:
        local = {"spark.local.dir": self._folder, "spark.sql.warehouse.dir": self._folder / "warehouse", **SETTINGS}
        return [
            java(),
            "-Xss4m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Djava.io.tmpdir={self._folder}",
            *(f"-D{key}={value}" for key, value in local.items()),
            "-XX:+IgnoreUnrecognizedVMOptions",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
            "-Djdk.reflect.useDirectMethodHandle=false",
            "-cp",
            str(home / "jars" / "*"),
            "org.apache.spark.api.python.PythonGatewayServer",
        ]

    def _environment(self, home: Path) -> dict[str, str]:
        # Settings of Spark's in the environment are for the user's sessions.
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "HADOOP_"))
        }
        return {
            **kept,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._connection_file),
        }

    @property
    def _connection_file(self) -> Path:
        return self._folder / "connection"

    def _gateway(self) -> Any:
        from py4j.java_gateway import GatewayParameters, JavaGateway

        latest = time.monotonic() + PATIENCE
        while not self._connection_file.exists():
            if self._process.poll() is not None or time.monotonic() > latest:
                raise UnsupportedSessionError("The JVM that plans Spark Connect frames doesn't start.")
            time.sleep(0.02)
        content = self._connection_file.read_bytes()
        port, length = struct.unpack("!ii", content[:8])
        secret = content[8 : 8 + length].decode()
        return JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret, auto_convert=True))

    @property
    def runs(self) -> bool:
        """Whether the JVM is there, and this process's own."""
        return self._owner == os.getpid() and self._process.poll() is None

    def end(self) -> None:
        """End the JVM, and remove what it has kept on disk."""
        atexit.unregister(self.end)
        if self._owner != os.getpid():
            return
        with suppress(Exception):
            self.gateway.shutdown()
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def java() -> str:
    """The Java that Spark would use."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if path is None:
        raise UnsupportedSessionError(NO_JAVA)
    return path


def spark_home() -> tuple[Path, str]:
    """The folder of a Spark whose jars have the Connect planner, and its version."""
    import pyspark

    given = os.environ.get("SPARK_HOME")
    folders = [Path(given)] if given else [Path(pyspark.__file__).parent]
    for folder in folders:
        for jar in (folder / "jars").glob("spark-connect_*.jar"):
            if version := re.fullmatch(r"spark-connect_[\d.]+-(.+)\.jar", jar.name):
                return folder, version.group(1)
    where = "in SPARK_HOME" if given else "beside the installed `pyspark`"
    raise UnsupportedSessionError(JARS_NEEDED.format(where=where))
