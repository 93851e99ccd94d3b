"""Finds which names of struct fields the plan's result asks of each expression that builds structs.

A plan's root names the fields of structs that are built anywhere below it. The names flow from there to these places, as
far as they can be followed; where they get lost, fields get other names, and later the ones that the root has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....algebra import types
from ....algebra.expression import (
    Expression,
    FieldReference,
    IfThen,
    Lambda,
    Nested,
    Part,
    ScalarFunction,
    ScalarSubquery,
    WindowFunction,
)
from ....algebra.relation import Aggregate, Expand, Generate, Project, Relation, Set, Window
from ....algebra.traversal import inputs_first
from ....algebra.types import Type
from ....lowering.lowering import Lowering
from .struct_names import Names, element, filled, has_names, joined, parts, split, unknown


class WantedNames:
    """The names that are wanted of a plan's expressions, and of the columns of its relations."""

    def __init__(self, lowering: Lowering) -> None:
        self._expressions: dict[int, Names] = {}
        self._columns: dict[int, list[Names]] = {}
        root = lowering.root
        if root is None or not any(map(has_names, root.types)):
            return
        self._columns[id(root)] = split(root.types, lowering.names)
        for relation in reversed(list(inputs_first(root, subqueries=True))):
            columns = self._columns.get(id(relation))
            if columns is not None:
                _Flow(self, relation.inputs).down(relation, columns)

    def of(self, expression: Expression) -> Names:
        """The names that are wanted in the type of a canonical expression, where it builds structs."""
        return self._expressions.get(id(expression)) or unknown(expression.type)

    def in_columns(self, relation: Relation) -> Sequence[Names]:
        """The names that are wanted in the columns of a relation."""
        return self._columns.get(id(relation)) or list(map(unknown, relation.types))

    def want(self, expression: Expression, names: Names) -> None:
        before = self._expressions.get(id(expression))
        self._expressions[id(expression)] = names if before is None else filled(before, names)

    def want_column(self, relation: Relation, ordinal: int, names: Names) -> None:
        if any(names):
            columns = self._columns.setdefault(id(relation), list(map(unknown, relation.types)))
            columns[ordinal] = filled(columns[ordinal], names)


class _Around(NamedTuple):
    """The call whose lambda an expression is in, and what that call is in."""

    call: ScalarFunction
    around: _Around | None


Wanted = tuple[Expression, Names, "_Around | None"]
"""An expression, the names that are wanted in it, and the call whose lambda it is in."""


class _Flow:
    """Passes names on from a relation's columns to what they are computed from."""

    def __init__(self, wanted: WantedNames, inputs: Sequence[Relation]) -> None:
        self._wanted = wanted
        self._inputs = inputs

    def down(self, relation: Relation, columns: Sequence[Names]) -> None:
        for ordinal, names in zip(relation.emitted, columns, strict=True):
            if any(names):
                self._column(relation, ordinal, names)

    def _column(self, relation: Relation, ordinal: int, names: Names) -> None:
        width = self._width(relation)
        if ordinal < width:
            self._below(ordinal, names)
        else:
            MADE.get(type(relation), _made_of_nothing)(self, relation, ordinal - width, names)

    def _width(self, relation: Relation) -> int:
        """How many columns a relation has from its inputs."""
        return len(relation.passed([input.types for input in self._inputs]))

    def _below(self, ordinal: int, names: Names) -> None:
        for input in self._inputs:
            if ordinal < len(input.types):
                self._wanted.want_column(input, ordinal, names)
                return
            ordinal -= len(input.types)

    def of_inputs(self, relation: Set, ordinal: int, names: Names) -> None:
        """Want names in a column of each input."""
        for input in relation.inputs:
            self._wanted.want_column(input, ordinal, names)

    def of_computed(self, relation: Project, ordinal: int, names: Names) -> None:
        """Want names in an expression of a project's."""
        self._expression(relation.computed[ordinal], names)

    def of_projections(self, relation: Expand, ordinal: int, names: Names) -> None:
        """Want names in the expressions that a column of an Expand has in turn."""
        for projection in relation.projections:
            self._expression(projection[ordinal], names)

    def of_rows(self, relation: Generate, ordinal: int, names: Names) -> None:
        """Want names in the list whose elements a relation makes rows of."""
        self._expression(relation.rows, _of_rows(relation, ordinal, names))

    def of_group(self, relation: Aggregate, ordinal: int, names: Names) -> None:
        """Want names in a key, or in the arguments of a measure."""
        keys = len(relation.groupings)
        if ordinal < keys:
            self._expression(relation.groupings[ordinal], names)
        else:
            self.of_call(relation, ordinal - keys, names)

    def of_call(self, relation: Aggregate | Window, ordinal: int, names: Names) -> None:
        """Want names in the arguments of a measure or of a window function."""
        call = relation.functions()[ordinal]
        for argument in call.expressions():
            self._expression(argument, _in_argument(argument.type, call.type, names))

    def _expression(self, root: Expression, names: Names) -> None:
        stack: list[Wanted] = [(root, names, None)]
        while stack:
            expression, names, around = stack.pop()
            if not any(names):
                continue
            if isinstance(expression, FieldReference):
                stack.extend(self._reference(expression, names, around))
            elif isinstance(expression, ScalarSubquery):
                self._wanted.want_column(expression.relation, 0, names)
            else:
                self._wanted.want(expression, names)
                stack.extend(INSIDE.get(type(expression), _of_children)(expression, names, around))

    def _reference(self, reference: FieldReference, names: Names, around: _Around | None) -> Iterator[Wanted]:
        if reference.outer:
            return
        if reference.parameter is not None:
            for _ in range(reference.parameter):
                around = around and around.around
            if around is not None and not reference.path:
                for argument in around.call.children():
                    if not isinstance(argument, Lambda):
                        yield argument, _in_argument(argument.type, reference.type, names), around.around
            return
        ordinal = reference.ordinal
        for input in self._inputs:
            if ordinal < len(input.types):
                self._wanted.want_column(input, ordinal, _in_whole(input.types[ordinal], reference.path, names))
                return
            ordinal -= len(input.types)


