"""Cuts expressions that nest too deep into projects below their relation.

Protobuf readers stop at 100 nested messages. A part that is cut out is computed in a project below, for every row:
so it must be one that is evaluated for every row anyway, or that can't raise.
"""

from __future__ import annotations

from ..algebra.expression import Expression, FieldReference, Lambda
from ..algebra.relation import Aggregate, Generate, Project, Relation, Sort, Window
from .evaluation_order import always_evaluated, rebuilt

SMALLEST = 12
"""With less room than this for an operand, it is better to cut the operand out whole."""


def cut(relation: Relation, limit: int) -> Relation:
    """The relation with its expressions in at most `limit` nested messages, as far as they can be cut."""
    if relation.height <= limit:
        return relation
    if len(relation.inputs) == 1 and relation.expressions():
        relation = _with_project_below(relation, limit - _levels_above_expressions(relation))
    inputs = tuple([cut(input, limit - 2) for input in relation.inputs])
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(inputs)


def _levels_above_expressions(relation: Relation) -> int:
    """How many messages lie between a relation and its expressions, at most; their own included."""
    return {Aggregate: 7, Sort: 4, Window: 6}.get(type(relation), 2)


def _with_project_below(relation: Relation, room: int) -> Relation:
    (input,) = relation.inputs
    parts = _Parts(len(input.types))
    changed = {id(expression): parts.split(expression, room, always=True) for expression in relation.expressions()}
    if not parts.cut_out:
        return relation
    below = Project(input, parts.cut_out)
    above = rebuilt(relation, below, lambda expression: changed[id(expression)])
    width, added = len(input.types), len(parts.cut_out)
    direct = range(len(relation.types)) if relation.emit is None else relation.emit
    shifts = isinstance(relation, Generate | Project | Window)
    return above.select([n + added if shifts and n >= width else n for n in direct])


class _Parts:
    """The parts that are cut out of one relation's expressions; a part that occurs twice is computed once."""

    def __init__(self, width: int) -> None:
        self.cut_out: list[Expression] = []
        self._width = width
        self._references: dict[int, FieldReference] = {}

    def split(self, expression: Expression, room: int, always: bool) -> Expression:
        """The expression in at most `room` nested messages where that is possible.

        `always` tells whether it is evaluated for every row. Goes no deeper than the room there is.
        """
        if expression.height <= room or isinstance(expression, Lambda):
            return expression
        children = expression.children()
        if not children:
            return expression
        rest = room - (expression.height - max(child.height for child in children))
        certain = len(always_evaluated(expression))
        replaced = []
        for n, child in enumerate(children):
            evaluated = always and n < certain
            if child.height <= rest:
                replaced.append(child)
            elif rest < SMALLEST and (evaluated or not child.raises) and not _in_lambda(child):
                replaced.append(self._cut(child))
            else:
                replaced.append(self.split(child, rest, evaluated) if rest >= SMALLEST else child)
        return expression.with_children(replaced)

    def _cut(self, expression: Expression) -> FieldReference:
        reference = self._references.get(id(expression))
        if reference is None:
            reference = FieldReference(self._width + len(self.cut_out), expression.type)
            self._references[id(expression)] = reference
            self.cut_out.append(expression)
        return reference


def _in_lambda(expression: Expression) -> bool:
    """Whether an expression refers to a lambda's parameter, which a project outside does not have."""
    stack = [expression]
    while stack:
        current = stack.pop()
        if isinstance(current, FieldReference) and current.parameter is not None:
            return True
        stack.extend(current.children())
    return False
