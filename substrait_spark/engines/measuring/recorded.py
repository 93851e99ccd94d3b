"""What Spark makes of the corpus, recorded with the package, so that nobody needs Spark to measure an engine.

`recorded.parquet` has a row for each case: its name and digest; the rows of its table that have a result, and some that
raise; and the result as an Arrow stream. `scripts/record_rows.py` writes it.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

FILE = "recorded.parquet"

SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("digest", pa.string()),
        ("kept", pa.list_(pa.int32())),
        ("raising", pa.list_(pa.int32())),
        ("rows", pa.binary()),
    ]
)


class Truth(NamedTuple):
    """What Spark makes of a case."""

    digest: str
    """Of the case that it is the truth of."""
    kept: tuple[int, ...] | None
    """The rows of the table that have a result, where each row's hangs on that alone; None where all rows are meant."""
    raising: tuple[int, ...]
    """Some rows for which Spark raises."""
    stream: bytes | None
    """The result as an Arrow stream; None where Spark raises."""

    @property
    def rows(self) -> pa.Table | None:
        """The result; None where Spark raises."""
        return None if self.stream is None else pa.ipc.open_stream(self.stream).read_all()


def stream_of(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


@cache
def truths() -> Mapping[str, Truth]:
    """What is recorded, by the names of cases."""
    with importlib.resources.files(__package__).joinpath(FILE).open("rb") as file:
        rows = pq.read_table(file).to_pylist()
    return {
        row["name"]: Truth(
            row["digest"], None if row["kept"] is None else tuple(row["kept"]), tuple(row["raising"]), row["rows"]
        )
        for row in rows
    }


def write(path: Path, recorded: Mapping[str, Truth], names: Iterable[str]) -> None:
    """Write what is known of the cases with these names, in their order."""
    rows = [
        {"name": name, "digest": t.digest, "kept": t.kept, "raising": t.raising, "rows": t.stream}
        for name in names
        if (t := recorded.get(name)) is not None
    ]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, compression="zstd", compression_level=19)
