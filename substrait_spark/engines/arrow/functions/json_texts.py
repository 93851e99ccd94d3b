"""to_json: structs, lists and maps as Spark's JacksonGenerator writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from ...type_text import field_names
from ..function import Compute, PythonFunction, Signature
from .jackson import number_text, quoted

Writer = Callable[[Any], str]
"""From a value that is not null, as Arrow gives it to Python, to JSON."""


def writer(kind: pa.DataType, names: Iterator[str], with_nulls: bool) -> Writer:
    """What writes values of a type whose structs have fields of these names, depth-first."""
    if pa.types.is_struct(kind):
        return _struct(kind, names, with_nulls)
    if pa.types.is_map(kind):
        key, item = key_text(kind.key_type), writer(kind.item_type, names, with_nulls)
        return lambda entries: "{" + ",".join(f"{quoted(key(k))}:{_or_null(item, v)}" for k, v in entries) + "}"
    if pa.types.is_list(kind):
        element = writer(kind.value_type, names, with_nulls)
        return lambda elements: "[" + ",".join(_or_null(element, each) for each in elements) + "]"
    if pa.types.is_string(kind):
        return quoted
    if pa.types.is_boolean(kind):
        return _boolean
    return number_text if pa.types.is_float64(kind) else str


def _struct(kind: pa.DataType, names: Iterator[str], with_nulls: bool) -> Writer:
    fields = []
    for field in kind:
        label = quoted(next(names)) + ":"
        fields.append((field.name, label, writer(field.type, names, with_nulls)))

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
    writers: dict[tuple[str, bool], Writer] = {}

    def of_row(value: Any, schema: str, with_nulls: bool) -> str | None:
        if (schema, with_nulls) not in writers:
            writers[schema, with_nulls] = writer(kind, iter(field_names(schema)), with_nulls)
        return None if value is None else writers[schema, with_nulls](value)

    return lambda arrays, rows: pa.array(map(of_row, *[array.to_pylist() for array in arrays]), pa.string())


FUNCTIONS: Mapping[str, PythonFunction] = {"spark_to_json": PythonFunction(_to_json)}
