"""Runs functions as PySpark's own Python worker does, in this process, so that arguments and results are converted as there.

Spark sends a worker Arrow batches and what it is to call. Here the worker's code, `pyspark.worker`, gets both by hand: it is of the
release of PySpark that is installed, and makes of a batch of arguments what that release makes of it.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...catalyst.versions import release
from ...user_functions.spark_function import (
    AGGREGATES,
    ARROW_BATCHED,
    COGROUPED_MAP_ARROW,
    COGROUPED_MAP_PANDAS,
    MAP_ARROW,
    MAP_PANDAS,
    METHODS,
    SparkFunction,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

Evaluate = Callable[[list[pa.RecordBatch]], pa.Array]
"""From batches of the arguments to the results; of an aggregate function from those of one group to its one result."""

Group = list[list[pa.RecordBatch]]
"""The batches that each input has of a group; of what is in no groups, all batches of the one input."""

EvaluateRows = Callable[[Iterable[Group]], Iterator[pa.RecordBatch]]
"""From groups to batches of one column, a struct of the columns that a function over rows gives."""


def evaluation(function: SparkFunction, arguments: StructType, time_zone: str) -> Evaluate:
    """What evaluates a function of arguments in columns of these types. `time_zone` is the session's."""
    call = _worker(function, list(range(len(arguments))), arguments, time_zone)
    is_aggregate = function.eval_type in AGGREGATES
    return lambda batches: _column(call([[batches]], is_aggregate))


def evaluation_over_rows(function: SparkFunction, offsets: Sequence[int], time_zone: str) -> EvaluateRows:
    """What evaluates a function over rows. `offsets` say which columns are keys and which are arguments, as Spark tells its workers."""
    from pyspark.sql.types import StructType

    call = _worker(function, offsets, StructType([]), time_zone)
    in_groups = function.eval_type not in (MAP_ARROW, MAP_PANDAS)
    return lambda groups: call(groups, in_groups)


def _worker(
    function: SparkFunction, offsets: Sequence[int], arguments: StructType, time_zone: str
) -> Callable[[Iterable[Group], bool], Iterator[pa.RecordBatch]]:
    """What has the worker's code call a function for groups, or for all batches where it isn't called for groups."""
    import pyspark.worker

    worker: Any = pyspark.worker
    version = release(pyspark.__version__)
    settings = {"spark.sql.session.timeZone": time_zone, **_settings(version)}
    called = _Called(function)
    if version < (4, 3):
        sent = _Message(version, function, offsets, arguments, settings).stream()
        settings_read = [worker.RunnerConf(sent), worker.EvalConf(sent)] if version >= (4, 2) else []
        return _over_stream(function, version, *worker.read_udfs(called, sent, function.eval_type, *settings_read))
    info = SimpleNamespace(udfs=[b""], args=list(offsets), kwargs={}, result_id=None)
    kinds = {"input_type": json.dumps(arguments.jsonValue())}
    read = worker.read_udfs(called, [info], function.eval_type, worker.RunnerConf(settings), worker.EvalConf(kinds))
    return _over_batches(function, read[0])


def _settings(version: tuple[int, ...]) -> dict[str, str]:
    """The settings that a release sends its workers, where they are not what workers take them for."""
    safely = version >= (4, 1)
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
        self,
        version: tuple[int, ...],
        function: SparkFunction,
        offsets: Sequence[int],
        arguments: StructType,
        settings: dict[str, str],
    ) -> None:
        self._written: list[bytes] = []
        input_type = json.dumps(arguments.jsonValue())
        self._settings(settings)
        if version >= (4, 2):
            self._settings({"input_type": input_type})
        elif version >= (4, 1) and function.eval_type == ARROW_BATCHED:
            self._text(input_type)
        if (4, 0) <= version < (4, 2):
            self._switch(False)  # no profiler
        has_names = version >= (4, 2) or (version >= (4, 0) and function.eval_type not in METHODS)
        self._number(1)
        self._number(len(offsets))
        for offset in offsets:
            self._number(offset)
            if has_names:
                self._switch(False)  # no argument by name
        self._number(1)
        if version >= (4, 2):
            self._written.append(struct.pack("!q", 0))  # the function's number, which profilers ask for

    def stream(self) -> io.BytesIO:
        return io.BytesIO(b"".join(self._written))

    def _settings(self, settings: dict[str, str]) -> None:
        self._number(len(settings))
        for name, value in settings.items():
            self._text(name)
            self._text(value)

    def _number(self, value: int) -> None:
        self._written.append(struct.pack("!i", value))

    def _switch(self, value: bool) -> None:
        self._written.append(struct.pack("!?", value))

    def _text(self, value: str) -> None:
        content = value.encode()
        self._number(len(content))
        self._written.append(content)


COGROUPED = (COGROUPED_MAP_ARROW, COGROUPED_MAP_PANDAS)


def _over_batches(
    function: SparkFunction, call: Callable[..., Iterator[pa.RecordBatch]]
) -> Callable[[Iterable[Group], bool], Iterator[pa.RecordBatch]]:
    def evaluate(groups: Iterable[Group], in_groups: bool) -> Iterator[pa.RecordBatch]:
        if function.eval_type in COGROUPED:
            return call(0, map(tuple, groups))
        return call(0, (iter(group[0]) for group in groups) if in_groups else (b for group in groups for b in group[0]))

    return evaluate


def _over_stream(
    function: SparkFunction, version: tuple[int, ...], call: Callable[..., Any], profiler: Any, reader: Any, writer: Any
) -> Callable[[Iterable[Group], bool], Iterator[pa.RecordBatch]]:
    def evaluate(groups: Iterable[Group], in_groups: bool) -> Iterator[pa.RecordBatch]:
        # Before Spark 4.1, a worker takes each batch of the one stream for a group, but for groups of two inputs.
        counted = in_groups and (version >= (4, 1) or function.eval_type in COGROUPED)
        content = _counted_streams(groups) if counted else _one_stream(groups, in_groups)
        results = io.BytesIO()
        writer.dump_stream(call(0, reader.load_stream(content)), results)
        if not results.tell():
            return iter(())
        results.seek(4)  # behind the mark that a stream of Arrow follows
        return iter(pa.ipc.open_stream(results))

    return evaluate


def _counted_streams(groups: Iterable[Group]) -> io.BytesIO:
    """For each group how many inputs there are, and a stream of each."""
    content = io.BytesIO()
    for group in groups:
        content.write(struct.pack("!i", len(group)))
        for batches in group:
            with pa.ipc.new_stream(content, batches[0].schema) as stream:
                for batch in batches:
                    stream.write_batch(batch)
    content.write(struct.pack("!i", 0))
    content.seek(0)
    return content


def _one_stream(groups: Iterable[Group], in_groups: bool) -> io.BytesIO:
    """All batches; groups are one each."""
    content = io.BytesIO()
    stream = None
    for (batches,) in groups:
        for batch in [_whole(batches)] if in_groups else batches:
            stream = stream or pa.ipc.new_stream(content, batch.schema)
            stream.write_batch(batch)
    if stream is None:
        stream = pa.ipc.new_stream(content, pa.schema([]))
    stream.close()
    content.seek(0)
    return content


def _whole(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The batches as one."""
    if len(batches) == 1:
        return batches[0]
    columns = [pa.concat_arrays(parts) for parts in zip(*[batch.columns for batch in batches], strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)


def _column(batches: Any) -> pa.Array:
    parts = [batch.column(0) for batch in batches]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
