"""`projects_below_filters`: keeps expressions that may raise away from rows that a filter below them drops.

    SELECT max(value), 1 / max(value) + value + min(value) FROM range(1)
    GROUP BY value HAVING max(value) <> 0   -- Divide by zero error

DataFusion moves projections below filters. So the filter's condition becomes a column, and what may raise is evaluated only
where that column is true, wherever the engine evaluates it.
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, IfThen, Literal, ScalarFunction
from ....algebra.feature import MAY_RAISE
from ....algebra.relation import Fetch, Filter, Project, Relation, Sort
from ....algebra.traversal import transformed
from ....lowering.builder import LoweringBuilder
from ..structs import null_like, require_nameless
from .neutral_values import neutral
from .struct_names import names_of


def guard_above_filters(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with what may raise above a filter guarded by the filter's condition."""
    return transformed(root, lambda relation: _guarded_above_filter(e, relation), _may_raise, MAY_RAISE)


def _may_raise(relation: Relation) -> bool:
    """Whether a relation of one input computes something that may raise."""
    return (
        len(relation.inputs) == 1
        and bool(relation.own_features & MAY_RAISE)
        and any(expression.raises for expression in relation.expressions())
    )


def _guarded_above_filter(e: LoweringBuilder, relation: Relation) -> Relation:
    if not _may_raise(relation):
        return relation
    marked = _marked(relation.inputs[0])
    return relation if marked is None else _guarded(e.over(marked), relation, marked)


def _marked(relation: Relation) -> Relation | None:
    """The relation with its filter's condition as one more column, the last; None where it has no filter."""
    above: list[Relation] = []
    while isinstance(relation, Sort | Fetch | Project):
        above.append(relation)
        (relation,) = relation.inputs
    if not isinstance(relation, Filter):
        return None
    marked = relation if _is_marked(relation) else _with_mark(relation)
    for step in reversed(above):
        over = step.over((marked,), step.expressions())
        marked = over.with_all_columns().select((*over.emitted, len(marked.types) - 1))
    return marked


def _with_mark(filter: Filter) -> Relation:
    (input,) = filter.inputs
    mark = len(input.types)
    condition = Project(input, [filter.condition])
    return Filter(condition, FieldReference(mark, condition.types[mark])).select((*filter.emitted, mark))


def _is_marked(relation: Relation) -> bool:
    """Whether the last column is the condition of the relation, a filter."""
    if not isinstance(relation, Filter) or not isinstance(relation.condition, FieldReference):
        return False
    columns = relation.emitted
    condition = relation.condition
    return bool(columns) and columns[-1] == condition.ordinal and not condition.path and not condition.outer


def _guarded(e: LoweringBuilder, relation: Relation, input: Relation) -> Relation:
    """The relation over the marked input, with the columns that it had."""
    mark = FieldReference(len(input.types) - 1, input.types[-1])

    def guard(expression: Expression) -> Expression:
        if not expression.raises:
            return expression
        if isinstance(expression, ScalarFunction) and not expression.raises_itself and _holds_struct(expression):
            # Not every engine has a null in a struct's place, but it needs none where the parts raise.
            return expression.with_children([guard(part) for part in expression.children()])
        choice = IfThen(((mark, expression),), _instead(e, expression))
        chosen: Expression = e.rewritten(choice)  # as one of booleans, DataFusion would compute both
        return chosen

    return relation.over((input,), [guard(expression) for expression in relation.expressions()])


def _instead(e: LoweringBuilder, expression: Expression) -> Expression:
    """What stands for a value in rows that a filter drops."""
    if _holds_struct(expression):
        if not expression.type.nullable or None in names_of(e, expression):
            require_nameless(e, expression.type)
        return null_like(e, expression)
    return Literal(neutral(expression.type), expression.type)


def _holds_struct(expression: Expression) -> bool:
    return types.holds(expression.type, ("struct",))
