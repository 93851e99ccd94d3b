"""Finds the names of struct fields in lowered values: DataFusion goes by names where a plan goes by position.

    SELECT CASE WHEN x THEN {'a': 1, 'b': 2} ELSE {'b': 3, 'a': 4} END FROM (VALUES (false)) t(x)   -- {a: 4, b: 3}

Types, literals and lambdas of a plan tell no names. So the names in an expression's type are found from the inside out: a
table's schema states them, and so do the calls of `named_struct`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ....algebra import types
from ....algebra.expression import (
    Cast,
    Expression,
    FieldReference,
    IfThen,
    Lambda,
    Literal,
    ScalarFunction,
    ScalarSubquery,
    Shared,
    StandIn,
    WindowFunction,
)
from ....algebra.flat_map import FlatMap, FlatMapCoGroups
from ....algebra.recursion import Recursion
from ....algebra.relation import Aggregate, Expand, Generate, Project, Read, Relation, Set, VirtualTable, Window
from ....algebra.trampoline import Steps, done, run
from ....algebra.types import Type, field_count
from ....lowering.builder import LoweringBuilder
from ....lowering.lowering import Lowering
from ....user_functions.declared import RESULT_FIELDS, field_names
from ... import type_text

Names = tuple[str | None, ...]
"""The names of all struct fields in a type, depth-first, as a schema has them; None for those that are not known."""

ANY = "\0any"
"""The name of every field in what a stand-in takes the place of: it is like any other."""


def has_names(type: Type) -> bool:
    """Whether a type is, or has somewhere inside, a struct."""
    return bool(type.parameters or type.kind == "struct") and types.holds(type, ("struct",))


def unknown(type: Type) -> Names:
    """The names in a type of which nothing is known."""
    return (None,) * field_count(type) if has_names(type) else ()


def parts(type: Type, names: Names) -> list[Names]:
    """The names inside each field of a struct, in the elements of a list, or in the keys and in the values of a map."""
    found = []
    start = 0
    for part in type.parameters:
        start += type.kind == "struct"
        count = field_count(part)
        found.append(names[start : start + count])
        start += count
    return found


def own_names(type: Type, names: Names) -> list[str | None]:
    """The names of a struct's own fields."""
    found = []
    start = 0
    for part in type.parameters:
        found.append(names[start])
        start += 1 + field_count(part)
    return found


def joined(own: Sequence[str | None], inside: Sequence[Names]) -> Names:
    """The names in a struct, depth-first: each field's own name, then those inside the field."""
    return tuple([name for field, names in zip(own, inside, strict=True) for name in (field, *names)])


def filled(names: Names, others: Names) -> Names:
    """The names, with the others in the place of unknown ones."""
    return tuple([other if name is None else name for name, other in zip(names, others, strict=True)])


def agree(left: Names, right: Names) -> bool:
    """Whether names are the same, as far as they are known."""
    return left == right or all(a == b or not {a, b}.isdisjoint((None, ANY)) for a, b in zip(left, right, strict=True))


def split(kinds: Sequence[Type], names: Sequence[str | None]) -> list[Names]:
    """The names in each of several columns, of the depth-first names of the columns and of what is in them."""
    found: list[Names] = []
    start = 0
    if len(names) != len(kinds) + sum(map(field_count, kinds)):
        return list(map(unknown, kinds))
    for kind in kinds:
        count = field_count(kind)
        found.append(tuple(names[start + 1 : start + 1 + count]))
        start += 1 + count
    return found


def element(type: Type) -> Type:
    """The type of the innermost elements of a list of lists; the type itself where it is no list."""
    while type.kind == "list":
        type = type.parameters[0]
    return type


# ---- of expressions


