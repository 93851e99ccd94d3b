"""Runs functions over batches and groups of rows, which DataFusion lacks: what is below one, the function, and its rows are a table of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa
from substrait.plan_pb2 import Plan

from ...algebra.expression import Expression, FieldReference
from ...algebra.flat_map import FlatMap, FlatMapCoGroups
from ...algebra.join_columns import with_right_side_moved
from ...algebra.relation import NamedTable, Relation
from ...algebra.traversal import columns, refers_outwards
from ...algebra.types import Type, field_count, numbered
from ...errors import EngineError, InvalidPlanError
from ...plan.message import build
from ...user_functions.declared import RESULT_FIELDS, field_names
from ..result import rebuilt
from ..user_functions.rows import Side, rows_of
from .python_functions import arrow_of, told
from .tables_in_place import Run, with_tables

if TYPE_CHECKING:
    from ...user_functions.declared import UserFunctions
    from .reads import Binding


def with_rows(plan: Plan, binding: Binding, functions: UserFunctions, run: Run) -> AbstractContextManager[Plan]:
    """The plan with tables in the place of what functions over rows give, which the context has in the block. `run` runs a plan."""

    def table(relation: Relation) -> Relation | None:
        return _table(relation, binding, functions, run) if isinstance(relation, FlatMap) else None

    return with_tables(plan, (FlatMap, FlatMapCoGroups), binding, functions, table)


def _table(relation: FlatMap, binding: Binding, functions: UserFunctions, run: Run) -> Relation:
    """A table with the rows of a relation."""
    call = relation.call
    name = call.declaration.name
    function = functions.object_of(call.declaration.urn, name)
    if function is None:
        raise InvalidPlanError(
            f"The plan calls the function {name} over rows, and only functions=[{name}] can give it."
        )
    if refers_outwards(relation):
        raise InvalidPlanError(f"The plan calls the function {name} anew for each row of a query around it.")
    parts = _parts(relation)
    sides = [Side([key.type for key in keys], [each.type for each in given]) for keys, given in parts]
    compute = rows_of(function, name, sides, call.type, call.options)
    tables = [
        run(_plan(columns(input, [*keys, *given]))) for input, (keys, given) in zip(relation.inputs, parts, strict=True)
    ]
    rows = call.type.parameters[0].parameters
    names = _names(rows, field_names(call.options, RESULT_FIELDS))
    inside = [each[1:] for each in names]
    schema = pa.schema([(each[0], arrow_of(kind, own)) for kind, each, own in zip(rows, names, inside, strict=True)])
    try:
        batches = [
            pa.RecordBatch.from_arrays(
                [rebuilt(column, field.type) for column, field in zip(arrays, schema, strict=True)], schema=schema
            )
            for arrays in compute(tables)
        ]
    except Exception as error:  # whatever the function raises, or is wrong with what it gives
        raise EngineError(told(name, error)) from error
    table = binding.register_rows(pa.Table.from_batches(batches, schema))
    return NamedTable([table], [name for each in names for name in each], rows).emitting_as(relation)


def _parts(relation: FlatMap) -> list[tuple[list[Expression], list[Expression]]]:
    """Of each input the keys and the arguments, over its own columns."""
    if len(relation.inputs) == 1:
        return [(list(relation.keys), list(relation.arguments()))]
    width = len(relation.inputs[0].types)
    given: tuple[list[Expression], list[Expression]] = ([], [])
    for each in relation.arguments():
        if not isinstance(each, FieldReference):
            raise InvalidPlanError("A function over groups of two inputs is called with what is no column of one.")
        given[each.ordinal >= width].append(with_right_side_moved(each, width, -width))
    other_keys = [with_right_side_moved(key, width, -width) for key in relation.other_keys]
    return [(list(relation.keys), given[0]), (other_keys, given[1])]


def _plan(relation: Relation) -> Plan:
    if not relation.types:
        raise InvalidPlanError("A function over rows without columns can't be run here.")
    return build(relation, numbered(relation.types))


def _names(kinds: Sequence[Type], names: Sequence[str]) -> list[list[str]]:
    """Of each column a name and those of the fields in it, by the depth-first names that it has for the function."""
    remaining = iter(names)
    named = [[f"c{n}", *islice(remaining, 1, 1 + field_count(kind))] for n, kind in enumerate(kinds)]
    if next(remaining, None) is not None or len(named[-1]) <= field_count(kinds[-1]):
        raise InvalidPlanError("The plan doesn't say how the columns are called that a function over rows gives.")
    return named
