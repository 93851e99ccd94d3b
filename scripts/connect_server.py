"""A Spark Connect server of this machine, as Spark's own script starts one from the jars of PySpark."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pyspark

PROGRAM = "org.apache.spark.sql.connect.service.SparkConnectServer"

PATIENCE = 180
"""Seconds that a server may take to answer."""


class ConnectServer:
    """A running server, whose files are in a folder of its own. It listens at `port` of the loopback address."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.port = _free_port()
        self._process = _started(folder, self.port, settings)
        latest = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > latest:
                self.kill()
                raise RuntimeError("the Spark Connect server doesn't start")
            time.sleep(0.1)

    def _answers(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """End the server at once, with all that it has started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _started(folder: Path, port: int, settings: Mapping[str, str]) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    local = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        **settings,
    }
    options = [part for key, value in local.items() for part in ("--conf", f"{key}={value}")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK_", "SPARK_CONNECT"))}
    return subprocess.Popen(
        [str(home / "bin" / "spark-submit"), "--master", "local[1]", *options, "--class", PROGRAM, "spark-internal"],
        env=environment | {"SPARK_HOME": str(home)},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
