"""What Spark tells of the file that a row comes from, and how our own columns for it are marked."""

from __future__ import annotations

SPARK_METADATA = "__file_source_metadata_col"
"""Spark's mark of a read's struct `_metadata`."""

FILE_CONSTANT = "file constant"
"""Our mark of a column that is the same in all rows of a file."""

INPUT_FILE_NAME = "input_file_name"
"""The column for Spark's function of this name."""

METADATA_FIELDS = {"file_path": "string", "file_name": "string", "file_size": "long"}
"""The fields of `_metadata` that a file's name and length tell, with their types.

The others hang on how Spark divides files among its tasks (blocks, row numbers), or on the time when a copy was made.
"""
