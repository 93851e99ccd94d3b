"""Delta tables: a version by the table's folder, where its data files alone don't say the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.relation import DeltaTable
from ..catalyst import locations, tree
from .builder import RelationBuilder
from .columns import stored
from .output import Output

FILE_FORMAT = "org.apache.spark.sql.delta.DeltaParquetFileFormat"
"""Delta's format, which the reader leaves where files hold rows that were deleted, or columns by other names or types."""


def is_files(relation: Any) -> bool:
    """Whether the live files of a version are all that there is to say of its rows."""
    return isinstance(relation, tree.Node) and relation["fileFormat"] != FILE_FORMAT


def read(r: RelationBuilder, output: Sequence[tree.Expression], location: str, version: int) -> Output:
    """The rows of a version."""
    schema = stored(r, output, by_name=True)
    return schema.output(r, DeltaTable(locations.uri(location), version, schema.names, schema.types))
