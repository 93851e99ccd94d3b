"""Cuts expressions that nest too deep into projects below their relation.

Protobuf readers stop at 100 nested messages. A part that is cut out is computed in a project below, for every row:
so it must be one that is evaluated for every row anyway, or that can't raise. Of a join's condition, it must be one over
the columns of one input.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from .evaluation import always_evaluated
from .expression import Expression, FieldReference, Lambda, ScalarFunction, Subquery
from .feature import NOT_DETERMINISTIC, SUBQUERY
from .join_columns import LEFT, RIGHT, sides_of, with_columns_of, with_right_side_moved
from .relation import Join, Project, Relation
from .traversal import refers_to_parameters, with_columns_at

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
    elif isinstance(relation, Join) and not relation.own_features & (NOT_DETERMINISTIC | SUBQUERY):
        relation = _with_projects_below(relation, limit - relation.LEVELS_ABOVE_EXPRESSIONS, smallest)
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


def _with_projects_below(join: Join, room: int, smallest: int) -> Relation:
    left, right = join.inputs
    width, both = len(left.types), len(left.types) + len(right.types)
    parts = _Parts(both, smallest, lambda part: sides_of(part, width) in (LEFT, RIGHT))
    condition = parts.split(join.condition, room, always=False)
    if not parts.cut_out:
        return join
    added: dict[frozenset[bool], list[int]] = {LEFT: [], RIGHT: []}
    for number, part in enumerate(parts.cut_out):
        added[sides_of(part, width)].append(number)
    lefts, rights = ([parts.cut_out[number] for number in added[side]] for side in (LEFT, RIGHT))
    # What the inputs have now: the left one's columns and parts, then the right one's.
    order = [*range(width), *(both + n for n in added[LEFT]), *range(width, both), *(both + n for n in added[RIGHT])]
    places = {before: now for now, before in enumerate(order)}
    wider = Project(left, lefts) if lefts else left
    other = Project(right, [with_right_side_moved(part, width, -width) for part in rights]) if rights else right
    made = join.with_all_columns().over((wider, other), [with_columns_at(condition, places.__getitem__)])
    return with_columns_of(join, made, wider)


class _Parts:
    """The parts that are cut out of one relation's expressions; a part that occurs twice is computed once.

    `movable` tells whether a part can be computed below the relation.
    """

    def __init__(self, width: int, smallest: int, movable: Callable[[Expression], bool] = lambda part: True) -> None:
        self.cut_out: list[Expression] = []
        self.cut_inside = False
        """Whether the relation of a subquery was cut."""
        self._width = width
        self._smallest = smallest
        self._movable = movable
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
            elif rest < self._smallest and self._can_move(child, evaluated):
                replaced.append(self._cut(child))
            else:
                replaced.append(self.split(child, rest, evaluated) if rest >= self._smallest else child)
        return expression.with_children(replaced)

    def _can_move(self, expression: Expression, evaluated: bool) -> bool:
        return (
            (evaluated or not expression.raises) and not refers_to_parameters(expression) and self._movable(expression)
        )

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
