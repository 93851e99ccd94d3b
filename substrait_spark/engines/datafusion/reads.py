"""Binding the reads of a plan: each gets a table of DataFusion's that has its rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from datafusion import DataFrame, SessionContext
from substrait.algebra_pb2 import FilterRel, ReadRel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from ...algebra.message_walk import messages_of
from ...errors import InvalidPlanError
from .. import local_files
from ..arrow.counts import counted_columns
from ..arrow.inputs import in_columns
from ..arrow.schema import Columns, Condition, columns_of
from ..file_access import Folders
from ..file_rows import file_rows, format_of
from ..names import table_name
from ..read_conditions import conditions
from . import lakes
from .counts import declare_counts
from .inputs import Inputs, counted
from .parquet import ParquetReader

DEFAULT_CATALOG = "datafusion"

_fresh = itertools.count(1)


@dataclass
class Binding:
    """What the reads of a plan are bound to, and the names that were registered for them in a context."""

    ctx: SessionContext
    inputs: Inputs
    under: Folders
    parquet: ParquetReader
    registered: list[str] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)
    """The plan whose reads are bound."""
    reads: Sequence[ReadRel] = ()

    @cached_property
    def _conditions(self) -> dict[int, tuple[Condition, ...]]:
        """By the `id` of the read. Found for tables of lakes alone, since the whole plan is gone through for it."""
        return dict(zip(map(id, self.reads), conditions(self.plan, self.reads), strict=True))

    def columns(self, read: ReadRel) -> Columns:
        """The columns of a read, what the plan's filters say of them, and which of them its joins may pass on to others."""
        columns = columns_of(read)

        def joined_on() -> frozenset[str]:
            if len(self.reads) <= 2:  # there is no second join
                return frozenset()
            above = self._dropping.get(id(read))
            return columns.used if above is None else _kept(above, columns)

        return replace(columns, conditions=lambda: self._conditions[id(read)], joined_on=joined_on)

    @cached_property
    def _dropping(self) -> dict[int, FilterRel]:
        """By the `id` of the read below, the filters that drop columns. Found where a read asks, as conditions are."""
        filters = [each for each in messages_of(self.plan, FilterRel) if each.input.HasField("read")]
        return {id(each.input.read): each for each in filters if each.common.HasField("emit")}

    def register(self, frames: Sequence[DataFrame]) -> str:
        """The name of a table with all rows of the frames."""
        union = frames[0]
        for frame in frames[1:]:
            union = union.union(frame)
        name = self._name()
        self.ctx.register_view(name, counted(union))
        return name

    def register_rows(self, table: pa.Table) -> str:
        """The name of a table with these rows."""
        name = self._name()
        table = counted_columns(table)
        batches = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
        self.ctx.register_record_batches(name, [batches])
        return name

    def _name(self) -> str:
        name = f"substrait_spark_{next(_fresh)}"
        self.registered.append(name)
        return name

    def release(self) -> None:
        """Forget what was registered. What was planned before keeps its tables."""
        for name in self.registered:
            self.ctx.deregister_table(name)


def _kept(filter: FilterRel, columns: Columns) -> frozenset[str]:
    """The names of those columns of its read that a filter emits."""
    read, names = filter.input.read, columns.schema.names
    picked = list(read.common.emit.output_mapping) if read.common.HasField("emit") else range(len(names))
    return frozenset(names[picked[n]] for n in filter.common.emit.output_mapping if 0 <= n < len(picked))


def reads_of(plan: Plan) -> list[ReadRel]:
    """All reads of a plan."""
    return list(messages_of(plan, ReadRel))


def bind(plan: Plan, binding: Binding) -> None:
    """Have a plan's reads name tables of the context's. Raises InvalidPlanError where Spark would have other rows, or there are none."""
    reads = reads_of(plan)
    _require_distinct(reads, binding.inputs.tables)
    binding.plan, binding.reads = plan, reads
    for read in reads:
        binder = BINDERS.get(str(read.WhichOneof("read_type")))
        if binder is not None:
            binder(read, binding)
    for read in reads:
        declare_counts(read.base_schema)
        _allow_nulls(read)


def _allow_nulls(read: ReadRel) -> None:
    """Take columns for nullable: DataFusion refuses a plan whose required column its table says may be null."""
    for kind in read.base_schema.struct.types:
        getattr(kind, kind.WhichOneof("kind") or "bool").nullability = Type.NULLABILITY_NULLABLE


def _rename(read: ReadRel, parts: Sequence[str]) -> None:
    """Have a read of any kind name a table."""
    del read.named_table.names[:]
    read.named_table.names.extend(parts)


# ---- named tables


def _require_distinct(reads: Sequence[ReadRel], tables: Mapping[str, Any]) -> None:
    """Refuse tables by their last part alone where the plan reads several of that."""
    by_last_part: dict[str, str] = {}
    for parts in (list(read.named_table.names) for read in reads if read.HasField("named_table")):
        full, given = ".".join(parts), table_name(parts, tables)
        if given is not None and given != full and by_last_part.setdefault(given, full) != full:
            raise InvalidPlanError(
                f"The plan reads {by_last_part[given]!r} and {full!r}: give each by its full name in tables=."
            )


def _bind_named_table(read: ReadRel, binding: Binding) -> None:
    parts = list(read.named_table.names)
    given = binding.inputs.name_of(parts)
    if given is not None:
        _rename(read, [binding.register(binding.inputs.frames(given, binding.columns(read), binding.parquet))])
        return
    known = _registered(binding.ctx, parts)
    if known is None:
        raise InvalidPlanError(
            f"There is no table {'.'.join(parts)!r}: give its rows or the path of its files as tables={{{parts[-1]!r}: …}}, "
            "register it, or make the plan with reads='files'."
        )
    _rename(read, known)


def _registered(ctx: SessionContext, parts: list[str]) -> list[str] | None:
    """The name by which DataFusion knows a table: its full name, or else its last part."""
    for candidate in (parts, parts[-1:]):
        name = ".".join('"' + part.replace('"', '""') + '"' for part in candidate)
        if _has_schema(ctx, candidate[:-1]) and ctx.table_exist(name):
            return candidate
    return None


def _has_schema(ctx: SessionContext, parts: list[str]) -> bool:
    """Whether there is this schema, or catalog and schema. To ask for a table in one that is not there would raise."""
    if not parts:
        return True
    catalog = parts[0] if len(parts) > 1 else DEFAULT_CATALOG
    return len(parts) <= 2 and catalog in ctx.catalog_names() and parts[-1] in ctx.catalog(catalog).schema_names()


# ---- files


def _bind_local_files(read: ReadRel, binding: Binding) -> None:
    columns = binding.columns(read)
    items = list(read.local_files.items)
    paths = local_files.paths(items, binding.under)
    if format_of(items) == "parquet":
        name = binding.register(binding.parquet.files(paths, columns))
    else:
        name = binding.register_rows(file_rows(items, paths, columns))
    read.ClearField("local_files")
    _rename(read, [name])


def _bind_lake_table(read: ReadRel, binding: Binding) -> None:
    columns = binding.columns(read)
    rows, shown = lakes.table(read, columns, binding.under)
    _rename(read, [binding.register_rows(in_columns(rows, columns, shown))])


BINDERS: Mapping[str, Callable[[ReadRel, Binding], None]] = {
    "named_table": _bind_named_table,
    "local_files": _bind_local_files,
    "iceberg_table": _bind_lake_table,
    "extension_table": _bind_lake_table,
}
"""What binds a read, by the field of `ReadRel` that says where its rows are. DataFusion itself takes those that are left."""
