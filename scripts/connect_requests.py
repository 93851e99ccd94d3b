"""How often a Spark Connect server is asked something."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import grpc  # type: ignore[import-untyped]

ASKED = ("AnalyzePlan", "Config", "ExecutePlan")
"""The methods of a server that answer questions: the others keep a session and release what was answered."""

Answer = TypeVar("Answer")


class Requests(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):  # type: ignore[misc]
    """Counts what a server is asked."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def session(self, url: str) -> Any:
        """The process's session of the server at a URL, whose requests are counted."""
        from pyspark.sql.connect.client import DefaultChannelBuilder
        from pyspark.sql.connect.session import SparkSession

        # By this, PySpark's functions know which kind of session they are for: `remote` sets it, a channel doesn't.
        os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
        channel = DefaultChannelBuilder(url)
        channel.add_interceptor(self)
        return SparkSession.builder.channelBuilder(channel).getOrCreate()

    def during(self, act: Callable[[], Any]) -> int:
        """How many questions an act takes."""
        self._asked.clear()
        act()
        return sum(self._asked[method] for method in ASKED)

    def intercept_unary_unary(self, continuation: Callable[..., Answer], details: Any, request: Any) -> Answer:
        return self._counted(continuation, details, request)

    def intercept_unary_stream(self, continuation: Callable[..., Answer], details: Any, request: Any) -> Answer:
        return self._counted(continuation, details, request)

    def _counted(self, continuation: Callable[..., Answer], details: Any, request: Any) -> Answer:
        self._asked[details.method.rpartition("/")[2]] += 1
        return continuation(details, request)
