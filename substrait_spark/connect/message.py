"""The message that a Connect frame holds, and what in it can't be known outside of its server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from google.protobuf.message import Message

from ..algebra.message_walk import messages
from ..errors import Unsupported

SERVER_ONLY = {
    "cached_local_relation": (
        "rows of a createDataFrame that are kept on the server",
        "Write them as a table or as files, and read that.",
    ),
    "cached_remote_relation": (
        "rows that are kept on the server (a checkpoint)",
        "Convert the DataFrame as it was before the checkpoint.",
    ),
    "ml_relation": ("what a model makes on the server", "Write the rows as a table, and read that."),
    "catalog": ("what the server's catalog holds", "Convert the query that reads the tables."),
    "extension": ("a part of a plug-in of the server's", "Write the rows as a table, and read that."),
    "common_inline_user_defined_data_source": ("a data source in Python", "Write the rows as a table, and read that."),
    "common_inline_user_defined_table_function": (
        "a table function in Python",
        "Write the rows as a table, and read that.",
    ),
    "with_watermark": ("a watermark of a stream", "Export the batch query that reads the same source."),
    "crosstab": ("a table whose columns hang on the rows", "Count by both columns with groupBy."),
    "cov": ("a covariance that is computed at once", "Use functions.covar_samp."),
    "corr": ("a correlation that is computed at once", "Use functions.corr."),
    "approx_quantile": ("quantiles that are computed at once", "Use functions.percentile_approx."),
    "transpose": ("a table whose columns hang on the rows", "Use groupBy with pivot and its values."),
    "typed_aggregate_expression": ("an aggregate function of a user's in Scala", "Use Spark's own functions."),
}
"""Parts of messages by the names of their fields: what they are, and what to do."""

SERVER_ONLY["chunked_cached_local_relation"] = SERVER_ONLY["cached_local_relation"]

UNNAMED_PIVOT = (
    "pivot without values asks the data for them, while the plan is made",
    "Give pivot the values that the new columns are for.",
)

STREAM = ("it is a streaming DataFrame", "Export the batch query that reads the same source.")


def obstacles(message: Message) -> list[Unsupported]:
    """What in a message only its server knows, or finds out by a job; each once."""
    by_kind: dict[str, Unsupported] = {}
    for part in cast("Iterator[Any]", messages(message)):
        fields = fields_of(part)
        for name, (what, hint) in SERVER_ONLY.items():
            if name in fields:
                by_kind[what] = Unsupported(f"it has {what}, which only the server knows", hint)
        if "pivot" in fields and not part.pivot.values:
            by_kind["pivot"] = Unsupported(*UNNAMED_PIVOT)
        if part.DESCRIPTOR.full_name.endswith(".Read") and part.is_streaming:
            by_kind["stream"] = Unsupported(*STREAM)
        if "java_udf" in fields or "scalar_scala_udf" in fields:
            by_kind["udf"] = Unsupported(
                f"it has the function {part.function_name or 'of a user'} in Java or Scala",
                "Use Spark's own functions.",
            )
    return list(by_kind.values())


def fields_of(message: Message) -> set[str]:
    """The names of the fields that are set in a message."""
    return {field.name for field, _ in message.ListFields()}


_CALL = re.compile(r"(\w+)`?\s*\(")

TEXTS = ("query", "expression")
"""The fields that hold SQL text."""


def function_names(message: Message) -> list[str]:
    """The names in a message, and in SQL text in it, that may be functions'."""
    names: set[str] = set()
    for part in cast("Iterator[Any]", messages(message)):
        for field, value in part.ListFields():
            if field.name == "function_name":
                names.add(value)
            elif field.name in TEXTS and isinstance(value, str):
                names.update(_CALL.findall(value))
    return sorted(name for name in names if name.isidentifier())


FORMATS = {
    "parquet": "parquet.ParquetFileFormat",
    "orc": "orc.OrcFileFormat",
    "csv": "csv.CSVFileFormat",
    "json": "json.JsonFileFormat",
    "text": "text.TextFileFormat",
}
"""Spark's formats of files by name, and their classes."""

FILES = "substrait_spark_files_{}"
"""The names of the views that stand for reads of files."""

FILES_QUALIFIER = re.compile(FILES.format(r"\d+") + r"\.")
"""Such a name before a column's, which no user has given."""


def unknown_format(name: str) -> Unsupported:
    """Why a source can't be read that is not of files."""
    return Unsupported(
        f"a source of the format {name!r} can't be read from a plan: only the server knows it",
        "Save the rows as Parquet or as a table and read that.",
    )


def name_files(message: Message) -> list[tuple[str, Any]]:
    """Give each read of files in a message the name of a view, in place of its paths: the names, and the reads that they had.

    Raises Unsupported where a source is not of files.
    """
    named: list[tuple[str, Any]] = []
    for part in cast("Iterator[Any]", messages(message)):
        if "read" not in fields_of(part) or "data_source" not in fields_of(part.read):
            continue
        alone = type(part)()
        alone.CopyFrom(part)
        source = alone.read.data_source
        if source.format.lower() not in {"", *FORMATS}:
            raise unknown_format(source.format)
        name = FILES.format(len(named))
        part.read.named_table.unparsed_identifier = name
        named.append((name, alone))
    return named
