"""TPC-DS data of which every query selects something: little, and dense."""

from __future__ import annotations

from pathlib import Path

import tpc_data

SCALE_FACTOR = 0.01
CHANGES = Path(__file__).with_suffix(".sql")
"""What is changed of the generated tables, whose keys it knows."""


def generate(directory: Path) -> None:
    """Write the tables and the queries, as `tpc_data.generate` does."""
    tpc_data.generate("tpcds", SCALE_FACTOR, directory, CHANGES.read_text("utf-8"))
