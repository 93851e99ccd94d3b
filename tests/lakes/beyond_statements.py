"""Changes of lake tables that other writers make, and no statement of Spark's: by the formats' own Java."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def delete_by_equality(spark: SparkSession, name: str) -> None:
    """Delete the rows of an Iceberg table whose column k is 2 or null, as Flink does: by a file of values."""
    jvm: Any = spark._jvm
    table = _iceberg(spark, name)
    schema = table.schema().select(["k"])
    ids = spark._sc._gateway.new_array(jvm.int, 1)  # type: ignore[union-attr]
    ids[0] = schema.findField("k").fieldId()
    writers = jvm.org.apache.iceberg.data.GenericAppenderFactory(table.schema(), table.spec(), ids, schema, None)
    file = table.io().newOutputFile(f"{table.location()}/data/deleted.parquet")
    file = jvm.org.apache.iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(file)
    writer = writers.newEqDeleteWriter(file, jvm.org.apache.iceberg.FileFormat.PARQUET, None)
    for value in (2, None):
        row = jvm.org.apache.iceberg.data.GenericRecord.create(schema)
        row.setField("k", value)
        writer.write(row)
    writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()
    spark.sql(f"REFRESH TABLE {name}")


def add_columns_with_defaults(spark: SparkSession, name: str) -> None:
    """Add to an Iceberg table columns that have a value in rows of older files."""
    jvm: Any = spark._jvm
    types, value = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.expressions.Expressions.lit
    update = _iceberg(spark, name).updateSchema()
    update.addColumn("c", types.IntegerType.get(), value(5)).addColumn("x", types.StringType.get(), value("ü")).commit()
    spark.sql(f"REFRESH TABLE {name}")


def create_with_identity(spark: SparkSession, name: str) -> None:
    """Create a Delta table whose column id numbers the rows, and whose column g is computed."""
    tables, session = spark._jvm.io.delta.tables.DeltaTable, spark._jsparkSession  # type: ignore[union-attr]
    numbered = tables.columnBuilder(session, "id").dataType("BIGINT").generatedAlwaysAsIdentity().build()
    computed = tables.columnBuilder(session, "g").dataType("INT").generatedAlwaysAs("k + 1").build()
    made = (
        tables.create(session)
        .tableName(name.rpartition(".")[2])
        .addColumn(numbered)
        .addColumn("k", "INT")
        .addColumn(computed)
    )
    made.execute()


def _iceberg(spark: SparkSession, name: str) -> Any:
    return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)  # type: ignore[union-attr]
