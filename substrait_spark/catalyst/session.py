"""Telling a DataFrame of a running Spark session from everything else that may be handed in."""

from __future__ import annotations

from typing import Any

from ..errors import SubstraitSparkError, UnsupportedSessionError, kind_of

OLDEST = (3, 5)

STOPPED = "The Spark session of this DataFrame was stopped: start one and build it again."

NO_PYSPARK = "This needs PySpark: pip install pyspark."


def require_pyspark() -> None:
    """Raise a clear error where PySpark is missing, which is the user's to install."""
    try:
        import pyspark as _  # noqa: F401
    except ModuleNotFoundError as error:
        raise UnsupportedSessionError(NO_PYSPARK) from error


def is_connect(given: Any) -> bool:
    """Whether this is a DataFrame, or a session, of Spark Connect."""
    return any(base.__module__.startswith("pyspark.sql.connect") for base in type(given).__mro__)


def require_dataframe(df: Any) -> None:
    """Raise a clear error unless this is a DataFrame of PySpark's, classic or of Spark Connect."""
    require_pyspark()
    from pyspark.sql import DataFrame

    if df is None:
        raise SubstraitSparkError("Give a PySpark DataFrame, not None (show() and write return None).")
    module = type(df).__module__
    if module.startswith("pyspark.pandas"):
        raise SubstraitSparkError("Give a PySpark DataFrame: call to_spark() on the pandas-on-Spark frame first.")
    if not (isinstance(df, DataFrame) or is_connect(df)):
        hint = " Pass it to spark.createDataFrame first." if module.startswith(("pandas", "pyarrow")) else ""
        raise SubstraitSparkError(f"Give a PySpark DataFrame, not {kind_of(df)}.{hint}")


def require_classic_session(spark: Any, in_connect: str) -> None:
    """Raise a clear error unless this is a classic, running Spark session from 3.5 on: this one for Spark Connect."""
    require_pyspark()
    from pyspark.sql import SparkSession

    if is_connect(spark):
        raise UnsupportedSessionError(in_connect)
    if not isinstance(spark, SparkSession):
        raise SubstraitSparkError(f"Give a SparkSession, not {kind_of(spark)}.")
    _require_running(spark, "This Spark session was stopped: start one.")


def require_running(df: Any) -> None:
    """Raise a clear error unless the session of a classic DataFrame runs, in a Spark from 3.5 on."""
    _require_running(df.sparkSession, STOPPED)


def _require_running(spark: Any, stopped: str) -> None:
    import pyspark

    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < OLDEST:
        raise UnsupportedSessionError(f"Spark {pyspark.__version__} is too old: 3.5 is the oldest that is supported.")
    if spark._sc._jsc is None:
        raise UnsupportedSessionError(stopped)


def file_system(spark: Any) -> str:
    """Where the paths of a classic session are that name no file system."""
    return str(spark._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///"))
