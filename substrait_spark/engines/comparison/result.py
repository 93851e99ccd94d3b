"""What a comparison found, as an object and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from ...errors import SubstraitSparkError
from ...errors.quotation import identifier, printable, shortened
from ...explain.html_text import marked_lines

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 5
"""How many differing rows of each side are shown."""

LONGEST_ERROR = 1000
"""How many characters of an error are shown: DataFusion's may hold the whole plan."""


class ColumnDifference(NamedTuple):
    """A column by its position, from 0, with its name and type on either side; empty where a side has no such column."""

    position: int
    in_spark: str
    in_engine: str


class OutOfOrder(NamedTuple):
    """The first position, from 0, at which what the query orders by isn't the same, and what it is on either side."""

    position: int
    in_spark: str
    in_engine: str


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """The rows of a query in Spark beside those of a plan in an engine: true when both have the same. As text, or as the
    value of a notebook's cell, the first differences.
    """

    engine: str
    """What ran the plan, as the text calls it."""
    spark_rows: int | None = None
    """How many rows Spark has; None where it raises."""
    engine_rows: int | None = None
    """How many rows the engine has; None where it raises."""
    columns: tuple[ColumnDifference, ...] = ()
    """The columns whose names or types differ."""
    only_in_spark: pa.Table | None = None
    """All rows of Spark's without a partner in the engine, in Spark's order; None where there are none."""
    only_in_engine: pa.Table | None = None
    """All rows of the engine's without a partner in Spark; None where there are none."""
    differing: tuple[str, ...] = ()
    """The columns in which these rows differ, where they are the same in others."""
    out_of_order: OutOfOrder | None = None
    """Where the same rows come in another order than the query asks for."""
    ordered_by: tuple[str, ...] = ()
    """The columns that the query orders by."""
    tied: int = 0
    """How many rows weren't compared, since they tie where the query's limit cuts: either side may have others."""
    ambiguous: bool = False
    """Whether the query takes some of its rows by an order that its columns don't tell, or by none."""
    spark_error: str = ""
    """What Spark raised."""
    engine_error: SubstraitSparkError | None = None
    """What the engine raised."""

    def __bool__(self) -> bool:
        raised = self.spark_error or self.engine_error is not None
        rows_differ = self.only_in_spark is not None or self.only_in_engine is not None
        return not (raised or self.columns or rows_differ or self.out_of_order or self.spark_rows != self.engine_rows)

    def __str__(self) -> str:
        return printable("\n".join(self._lines()), lines=True)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *lines = str(self).splitlines()
        title = f"<p><b>{escape(head)}</b></p>"
        if lines:
            title += marked_lines("substrait-difference", lines, indented=False)
        return f"<div class='substrait-comparison'>{title}</div>"

    def _lines(self) -> Iterator[str]:
        if self.spark_error or self.engine_error is not None:
            yield from self._raised()
        elif self:
            yield self._same()
        else:
            yield f"Spark (-) and {self.engine} (+) differ: {self._counts()}."
            yield from self._differences()

    def _counts(self) -> str:
        if self.spark_rows == self.engine_rows:
            return f"each has {_rows(self.spark_rows)}"
        return f"{_rows(self.spark_rows)} and {_rows(self.engine_rows)}"

    def _same(self) -> str:
        if not self.spark_rows:
            return f"Neither Spark nor {self.engine} has a row: the columns are the same."
        order = f", in the order of {_listed(self.ordered_by)}" if self.ordered_by else ""
        tied = f"; {_rows(self.tied)} that tie at the limit may differ" if self.tied else ""
        return f"Spark and {self.engine} have the same {_rows(self.spark_rows)}{order}{tied}."

    def _raised(self) -> Iterator[str]:
        spark = shortened(self.spark_error, LONGEST_ERROR).rstrip(".")
        engine = shortened(str(self.engine_error), LONGEST_ERROR).rstrip(".")
        if self.spark_error and self.engine_error is not None:
            yield f"Spark and {self.engine} both raise: there are no rows to compare."
            yield f"- {spark}."
            yield f"+ {engine}."
        elif self.spark_error:
            yield f"Spark raises, and {self.engine} has {_rows(self.engine_rows)}."
            yield f"- {spark}."
        else:
            yield f"Spark has {_rows(self.spark_rows)}, and {self.engine} raises."
            yield f"+ {engine}."

    def _differences(self) -> Iterator[str]:
        for position, in_spark, in_engine in self.columns:
            yield f"Column {position + 1} differs:"
            yield from (f"{mark} {column}" for mark, column in (("-", in_spark), ("+", in_engine)) if column)
        if self.out_of_order is not None:
            position, in_spark, in_engine = self.out_of_order
            yield f"The same rows in another order than that of {_listed(self.ordered_by)}: first, row {position + 1} is"
            yield f"- {in_spark}"
            yield f"+ {in_engine}"
        yield from self._alone()
        if self.ambiguous:
            yield "The query takes some of its rows by an order that its columns don't tell, or by none: others may be as right."

    def _alone(self) -> Iterator[str]:
        only = (("-", self.only_in_spark), ("+", self.only_in_engine))
        counts = [f"{mark}{0 if table is None else table.num_rows}" for mark, table in only]
        if counts == ["-0", "+0"]:
            return
        where = f", which differ in {_listed(self.differing)}" if self.differing else ""
        yield f"Rows of one side alone: {' and '.join(counts)}{where}."
        for mark, table in only:
            if table is not None:
                yield from (f"{mark} {row}" for row in _first(table))
                if table.num_rows > SHOWN:
                    yield f"{mark} … and {table.num_rows - SHOWN} more"


def _first(table: pa.Table) -> Iterator[str]:
    from .cells import row_text
    from .rows import rows

    return (row_text(row, table.schema) for row in rows(table.slice(0, SHOWN)))


def _rows(count: int | None) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(identifier, names))
