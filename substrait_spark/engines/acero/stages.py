"""Plans in several steps, whose rows are kept between: Acero forgets the types of some columns, and must not get to use these.

It takes the type of what a project computes from the declaration of the function's kernel, where many say none, as their type hangs
on those of the arguments. `SELECT y + 1 FROM (SELECT x * 0.5 AS y FROM t)`, of decimals, ends the process. In a table, a column has its
type. (Not reported.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy

import pyarrow as pa

from ...algebra.expression import Cast, Expression, FieldReference, Literal, ScalarFunction
from ...algebra.relation import Aggregate, NamedTable, Project, Read, Relation, Set
from ...algebra.traversal import inputs_first, is_column, ordinals
from ...errors import PlanningError

Run = Callable[[Relation, Mapping[str, pa.Table]], pa.Table]
"""From a relation and the tables that it reads by name to its rows."""

TYPED = ("arithmetic", "boolean", "comparison", "logarithmic", "rounding")
"""The extension files whose functions, of types without parameters, are kernels that declare their type, but for `coalesce`."""


def rows_of(root: Relation, tables: Mapping[str, pa.Table], run: Run) -> pa.Table:
    """The rows of a relation, in as many steps as it takes."""
    kept = dict(tables)
    done: dict[Relation, Relation] = {}
    untyped: dict[Relation, list[bool]] = {}
    """Of each relation, which of its columns have no type in Acero."""

    def step(relation: Relation) -> None:
        """Have the rows of an input in a table."""
        name = f"step {len(kept)}"
        kept[name] = run(done[relation], kept)
        done[relation] = NamedTable([name], kept[name].column_names, relation.types)
        untyped[relation] = [False] * len(relation.types)

    for relation in inputs_first(root):
        if _uses(relation, [column for input in relation.inputs for column in untyped[input]]):
            for input in filter(lambda input: any(untyped[input]), relation.inputs):
                step(input)
        if isinstance(relation, Set):  # whose inputs must have columns of the same names
            for input in relation.inputs:
                step(input)
        inputs = tuple([done[input] for input in relation.inputs])
        done[relation] = relation.with_inputs(inputs)
        own = _own(relation, [untyped[input] for input in relation.inputs])
        untyped[relation] = [own[n] for n in relation.emitted]
    return run(done[root], kept)


def never_without_columns(root: Relation) -> Relation:
    """The relation, in which none below it has no columns, as below a count of rows: Acero would forget how many rows there are."""
    done: dict[Relation, Relation] = {}
    for relation in inputs_first(root):
        inputs = tuple([done[input] for input in relation.inputs])
        if len(inputs) == 1:
            made = relation.over(inputs, relation.expressions())
        elif all(len(one.types) == len(other.types) for one, other in zip(inputs, relation.inputs, strict=True)):
            made = relation.with_inputs(inputs)
        else:
            raise PlanningError("Acero combines no inputs without columns.")
        if not made.types:
            whole = made.with_all_columns() if made.inputs else _read_whole(made)
            if relation is root or not whole.types:
                raise PlanningError("Acero has no rows without columns.")
            made = whole.select([0])
        done[relation] = made
    return done[root]


def _read_whole(read: Relation) -> Relation:
    """A read that picks no columns, with all of them."""
    whole = copy(read)
    whole.emit, whole.types = None, tuple(read.schema) if isinstance(read, Read) else ()
    return whole


def _uses(relation: Relation, untyped: Sequence[bool]) -> bool:
    """Whether a relation computes anything of a column without a type."""
    passes = isinstance(relation, Project)
    used = [each for each in relation.expressions() if not (passes and is_column(each))]
    return any(untyped[ordinal] for each in used for ordinal in ordinals(each))


def _own(relation: Relation, inputs: Sequence[Sequence[bool]]) -> list[bool]:
    """Which of a relation's own columns have no type."""
    if isinstance(relation, Read):
        return [False] * len(relation.schema)
    if isinstance(relation, Set | Aggregate):
        return [False] * (1 + max(relation.emitted, default=0))
    own = relation.passed(inputs)
    if isinstance(relation, Project):
        own += [_loses_type(each, inputs[0]) for each in relation.computed]
    return own


def _loses_type(computed: Expression, input: Sequence[bool]) -> bool:
    if isinstance(computed, FieldReference):
        return is_column(computed) and input[computed.ordinal]
    if isinstance(computed, Literal):
        return False
    if isinstance(computed, ScalarFunction):
        declaration = computed.declaration
        is_typed = declaration.alias in TYPED and declaration.name != "coalesce"
        return bool(computed.type.parameters) or not is_typed
    return bool(computed.type.parameters) or not isinstance(computed, Cast)
