"""What statements do that change rows of a table where they are, whether they have run or not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Unsupported
from .reader import Kept
from .write_commands import EVOLVES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_THE_WAY = {
    "unnamed": ("the table that it changes is known by its path alone", "Change a table of a catalog."),
    "evolving": EVOLVES,
    "defaulted": (
        "its condition is on a column with a default value for rows of older files, which Iceberg's reader in Spark leaves out",
        "Write these rows anew first (CALL system.rewrite_data_files), or name other columns.",
    ),
    "metadata": (
        "Spark plans it with metadata columns of its table, such as Iceberg's numbers of rows in Spark 3.5 (format version 3)",
        "Leave metadata columns out, run it in Spark, or export the query whose rows it uses.",
    ),
    "unknown": (
        "Spark plans it in a way that is not known",
        "Run it in Spark, or export the query whose rows it uses.",
    ),
}
"""What stands in the way of such statements, and what to do about it."""


class RowChange(NamedTuple):
    """A statement that changes rows of a table."""

    kind: str
    """DELETE, UPDATE, MERGE, or OVERWRITE where new rows take the place of some."""
    obstacle: str | None
    """What stands in the way, a word of `IN_THE_WAY`."""
    table: tuple[str, ...]
    """The parts of the table's name."""
    plan: Kept | None
    """A query over the table: RowChanges.java says of what, for each kind."""
    clauses: Mapping[str, Any]
    """Of a MERGE, the clauses of each group, and whether a row may be matched `once` at most. A clause tells whether it
    deletes rows, and the columns that it has values for."""

    @property
    def rows(self) -> Kept:
        """The query over the table. Raises `Unsupported` where there is none."""
        if self.plan is None:
            raise Unsupported(*IN_THE_WAY[self.obstacle or "unknown"])
        return self.plan


def row_change(java: Any, rows: Any, spark: SparkSession) -> RowChange:
    """A RowChanges.Change, with the plan of its rows where it has one."""
    plan = None if rows is None else Kept(rows, spark)
    clauses = json.loads(java.clauses() or "{}")
    return RowChange(java.kind(), java.obstacle(), tuple(java.table() or ()), plan, clauses)