class Naming:
    """The names in the types of expressions over columns. `columns`: the names in each of these."""

    def __init__(self, columns: Sequence[Names], relations: RelationNames) -> None:
        self._columns = columns
        self._relations = relations
        self._known: dict[int, tuple[Expression, Names]] = {}

    def of(self, expression: Expression) -> Names:
        return run(self.step(expression))

    def step(self, expression: Expression) -> Steps[Names]:
        """`of`, for what needs it on its way."""
        if not has_names(expression.type):
            return ()
        if id(expression) not in self._known:
            # The expression is kept, so that no other takes its identity.
            self._known[id(expression)] = (expression, (yield self._found(expression)))
        return self._known[id(expression)][1]

    def _found(self, expression: Expression) -> Steps[Names]:
        return EXPRESSIONS.get(type(expression), _of_nothing_known)(self, expression)

    def of_column(self, reference: FieldReference) -> Steps[Names]:
        """The names in a column, or in a part of one or what is no column, of which none is known."""
        if reference.outer or reference.parameter is not None or reference.ordinal >= len(self._columns):
            return done(unknown(reference.type))
        names = self._columns[reference.ordinal]
        return done(unknown(reference.type) if reference.path else names)

    def of_subquery(self, subquery: ScalarSubquery) -> Steps[Names]:
        """The names in the one column of a subquery."""
        return done(self._relations.of(subquery.relation)[0])

    def of_any(self, values: Iterable[Expression], type: Type) -> Steps[Names]:
        """The names in the first value, or in lists of it, that has the type or lists of it."""
        wanted = element(type)
        names = unknown(type)
        for value in values:
            if types.equal_but_nullability(element(value.type), wanted):
                names = filled(names, (yield self.step(value)))
                if None not in names:
                    break
        return names


def _of_nothing_known(naming: Naming, expression: Expression) -> Steps[Names]:
    return done(unknown(expression.type))


def _of_anything(naming: Naming, expression: StandIn) -> Steps[Names]:
    return done((ANY,) * len(unknown(expression.type)))


