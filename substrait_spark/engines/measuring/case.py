"""One small plan, what of a dialect it tells, and the rows that it is tried on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from ...algebra.expression import write_literal
from ...algebra.message_walk import messages_of
from ...algebra.relation import NamedTable, Relation
from ...plan.message import build
from .values import Table, field_names


class Subject(NamedTuple):
    """What of a dialect a case tells: an entry of a list by its key, and a variant of that."""

    section: str
    """`types`, `relations`, `expressions`, `casts`, `abilities`, `defects`, or a kind of functions: `scalar`, `aggregate`, `window`."""
    key: tuple[Any, ...]
    """Of functions: alias, name, signature and options."""
    variant: str = ""
    """What is tried beyond the entry itself, empty for that."""

    def __str__(self) -> str:
        said = " ".join(filter(None, map(_shown, self.key)))
        return f"{self.section} {said}{' ' + self.variant if self.variant else ''}"


def _shown(part: Any) -> str:
    if isinstance(part, tuple):
        return " ".join(f"{name}={value}" for name, value in part)
    return str(part)


class Case(NamedTuple):
    """A plan over tables, and what it tells. Its truth is the rows of the canonical plan in Spark."""

    subject: Subject
    about: str
    """What tells it from the other cases of its subject."""
    relation: Relation
    tables: Mapping[str, Table]
    names: tuple[str, ...]
    """The depth-first names of its columns."""
    kinds: tuple[str, ...] = ()
    """The kinds of types, and the enum values, that are tried here, so that the others of the subject may be right alone."""
    leaves_open: bool = False
    """Whether it doesn't state all options, so that what Spark raises an error for may have a value."""
    by_rows: bool = False
    """Whether each row's result hangs on that row of the one table alone, so that some rows may raise and others have one."""
    ordered: bool = False
    tolerance: float | None = None
    old: Callable[[Plan], Plan] | None = None
    """What puts the plan into an older form of messages that means the same; None for the plan as it is."""

    @property
    def name(self) -> str:
        return f"{self.subject}: {self.about}" if self.about else str(self.subject)

    def plan(self) -> Plan:
        """The plan as an engine gets it. Raises `Unsupported` where it nests too deep."""
        plan = build(self.relation, self.names)
        return plan if self.old is None else self.old(plan)

    def plan_of_rows(self, tables: Mapping[str, Table] | None = None) -> Plan:
        """The canonical plan with its rows, or others, written into it."""
        plan = build(self.relation, self.names)
        for read in messages_of(plan, ReadRel):
            if read.HasField("named_table"):
                _write_rows((tables or self.tables)[read.named_table.names[-1]], read)
        return plan

    def digest(self) -> str:
        """What is another when the plan or its rows are."""
        shown = repr([(name, table.names, table.schema, table.rows) for name, table in sorted(self.tables.items())])
        plan = build(self.relation, self.names)
        plan.ClearField("version")
        return hashlib.sha256(plan.SerializeToString(deterministic=True) + shown.encode()).hexdigest()[:16]


def _write_rows(table: Table, read: ReadRel) -> None:
    read.virtual_table.SetInParent()
    for row in table.rows:
        struct = read.virtual_table.expressions.add()
        for value, type in zip(row, table.schema, strict=True):
            write_literal(value, type, struct.fields.add().literal)


def read(name: str, table: Table) -> NamedTable:
    """The read of a table by its name."""
    names = [each for column, type in zip(table.names, table.schema, strict=True) for each in field_names(column, type)]
    return NamedTable([name], names, table.schema)


def output_names(relation: Relation) -> tuple[str, ...]:
    """Names for the columns of a relation, depth-first."""
    return tuple([each for n, type in enumerate(relation.types) for each in field_names(f"c{n}", type)])