def _made_of_nothing(flow: _Flow, relation: Relation, ordinal: int, names: Names) -> None:
    """No names are in a column that a relation makes of itself, such as a mark."""


MADE: Mapping[type[Relation], Callable[[_Flow, Any, int, Names], None]] = {
    Aggregate: _Flow.of_group,
    Expand: _Flow.of_projections,
    Generate: _Flow.of_rows,
    Project: _Flow.of_computed,
    Set: _Flow.of_inputs,
    Window: _Flow.of_call,
}
"""Where names go that are wanted in a column that a relation makes, by its position behind those of the input."""


# ---- in the parts that an expression's value is made of


def _of_parts(nested: Nested, names: Names, around: _Around | None) -> Iterator[Wanted]:
    inside = parts(nested.type, names)
    yield from ((part, inside[n % len(inside)], around) for n, part in enumerate(nested.parts))


def _of_choices(choice: IfThen, names: Names, around: _Around | None) -> Iterator[Wanted]:
    yield from ((value, names, around) for value in (*(v for _, v in choice.clauses), choice.otherwise))


def _of_root(part: Part, names: Names, around: _Around | None) -> Iterator[Wanted]:
    yield part.root, _in_whole(part.root.type, part.path, names), around


def _of_window(function: WindowFunction, names: Names, around: _Around | None) -> Iterator[Wanted]:
    for argument in function.call.expressions():
        yield argument, _in_argument(argument.type, function.type, names), around


def _of_children(expression: Expression, names: Names, around: _Around | None) -> Iterator[Wanted]:
    for child in expression.children():
        yield child, _in_argument(child.type, expression.type, names), around


def _of_call(call: ScalarFunction, names: Names, around: _Around | None) -> Iterator[Wanted]:
    if call.declaration.name == "arrays_zip":
        for list, inside in zip(call.children(), parts(element(call.type), names), strict=True):
            yield list, inside, around
        return
    for argument in call.children():
        if isinstance(argument, Lambda):
            yield argument.body, _in_argument(argument.body.type, call.type, names), _Around(call, around)
        else:
            yield argument, _in_argument(argument.type, call.type, names), around


INSIDE: Mapping[type[Expression], Callable[[Any, Names, _Around | None], Iterator[Wanted]]] = {
    IfThen: _of_choices,
    Nested: _of_parts,
    Part: _of_root,
    ScalarFunction: _of_call,
    WindowFunction: _of_window,
}
"""The parts that an expression's value is made of, with the names in each, where these are not just its children."""


def _in_argument(argument: Type, result: Type, names: Names) -> Names:
    """The names in an argument, of those in a call's result, where types tell that one holds the other's structs.

    The argument may be the result, or be its elements, keys or values, or the other way round.
    """
    if not has_names(argument):
        return ()
    given, wanted = element(argument), element(result)
    if types.equal_but_nullability(given, wanted):
        return names
    if wanted.kind == "map":
        for part, inside in zip(wanted.parameters, parts(wanted, names), strict=True):
            if types.equal_but_nullability(given, element(part)):
                return inside
    if given.kind == "map":
        for n, part in enumerate(given.parameters):
            if types.equal_but_nullability(element(part), wanted):
                return tuple(
                    [name for m, other in enumerate(given.parameters) for name in (names if m == n else unknown(other))]
                )
    return unknown(argument)


def _in_whole(type: Type, path: Sequence[tuple[str, Any]], names: Names) -> Names:
    """The names in a value: those given are of the part that the path leads to, the others are unknown."""
    if not path:
        return names
    (kind, where), *rest = path
    if kind != "field":
        part = type.parameters[-1]
        inside = _in_whole(part, rest, names)
        return inside if kind == "element" else (*unknown(type.parameters[0]), *inside)
    of_fields = [unknown(field) for field in type.parameters]
    of_fields[where] = _in_whole(type.parameters[where], rest, names)
    return joined([None] * len(of_fields), of_fields)


def _of_rows(relation: Generate, ordinal: int, names: Names) -> Names:
    """The names in the list of a Generate relation, of those in a column that it generates."""
    made: Type = relation.rows.type.parameters[0]
    if relation.whole:
        return names
    return _in_whole(made, [("field", ordinal - relation.with_position)], names)
