"""The tables that a plan reads by name, and the files that are given for them."""

from __future__ import annotations

from collections.abc import Collection

import click
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from ..algebra.message_walk import messages_of


def require_tables(plan: Plan, given: Collection[str]) -> None:
    """Refuse tables that the plan doesn't read, and a lack of those that it reads."""
    read = _named_tables(plan)
    for name in given:
        if not any(name in _names(parts) for parts in read):
            shown = ", ".join(".".join(parts) for parts in read)
            reads = f"the tables that it reads by name are {shown}" if read else "it reads no table by name"
            raise click.ClickException(f"The plan doesn't read the table {name!r} given by --table: {reads}.")
    for parts in read:
        if not any(name in given for name in _names(parts)):
            name = parts[-1] if parts else ""
            raise click.ClickException(
                f"The plan reads the table {'.'.join(parts)!r} by name: say where its files are by -t {name}=PATH."
            )


def _named_tables(plan: Plan) -> list[tuple[str, ...]]:
    """The names of each table in their parts, without repetitions."""
    reads = messages_of(plan, ReadRel)
    return list(dict.fromkeys(tuple(read.named_table.names) for read in reads if read.HasField("named_table")))


def _names(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The names by which a table can be given: in full, or by the last part."""
    return ".".join(parts), *parts[-1:]
