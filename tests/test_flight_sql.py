"""The example's server runs plans for clients of Flight SQL, and tells them why it refuses one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from adbc_driver_flightsql.dbapi import Error, connect
from flight_sql_server import PlanServer, command_of
from google.protobuf.any_pb2 import Any as AnyMessage
from pyarrow import flight
from pyspark.sql import SparkSession
from rows import differences, plan_of, spark_table
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait
from substrait_spark.algebra.message_walk import messages

ROWS = pa.table({"item": ["tea", None, "", "tea"], "price": pa.array([1.5, float("nan"), -0.0, None], pa.float64())})


@pytest.fixture(scope="module")
def server() -> Iterator[PlanServer]:
    with PlanServer({"sold": ROWS}) as server:
        yield server


def rows_by_driver(server: PlanServer, plan: Plan) -> pa.Table:
    address = f"grpc://127.0.0.1:{server.port}"
    with connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(plan.SerializeToString())
        return cursor.fetch_arrow_table()


def rows_by_flight(server: PlanServer, command: bytes) -> pa.Table:
    with flight.connect(f"grpc://127.0.0.1:{server.port}") as client:
        info = client.get_flight_info(flight.FlightDescriptor.for_command(command))
        return client.do_get(info.endpoints[0].ticket).read_all()


def plan_of_named_table(spark: SparkSession, file: Path, query: str) -> tuple[Plan, pa.Table]:
    """A plan over the server's table, and Spark's rows of its query over the same rows."""
    pq.write_table(ROWS, file)
    spark.sql(f"CREATE TABLE sold USING parquet LOCATION '{file}'")
    try:
        df = spark.sql(query)
        plan, rows = df_to_substrait(df, dialect="datafusion", reads="tables"), spark_table(df)
    finally:
        spark.sql("DROP TABLE sold")
    assert any(isinstance(message, ReadRel.NamedTable) for message in messages(plan))
    return plan, rows


def test_rows_of_named_tables(spark: SparkSession, server: PlanServer, tmp_path: Path) -> None:
    query = "SELECT item, price, count(*) FROM sold GROUP BY item, price"
    plan, rows = plan_of_named_table(spark, tmp_path / "sold.parquet", query)
    assert not differences(rows, rows_by_driver(server, plan))
    assert not differences(rows, rows_by_flight(server, command_of(plan)))


def test_plans_open_no_files(spark: SparkSession, server: PlanServer, tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "secret.parquet")
    plan = plan_of(spark.read.parquet(str(tmp_path / "secret.parquet")), "datafusion")
    with pytest.raises(Error, match=r"secret\.parquet"):
        rows_by_driver(server, plan)


def test_tables_that_are_missing_are_named(spark: SparkSession, tmp_path: Path) -> None:
    plan, _ = plan_of_named_table(spark, tmp_path / "sold.parquet", "SELECT item FROM sold")
    with PlanServer({}) as server, pytest.raises(Error, match="sold"):
        rows_by_driver(server, plan)


def test_errors_of_a_row_arrive(spark: SparkSession, server: PlanServer) -> None:
    spark.conf.set("spark.sql.ansi.enabled", True)
    try:
        plan = plan_of(spark.range(3).selectExpr("10 / (id - 2) AS quotient"), "datafusion")
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    with pytest.raises(Error, match="DIVIDE_BY_ZERO"):
        rows_by_driver(server, plan)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (
            AnyMessage(type_url="type.googleapis.com/other").SerializeToString(),
            "this server runs Substrait plans alone",
        ),
        (b"\xff\xff", "Error parsing message"),
    ],
)
def test_other_commands_are_refused(server: PlanServer, command: bytes, reason: str) -> None:
    with pytest.raises(flight.FlightServerError, match=reason):
        rows_by_flight(server, command)