def _of_call(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    if stated := field_names(call.options, RESULT_FIELDS):
        return done(tuple(stated))
    return FUNCTIONS.get(call.declaration.name, _like_an_argument)(naming, call)


def _of_choice(naming: Naming, choice: IfThen) -> Steps[Names]:
    return naming.of_any([*(value for _, value in choice.clauses), choice.otherwise], choice.type)


def _of_input(naming: Naming, expression: Cast | Shared) -> Steps[Names]:
    return naming.step(expression.children()[0])


def _of_lambda(naming: Naming, function: Lambda) -> Steps[Names]:
    return naming.step(function.body)


def _of_window(naming: Naming, function: WindowFunction) -> Steps[Names]:
    return naming.of_any(function.call.expressions(), function.type)


EXPRESSIONS: Mapping[type[Expression], Callable[[Naming, Any], Steps[Names]]] = {
    Cast: _of_input,
    FieldReference: Naming.of_column,
    IfThen: _of_choice,
    Lambda: _of_lambda,
    ScalarFunction: _of_call,
    ScalarSubquery: Naming.of_subquery,
    Shared: _of_input,
    StandIn: _of_anything,
    WindowFunction: _of_window,
}
"""Expressions in whose types names are known."""


def _like_an_argument(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    return naming.of_any(call.children(), call.type)


def _of_struct(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    arguments = call.children()
    inside: list[Names] = []
    for value in arguments[1::2]:
        inside.append((yield naming.step(value)))  # noqa: PERF401 - a comprehension can't wait
    return joined([name.value for name in arguments[::2] if isinstance(name, Literal)], inside)


def _of_field(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    struct, name = call.children()
    names = yield naming.step(struct)
    own = own_names(struct.type, names)
    if not isinstance(name, Literal) or name.value not in own:
        return unknown(call.type)
    return parts(struct.type, names)[own.index(name.value)]


def _of_map(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    keys, values = call.children()
    return (*(yield naming.step(keys)), *(yield naming.step(values)))


def _of_keys(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    (map,) = call.children()
    return parts(map.type, (yield naming.step(map)))[0]


def _of_values(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    map, *_ = call.children()
    return parts(map.type, (yield naming.step(map)))[1]


def _of_entries(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    (map,) = call.children()
    return joined(ENTRY, parts(map.type, (yield naming.step(map))))


def _of_body(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    return naming.step(call.children()[1])


def _of_schema(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    schema = call.children()[1]
    return done(tuple(type_text.field_names(schema.value))) if isinstance(schema, Literal) else done(unknown(call.type))


def _numbered(naming: Naming, call: ScalarFunction) -> Steps[Names]:
    return done(tuple([f"c{n}" for n in range(1, 1 + len(unknown(call.type)))]))


ENTRY = ("key", "value")
"""The names of the fields of a map's entries."""

FUNCTIONS: dict[str, Callable[[Naming, ScalarFunction], Steps[Names]]] = {
    "array_transform": _of_body,
    "catalyst_aggregate": _numbered,
    "catalyst_evaluate": _numbered,
    "get_field": _of_field,
    "map": _of_map,
    "map_entries": _of_entries,
    "map_extract": _of_values,
    "map_keys": _of_keys,
    "map_values": _of_values,
    "named_struct": _of_struct,
    "spark_from_json": _of_schema,
    "spark_from_json_or_fail": _of_schema,
}
"""Functions whose result has other names in it than the arguments of its type."""


# ---- of relations


class RelationNames:
    """The names in the columns of relations in DataFusion's forms."""

    def __init__(self, lowering: Lowering | None = None) -> None:
        self._known: dict[int, tuple[Relation, Sequence[Names]]] = {}

    def of(self, root: Relation) -> Sequence[Names]:
        """The names in each column."""
        known = self._known
        stack = [root]
        while stack:
            below = [input for input in stack[-1].inputs if id(input) not in known]
            if below:
                stack += below
                continue
            relation = stack.pop()
            if id(relation) not in known:
                # The relation is kept, so that no other takes its identity.
                known[id(relation)] = (relation, self._found(relation))
        return known[id(root)][1]

    def _found(self, relation: Relation) -> Sequence[Names]:
        if not any(map(has_names, relation.types)):
            return [()] * len(relation.types)
        own = self._own(relation, [self._known[id(input)][1] for input in relation.inputs])
        return [own[n] if n < len(own) else () for n in relation.emitted]

    def _own(self, relation: Relation, inputs: Sequence[Sequence[Names]]) -> Sequence[Names]:
        """The names in a relation's own columns, but for the last of them, which hold no structs."""
        if isinstance(relation, Read):
            return _of_read(relation)
        if isinstance(relation, Recursion | Set):
            return inputs[0]
        made = MADE.get(type(relation), _none)
        naming = Naming([names for input in inputs for names in input], self)
        return [*relation.passed(inputs), *made(naming, relation)]


def _of_read(read: Read) -> Sequence[Names]:
    if isinstance(read, VirtualTable) and any(isinstance(cell, StandIn) for cell in read.expressions()):
        return [(ANY,) * field_count(kind) for kind in read.schema]
    return split(read.schema, read.names)


def _none(naming: Naming, relation: Relation) -> Iterable[Names]:
    return ()


def _computed(naming: Naming, project: Project) -> Iterable[Names]:
    return map(naming.of, project.computed)


def _grouped(naming: Naming, aggregate: Aggregate) -> Iterable[Names]:
    return [*map(naming.of, aggregate.groupings), *_of_calls(naming, aggregate)]


def _of_calls(naming: Naming, relation: Aggregate | Window) -> Iterable[Names]:
    return [run(naming.of_any(call.expressions(), call.type)) for call in relation.functions()]


def _expanded(naming: Naming, expand: Expand) -> Iterable[Names]:
    return map(naming.of, expand.projections[0])


def _generated(naming: Naming, generate: Generate) -> Iterable[Names]:
    names = naming.of(generate.rows)
    position: list[Names] = [()] if generate.with_position else []
    return [*position, *([names] if generate.whole else parts(generate.rows.type.parameters[0], names))]


def _of_rows_call(naming: Naming, relation: FlatMap) -> Iterable[Names]:
    return split(relation.call.type.parameters[0].parameters, field_names(relation.call.options, RESULT_FIELDS))


MADE: Mapping[type[Relation], Callable[[Naming, Any], Iterable[Names]]] = {
    Aggregate: _grouped,
    Expand: _expanded,
    FlatMap: _of_rows_call,
    FlatMapCoGroups: _of_rows_call,
    Generate: _generated,
    Project: _computed,
    Window: _of_calls,
}
"""The names in the columns that a relation makes, which come behind those of its input."""


def _naming_over(e: LoweringBuilder) -> Naming:
    """The names in expressions over the inputs of a relation."""
    relations = e.lowering.memory(RelationNames)
    return Naming([names for input in e.inputs for names in relations.of(input)], relations)


def names_of(e: LoweringBuilder, expression: Expression) -> Names:
    """The depth-first names of the struct fields in the type of a lowered expression."""
    return e.memory(_naming_over).of(expression) if has_names(expression.type) else ()


def relation_names(e: LoweringBuilder, relation: Relation) -> Sequence[Names]:
    """The names of the struct fields in each column of a lowered relation."""
    return e.lowering.memory(RelationNames).of(relation)
