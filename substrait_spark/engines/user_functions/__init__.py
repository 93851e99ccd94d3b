"""Runs users' functions over Arrow as PySpark's worker does, with its conversions of arguments and results, for any engine that can call Python."""
