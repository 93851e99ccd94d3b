"""The settings of a session that has Iceberg and Delta."""

from __future__ import annotations

from pathlib import Path

EXTENSIONS = (
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "io.delta.sql.DeltaSparkSessionExtension",
)


def settings(archives: Path, directory: Path) -> dict[str, str]:
    """Catalogs of both: `ice` keeps Iceberg's tables in folders, and the session's own catalog knows Delta's."""
    return {
        "spark.jars": ",".join(str(archive.resolve()) for archive in sorted(archives.glob("*.jar"))),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(directory / "ice"),
        "spark.sql.catalog.ice.default-namespace": "db",
        # Few rows need few tasks.
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.default.parallelism": "1",
    }
