"""Cuts expressions that nest too deep into projects below their relation.

Protobuf readers stop at 100 nested messages. A part that is cut out is computed in a project below, for every row:
so it must be one that is evaluated for every row anyway, or that can't raise.
"""

from __future__ import annotations

import itertools

from .evaluation import always_evaluated
from .expression import Expression, FieldReference, Lambda, ScalarFunction, Subquery
from .relation import Project, Relation
from .traversal import refers_to_parameters

SMALLEST = (12, 4)
"""How many levels of nesting must be left below a call for its operands to stay there. With fewer left, an operand moves whole into a
project below, and a reference to its column takes its place.

Tried with 12 first, which moves a few large operands; then with 4, the levels that such a reference itself takes.
"""


def cut(relation: Relation, limit: int) -> Relation:
    """The relation with its expressions in at most `limit` nested messages, as far as they can be cut."""
    for smallest in SMALLEST:
        shallower = _cut(relation, limit, smallest)
        if shallower.height <= limit:
            break
    return shallower


def _cut(relation: Relation, limit: int, smallest: int) -> Relation:
    # Without room for an expression below it, nothing can be cut: that also ends the recursion.
    if relation.height <= limit or limit <= _LEAST:
        return relation
    if len(relation.inputs) == 1 and relation.OVER_INPUT and relation.expressions():
        relation = _with_project_below(relation, limit - relation.LEVELS_ABOVE_EXPRESSIONS, smallest)
    inputs = tuple([_cut(input, limit - 2, smallest) for input in relation.inputs])
    if all(new is old for new, old in zip(inputs, relation.inputs, strict=True)):
        return relation
    return relation.with_inputs(inputs)


_LEAST = 8
"""The levels of a project over a leaf, whose expression calls a function."""


def _with_project_below(relation: Relation, room: int, smallest: int) -> Relation:
    (input,) = relation.inputs
    parts = _Parts(len(input.types), smallest)
    changed = [parts.split(expression, room, always=True) for expression in relation.expressions()]
    if not parts.cut_out and not parts.cut_inside:
        return relation
    below = Project(input, parts.cut_out) if parts.cut_out else input
    return relation.over((below,), changed)


class _Parts:
    """The parts that are cut out of one relation's expressions; a part that occurs twice is computed once."""

    def __init__(self, width: int, smallest: int) -> None:
        self.cut_out: list[Expression] = []
        self.cut_inside = False
        """Whether the relation of a subquery was cut."""
        self._width = width
        self._smallest = smallest
        self._references: dict[int, FieldReference] = {}

    def split(self, expression: Expression, room: int, always: bool) -> Expression:
        """The expression in at most `room` nested messages where that is possible.

        `always` tells whether it is evaluated for every row. Goes no deeper than the room there is.
        """
        if expression.height <= room or isinstance(expression, Lambda):
            return expression
        if isinstance(expression, Subquery) and expression.relation.height > room - 3:
            expression = self._inside(expression, room - 3)
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
            elif rest < self._smallest and (evaluated or not child.raises) and not refers_to_parameters(child):
                replaced.append(self._cut(child))
            else:
                replaced.append(self.split(child, rest, evaluated) if rest >= self._smallest else child)
        return expression.with_children(replaced)

    def _inside(self, expression: Subquery, room: int) -> Subquery:
        relation = _cut(expression.relation, room, self._smallest)
        if relation is expression.relation:
            return expression
        self.cut_inside = True
        return expression.with_relation(relation)

    def _cut(self, expression: Expression) -> FieldReference:
        reference = self._references.get(id(expression))
        if reference is None:
            reference = FieldReference(self._width + len(self.cut_out), expression.type)
            self._references[id(expression)] = reference
            self.cut_out.append(expression)
        return reference


SHOWN = 8
"""How many steps of the way to the deepest message are shown."""


def deepest(relation: Relation) -> str:
    """The way from the root to the message that nests deepest: relations, then functions; repeated ones are counted."""
    steps: list[str] = []
    below: Relation | Expression | None = relation
    while below is not None:
        name = below.declaration.name if isinstance(below, ScalarFunction) else type(below).__name__
        steps.append(name)
        below = _deepest_below(below)
    runs = [(name, len(list(run))) for name, run in itertools.groupby(steps)]
    shown = [f"{count} times {name}" if count > 1 else name for name, count in runs]
    if len(shown) > SHOWN:
        shown[SHOWN // 2 : -SHOWN // 2] = ["…"]
    return " / ".join(shown)


def _deepest_below(node: Relation | Expression) -> Relation | Expression | None:
    parts: list[Relation | Expression]
    if isinstance(node, Relation):
        parts = [*node.inputs, *node.expressions()]
    else:
        parts = [*node.children(), *([node.relation] if isinstance(node, Subquery) else [])]
    return max(parts, key=lambda part: part.height, default=None)
