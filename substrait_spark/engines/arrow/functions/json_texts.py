"""to_json: structs, lists and maps as Spark's JacksonGenerator writes them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from ...datafusion.functions.structured_text import by_lower_name
from ...type_text import field_names
from ..function import Compute, PythonFunction, Signature
from .jackson import number_text, quoted
from .json_times import Times, counts, is_time, time_writer

Writer = Callable[[Any], str]
"""From a value that is not null, as Arrow gives it to Python, to JSON. Dates and timestamps are integers."""


def writer(kind: pa.DataType, names: Iterator[str], with_nulls: bool, times: Times) -> Writer:
    """What writes values of a type whose structs have fields of these names, depth-first."""
    if pa.types.is_struct(kind):
        return _struct(kind, names, with_nulls, times)
    if pa.types.is_map(kind):
        key, item = key_text(kind.key_type), writer(kind.item_type, names, with_nulls, times)
        return lambda entries: "{" + ",".join(f"{quoted(key(k))}:{_or_null(item, v)}" for k, v in entries) + "}"
    if pa.types.is_list(kind):
        element = writer(kind.value_type, names, with_nulls, times)
        return lambda elements: "[" + ",".join(_or_null(element, each) for each in elements) + "]"
    if pa.types.is_string(kind):
        return quoted
    if is_time(kind):
        write = time_writer(kind, times)
        return lambda count: quoted(write(count))
    if pa.types.is_binary(kind):
        return lambda value: f'"{b64encode(value).decode()}"'
    if pa.types.is_boolean(kind):
        return _boolean
    return number_text if pa.types.is_float64(kind) else str


def _struct(kind: pa.DataType, names: Iterator[str], with_nulls: bool, times: Times) -> Writer:
    fields = []
    for field in kind:
        label = quoted(next(names)) + ":"
        fields.append((field.name, label, writer(field.type, names, with_nulls, times)))

    def write(struct: Mapping[str, Any]) -> str:
        parts = [
            label + _or_null(write, struct[name])
            for name, label, write in fields
            if with_nulls or struct[name] is not None
        ]
        return "{" + ",".join(parts) + "}"

    return write


def key_text(kind: pa.DataType) -> Callable[[Any], str]:
    """What writes the keys of a map, before they are quoted."""
    return _boolean if pa.types.is_boolean(kind) else str


def _or_null(write: Writer, value: Any) -> str:
    return "null" if value is None else write(value)


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _to_json(signature: Signature) -> Compute:
    kind = signature.arrow_arguments[0]

    @cache
    def of_options(schema: str, zone: str, *pairs: str) -> Writer:
        options = by_lower_name(pairs)
        with_nulls = options.get("ignorenullfields", "true").lower() == "false"
        return writer(kind, iter(field_names(schema)), with_nulls, Times(zone, options))

    def of_row(value: Any, *how: str) -> str | None:
        return None if value is None else of_options(*how)(value)

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        values, *how = arrays
        columns = [values.cast(counts(kind)), *how]
        return pa.array(map(of_row, *[column.to_pylist() for column in columns]), pa.string())

    return compute


FUNCTIONS: Mapping[str, PythonFunction] = {"spark_to_json": PythonFunction(_to_json)}
