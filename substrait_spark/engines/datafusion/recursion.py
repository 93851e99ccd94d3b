"""Runs recursions, which plans for DataFusion may have: the rows of one, level by level, are a table of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pyarrow as pa
from substrait.plan_pb2 import Plan

from ...algebra.recursion import NONE, PreviousRows, Recursion, previous_rows_of
from ...algebra.relation import NamedTable, Relation
from ...algebra.traversal import refers_outwards, transformed
from ...algebra.types import numbered
from ...errors import EngineError, InvalidPlanError
from ...plan.message import build
from ..result import named
from .tables_in_place import Run, with_tables

if TYPE_CHECKING:
    from ...user_functions.declared import UserFunctions
    from .reads import Binding


def with_rows(plan: Plan, binding: Binding, functions: UserFunctions, run: Run) -> AbstractContextManager[Plan]:
    """The plan with tables in the place of its recursions, which the context has in the block. `run` runs a plan."""

    def table(relation: Relation) -> Relation | None:
        if not isinstance(relation, Recursion) or previous_rows_of(relation):
            return None
        return _Levels(relation, binding, run).table()

    return with_tables(plan, (Recursion,), binding, functions, table)


class _Levels:
    """The rows of a recursion, computed level by level."""

    def __init__(self, recursion: Recursion, binding: Binding, run: Run) -> None:
        if refers_outwards(recursion):
            raise InvalidPlanError("The plan repeats a query anew for each row of a query around it.")
        self._recursion = recursion
        self._types = recursion.with_all_columns().types
        self._binding = binding
        self._run = run
        self._names = numbered(self._types)

    def table(self) -> Relation:
        """A table of all rows."""
        return self._named(pa.concat_tables(self._levels())).emitting_as(self._recursion)

    def _levels(self) -> Iterator[pa.Table]:
        """The rows of each level, those of the anchor first. Raises EngineError where Spark does, in its words."""
        recursion = self._recursion
        anchor, step = recursion.inputs
        rows, level, count = self._rows(anchor), 1, 0
        yield rows
        while rows.num_rows:
            if NONE < recursion.level_limit < level:
                raise EngineError(f"[RECURSION_LEVEL_LIMIT_EXCEEDED] {_reached('level', recursion.level_limit)}")
            count += rows.num_rows
            if NONE < recursion.limit <= count:
                return
            if recursion.limit == NONE < recursion.row_limit <= count:
                raise EngineError(f"[RECURSION_ROW_LIMIT_EXCEEDED] {_reached('row', recursion.row_limit)}")
            rows = self._rows(self._over(step, rows))
            level += 1
            yield rows

    def _rows(self, relation: Relation) -> pa.Table:
        return named(self._run(build(relation, self._names)), self._names)

    def _over(self, step: Relation, rows: pa.Table) -> Relation:
        """The step over the rows of a level."""

        def table(relation: Relation) -> Relation:
            is_previous = isinstance(relation, PreviousRows) and relation.number == self._recursion.number
            return self._named(rows).emitting_as(relation) if is_previous else relation

        return transformed(step, table)

    def _named(self, rows: pa.Table) -> Relation:
        return NamedTable([self._binding.register_rows(rows)], self._names, self._types)


def _reached(what: str, limit: int) -> str:
    return f"Recursion {what} limit {limit} reached but query has not exhausted."
