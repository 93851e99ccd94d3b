"""Keeps expressions that may raise away from rows that a filter below them drops.

Some engines move projections below filters. So the filter's condition becomes a column, and what may raise is
evaluated only where that column is true, wherever the engine evaluates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..algebra import types
from ..algebra.expression import (
    AggregateFunction,
    Expression,
    FieldReference,
    IfThen,
    Lambda,
    Literal,
    ScalarFunction,
    SingularOrList,
    SortField,
)
from ..algebra.relation import Aggregate, Expand, Fetch, Filter, Generate, Project, Relation, Sort, Window
from ..algebra.types import Type
from ..expr.scope import Scope

if TYPE_CHECKING:
    from .builder import RelationBuilder


def keep(r: RelationBuilder, relation: Relation) -> Relation:
    """The relation with what may raise above a filter guarded by the filter's condition."""
    if not r.dialect.quirks.projects_below_filters:
        return relation
    inputs = tuple([keep(r, input) for input in relation.inputs])
    if any(new is not old for new, old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(inputs)
    if len(inputs) != 1 or not any(expression.raises for expression in relation.expressions()):
        return relation
    marked = _marked(inputs[0])
    return relation if marked is None else _guarded(r, relation, marked)


def _marked(relation: Relation) -> Relation | None:
    """The relation with one more column, last, that is true for all its rows by the filter in it; None without one."""
    columns = tuple(range(len(relation.types))) if relation.emit is None else relation.emit
    if _is_marked(relation):
        return relation
    if isinstance(relation, Filter):
        (input,) = relation.inputs
        mark = len(input.types)
        condition = Project(input, [relation.condition])
        return Filter(condition, FieldReference(mark, condition.types[mark])).select((*columns, mark))
    if isinstance(relation, Sort | Fetch):
        below = _marked(relation.inputs[0])
        if below is not None:
            above = (
                Sort(below, relation.sorts)
                if isinstance(relation, Sort)
                else Fetch(below, relation.offset, relation.count)
            )
            return above.select((*columns, len(below.types) - 1))
    if isinstance(relation, Project):
        below = _marked(relation.inputs[0])
        if below is not None:
            width, added = len(relation.inputs[0].types), len(below.types) - len(relation.inputs[0].types)
            shifted = [n + added if n >= width else n for n in columns]
            return Project(below, relation.computed).select((*shifted, len(below.types) - 1))
    return None


def _is_marked(relation: Relation) -> bool:
    """Whether the last column is the condition of the relation, a filter."""
    if not isinstance(relation, Filter) or not isinstance(relation.condition, FieldReference):
        return False
    columns = range(len(relation.inputs[0].types)) if relation.emit is None else relation.emit
    condition = relation.condition
    return bool(columns) and columns[-1] == condition.ordinal and not condition.path and not condition.outer


def _guarded(r: RelationBuilder, relation: Relation, input: Relation) -> Relation:
    """The relation over the marked input, with the columns that it had."""
    e = r.expressions(Scope((), input.types))
    mark = FieldReference(len(input.types) - 1, input.types[-1])

    def guard(expression: Expression) -> Expression:
        if not expression.raises:
            return expression
        if isinstance(expression, ScalarFunction) and not expression.raises_itself and _holds_struct(expression):
            # Not every engine has a null in a struct's place, but it needs none where the parts raise.
            return expression.with_children([guard(part) for part in expression.children()])
        e.require_nameless(expression.type)
        return e.if_then(mark, expression, Literal(_neutral(expression.type), expression.type))

    above = rebuilt(relation, input, guard)
    width = len(relation.inputs[0].types)
    added = len(input.types) - width  # none where the mark was the last column already
    direct = range(len(relation.types)) if relation.emit is None else relation.emit
    passes_input = isinstance(relation, Generate | Project | Window)
    return above.select([n + added if passes_input and n >= width else n for n in direct])


def _holds_struct(expression: Expression) -> bool:
    return types.holds(expression.type, ("struct",))


LAZY = ("and", "or", "coalesce")
"""Functions that may evaluate their first argument only."""


def always_evaluated(expression: Expression) -> Sequence[Expression]:
    """The operands of an expression that are evaluated whenever the expression is."""
    if isinstance(expression, Lambda):
        return ()
    lazy = isinstance(expression, IfThen | SingularOrList) or (
        isinstance(expression, ScalarFunction) and expression.declaration.name in LAZY
    )
    return expression.children()[:1] if lazy else expression.children()


def rebuilt(relation: Relation, input: Relation, guard: Any) -> Relation:
    """The relation over another input, with each of its expressions changed."""
    if isinstance(relation, Project):
        return Project(input, [guard(expression) for expression in relation.computed])
    if isinstance(relation, Filter):
        return Filter(input, guard(relation.condition))
    if isinstance(relation, Sort):
        return Sort(input, [_guarded_sort(sort, guard) for sort in relation.sorts])
    if isinstance(relation, Aggregate):
        keys = [guard(key) for key in relation.groupings]
        return Aggregate(input, keys, [_guarded_measure(m, guard) for m in relation.measures], relation.sets)
    if isinstance(relation, Expand):
        return Expand(input, [tuple([guard(e) for e in projection]) for projection in relation.projections])
    if isinstance(relation, Generate):
        return Generate(input, guard(relation.rows), relation.outer, relation.whole, relation.with_position)
    if isinstance(relation, Window):
        calls = [call.with_expressions([guard(e) for e in call.expressions()]) for call in relation.calls]
        partition = [guard(key) for key in relation.partition]
        return Window(input, calls, partition, [_guarded_sort(sort, guard) for sort in relation.sorts])
    raise TypeError(f"{type(relation).__name__} has no expressions to guard")


def _guarded_sort(sort: SortField, guard: Any) -> SortField:
    return SortField(guard(sort.expression), sort.ascending, sort.nulls_first)


def _guarded_measure(measure: AggregateFunction, guard: Any) -> AggregateFunction:
    return measure.with_expressions([guard(expression) for expression in measure.expressions()])


def _neutral(type: Type) -> Any:
    """Any value of the type: it is never seen."""
    if type.nullable:
        return None
    if type.kind == "struct":
        return tuple(_neutral(field) for field in type.parameters)
    return {"string": "", "binary": b"", "boolean": False, "list": (), "map": ((), ()), "fp32": 0.0, "fp64": 0.0}.get(
        type.kind, 0
    )
