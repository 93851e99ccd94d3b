"""Telling a classic, running Spark session from everything else that may be handed in."""

from __future__ import annotations

from typing import Any

from ..errors import SubstraitSparkError, UnsupportedSessionError

OLDEST = (3, 5)


def require_classic(df: Any) -> None:
    """Raise a clear error unless this is a DataFrame of a classic, running Spark session from 3.5 on."""
    module = type(df).__module__
    if df is None:
        raise SubstraitSparkError("Give a PySpark DataFrame, not None (show() and write return None).")
    if module.startswith("pyspark.sql.connect"):
        raise UnsupportedSessionError(
            "This is a Spark Connect DataFrame: its plan lives on the server, out of reach. "
            "Use a classic session, for example SparkSession.builder.master('local[*]')."
        )
    if module.startswith("pyspark.pandas"):
        raise SubstraitSparkError("Give a PySpark DataFrame: call to_spark() on the pandas-on-Spark frame first.")
    if not module.startswith("pyspark.sql") or not hasattr(df, "_jdf"):
        kind = f"{module}.{type(df).__name__}"
        hint = " Pass it to spark.createDataFrame first." if module.startswith("pandas") else ""
        raise SubstraitSparkError(f"Give a PySpark DataFrame, not a {kind}.{hint}")
    _require_running(df)


def _require_running(df: Any) -> None:
    import pyspark

    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < OLDEST:
        raise UnsupportedSessionError(f"Spark {pyspark.__version__} is too old: 3.5 is the oldest that is supported.")
    if df.sparkSession._sc._jsc is None:
        raise UnsupportedSessionError("The Spark session of this DataFrame was stopped: start one and build it again.")
