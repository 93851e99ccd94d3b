"""A server that runs Substrait plans in DataFusion, and hands over their rows by Arrow Flight SQL.

It takes the command that Flight SQL has for a statement's plan, CommandStatementSubstraitPlan, and no other:
https://arrow.apache.org/docs/format/FlightSql.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.protobuf.wrappers_pb2 import BytesValue
from pyarrow import flight
from substrait.plan_pb2 import Plan

from substrait_spark import SubstraitSparkError
from substrait_spark.engines import datafusion

COMMAND = "type.googleapis.com/arrow.flight.protocol.sql.CommandStatementSubstraitPlan"


class PlanServer(flight.FlightServerBase):  # type: ignore[misc]
    """Runs plans of the dialect `datafusion` over tables by their names, and opens no file that a plan names."""

    def __init__(self, tables: Mapping[str, Any], location: str = "grpc://127.0.0.1:0") -> None:
        super().__init__(location)
        self._tables = dict(tables)

    def get_flight_info(self, context: Any, descriptor: flight.FlightDescriptor) -> flight.FlightInfo:
        """Where the rows of a plan are: at this server, for the command itself as their ticket."""
        with self._rows(descriptor.command) as rows:
            schema = rows.schema
        return flight.FlightInfo(schema, descriptor, [flight.FlightEndpoint(descriptor.command, [])], -1, -1)

    def do_get(self, context: Any, ticket: flight.Ticket) -> flight.FlightDataStream:
        """The rows of a plan, as they are computed."""
        return flight.RecordBatchStream(self._rows(ticket.ticket))

    def _rows(self, command: bytes) -> pa.RecordBatchReader:
        try:
            return datafusion.stream(plan_of(command), tables=self._tables, files_under=[])
        except (SubstraitSparkError, DecodeError) as refused:
            # The client is told why, and no more: of another error, it would get a traceback.
            raise flight.FlightServerError(str(refused)) from refused


def plan_of(command: bytes) -> Plan:
    """The plan in a command. Raises FlightServerError for other commands, DecodeError for what is none."""
    message = AnyMessage.FromString(command)
    if message.type_url != COMMAND:
        raise flight.FlightServerError(f"this server runs Substrait plans alone, not {message.type_url}")
    return Plan.FromString(_first_field(_first_field(message.value)))


def command_of(plan: Plan) -> bytes:
    """The command that has a server run a plan."""
    return AnyMessage(
        type_url=COMMAND, value=_with_first_field(_with_first_field(plan.SerializeToString()))
    ).SerializeToString()


# Flight SQL's messages have no classes in Python. The command has a SubstraitPlan in its field 1, and that the plan's bytes in its own,
# as BytesValue has bytes.


def _first_field(message: bytes) -> bytes:
    return BytesValue.FromString(message).value


def _with_first_field(content: bytes) -> bytes:
    return BytesValue(value=content).SerializeToString()
