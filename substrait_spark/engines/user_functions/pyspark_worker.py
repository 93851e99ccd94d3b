"""Runs functions as PySpark's own Python worker does, in this process, so that arguments and results are converted as there.

Spark sends a worker Arrow batches and what it is to call. Here the worker's code, `pyspark.worker`, gets both by hand: it is of the
release of PySpark that is installed, and makes of a batch of arguments what that release makes of it.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...catalyst.versions import release
from ...user_functions.spark_function import AGGREGATES, ARROW_BATCHED, SparkFunction

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

Evaluate = Callable[[list[pa.RecordBatch]], pa.Array]
"""From batches of the arguments to the results; of an aggregate function from those of one group to its one result."""


def evaluation(function: SparkFunction, arguments: StructType, time_zone: str) -> Evaluate:
    """What evaluates a function of arguments in columns of these types. `time_zone` is the session's."""
    import pyspark.worker

    worker: Any = pyspark.worker

    version = release(pyspark.__version__)
    settings = {"spark.sql.session.timeZone": time_zone, **_settings(version)}
    called = _Called(function)
    if version < (4, 3):
        read = worker.read_udfs(called, _Message(version, function, arguments, settings).stream(), function.eval_type)
        return _over_stream(function, version, *read)
    info = SimpleNamespace(udfs=[b""], args=list(range(len(arguments))), kwargs={}, result_id=None)
    kinds = {"input_type": json.dumps(arguments.jsonValue())}
    read = worker.read_udfs(called, [info], function.eval_type, worker.RunnerConf(settings), worker.EvalConf(kinds))
    return _over_batches(function, read[0])


def _settings(version: tuple[int, ...]) -> dict[str, str]:
    """The settings that a release sends its workers, where they are not what workers take them for."""
    safely = version >= (4, 2)
    return {"spark.sql.execution.pandas.convertToArrowArraySafely": str(safely).lower()}


class _Called:
    """What the worker takes for the serializer of what it is sent: it gives the function that the caller has."""

    def __init__(self, function: SparkFunction) -> None:
        self._command = (function.function, function.return_type)

    def loads(self, content: bytes) -> Any:
        return self._command

    def _read_with_length(self, stream: Any) -> Any:
        return self._command


class _Message:
    """What a worker before Spark 4.3 is sent of a function before the batches."""

    def __init__(
        self, version: tuple[int, ...], function: SparkFunction, arguments: StructType, settings: dict[str, str]
    ) -> None:
        self._written: list[bytes] = []
        self._number(len(settings))
        for name, value in settings.items():
            self._text(name)
            self._text(value)
        if version >= (4, 1) and function.eval_type == ARROW_BATCHED:
            self._text(json.dumps(arguments.jsonValue()))
        if version >= (4, 0):
            self._switch(False)  # no profiler
        self._number(1)
        self._number(len(arguments))
        for offset in range(len(arguments)):
            self._number(offset)
            if version >= (4, 0):
                self._switch(False)  # no argument by name
        self._number(1)

    def stream(self) -> io.BytesIO:
        return io.BytesIO(b"".join(self._written))

    def _number(self, value: int) -> None:
        self._written.append(struct.pack("!i", value))

    def _switch(self, value: bool) -> None:
        self._written.append(struct.pack("!?", value))

    def _text(self, value: str) -> None:
        content = value.encode()
        self._number(len(content))
        self._written.append(content)


def _over_batches(function: SparkFunction, call: Callable[..., Iterator[pa.RecordBatch]]) -> Evaluate:
    is_aggregate = function.eval_type in AGGREGATES

    def evaluate(batches: list[pa.RecordBatch]) -> pa.Array:
        return _column(call(0, iter([iter(batches)]) if is_aggregate else iter(batches)))

    return evaluate


def _over_stream(
    function: SparkFunction, version: tuple[int, ...], call: Callable[..., Any], profiler: Any, reader: Any, writer: Any
) -> Evaluate:
    in_groups = version >= (4, 1) and function.eval_type in AGGREGATES

    def evaluate(batches: list[pa.RecordBatch]) -> pa.Array:
        content = io.BytesIO()
        if in_groups:
            content.write(struct.pack("!i", 1))
        with pa.ipc.new_stream(content, batches[0].schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
        if in_groups:
            content.write(struct.pack("!i", 0))
        content.seek(0)
        results = io.BytesIO()
        writer.dump_stream(call(0, reader.load_stream(content)), results)
        results.seek(4)  # behind the mark that a stream of Arrow follows
        return _column(pa.ipc.open_stream(results))

    return evaluate


def _column(batches: Any) -> pa.Array:
    parts = [batch.column(0) for batch in batches]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
