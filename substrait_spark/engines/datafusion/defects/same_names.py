"""Gives values that meet, in a CASE, a list or a union, the same names of struct fields: DataFusion matches fields by name.

Where names differ, what a plan builds is built with others, and a struct that is there is taken apart and built anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, IfThen, ScalarFunction
from ....algebra.relation import Project, Relation, Set
from ....algebra.trampoline import Steps, in_turn, run
from ....algebra.traversal import columns
from ....algebra.types import Type
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Alike, Root
from ..structs import guarded, named_struct, rebuilt, stored_field
from .struct_names import Names, agree, element, has_names, names_of, own_names, parts, relation_names, split

FREE = ("array_transform", "map", "named_struct", "xxhash64")
"""Functions whose arguments have nothing to do with each other."""

PASSING = ("array_compact", "array_element", "array_slice", "coalesce", "greatest", "make_array")
"""Functions that give a value, or lists of values, that they got as an argument."""


def in_call(e: LoweringBuilder, call: ScalarFunction) -> ScalarFunction:
    """The call with its arguments of the same type, or lists of it, by the same names."""
    given = call.arguments
    if len(given) < 2 or call.declaration.name in FREE:
        return call
    named = [argument for argument in given if isinstance(argument, Expression) and _is_named(argument)]
    if len(named) < 2:
        return call
    by_id: dict[int, Expression] = {}
    for argument in named:
        kind = element(argument.type)
        alike = [each for each in named if types.equal_but_nullability(element(each.type), kind)]
        if id(argument) not in by_id:
            by_id.update(zip(map(id, alike), together(e, alike), strict=True))
    arguments = tuple([by_id.get(id(argument), argument) for argument in given])
    return ScalarFunction(call.declaration, arguments, call.options, call.raising)


def alike(e: LoweringBuilder, form: Alike) -> Alike:
    """Values that meet, by the same names."""
    return Alike(together(e, form.values))


def _is_named(argument: Expression) -> bool:
    return argument.type.kind != "func" and has_names(argument.type)


def together(e: LoweringBuilder, values: Sequence[Expression]) -> Sequence[Expression]:
    """Values of one type, or lists of it, with the same names: those of a value that the plan doesn't build, if it has any."""
    if len(values) < 2 or not has_names(values[0].type):
        return values
    names = [names_of(e, value) for value in values]
    if all(agree(names[0], others) for others in names[1:]):
        return values
    wanted = next((n for n, value in zip(names, values, strict=True) if not _is_built(value)), names[0])
    return [value if agree(n, wanted) else renamed(e, value, wanted) for n, value in zip(names, values, strict=True)]


def _is_built(root: Expression) -> bool:
    """Whether the value's own expression builds the structs in it, so that other names cost nothing."""
    stack = [root]
    while stack:
        value = stack.pop()
        if not has_names(value.type) or _is_call(value, ("named_struct",)):
            continue
        if not isinstance(value, IfThen) and not _is_call(value, PASSING):
            return False
        stack.extend(_passed(value))
    return True


def _is_call(value: Expression, functions: Sequence[str]) -> bool:
    return isinstance(value, ScalarFunction) and value.declaration.name in functions


def _passed(value: Expression) -> Sequence[Expression]:
    """The parts of a choice, or of a call that passes them on, whose structs the value's structs are."""
    if isinstance(value, IfThen):
        return [*(each for _, each in value.clauses), value.otherwise]
    return value.children()


def renamed(e: LoweringBuilder, value: Expression, names: Names) -> Expression:
    """The same value with other names in it. Raises `NotInDialect` where it can't be built with these."""
    return run(_renamed(e, value, names))


def _renamed(e: LoweringBuilder, value: Expression, names: Names) -> Steps[Expression]:
    if not has_names(value.type) or names_of(e, value) == names:
        return value
    if isinstance(value, IfThen):
        values = yield from in_turn([_renamed(e, each, names) for each in _passed(value)])
        clauses = zip((condition for condition, _ in value.clauses), values[:-1], strict=True)
        return IfThen(tuple(clauses), values[-1])
    if isinstance(value, ScalarFunction) and value.declaration.name in PASSING:
        return value.with_children((yield from in_turn([_renamed(e, each, names) for each in value.children()])))
    if value.type.kind == "list" and None not in names_of(e, value):
        return e.as_type(rebuilt(e, value, names_of(e, value), value.type, names, e.as_type), value.type)
    if value.type.kind != "struct":
        raise brought_together(value.type, names_of(e, value), names)
    inside = parts(value.type, names)
    own = own_names(value.type, names)
    if _is_call(value, ("named_struct",)):
        fields = value.children()[1::2]
        built = yield from in_turn([_renamed(e, field, part) for field, part in zip(fields, inside, strict=True)])
        return named_struct(e, value.type, own, built)
    struct = e.share(value) if value.type.nullable else value
    fields = tuple([stored_field(e, struct, n) for n in range(len(value.type.parameters))])
    built = yield from in_turn([_renamed(e, field, part) for field, part in zip(fields, inside, strict=True)])
    return guarded(e, [struct], lambda: named_struct(e, types.required(value.type), own, built))


def as_wanted(e: LoweringBuilder, value: Expression, names: Names) -> Expression:
    """The value with the names that are wanted of it, where they are known and it can be built with them."""
    if None in names or agree(names_of(e, value), names):
        return value
    try:
        return renamed(e, value, names)
    except NotInDialect:
        return value


def brought_together(type: Type, names: Names, others: Names) -> NotInDialect:
    """Why values can't meet whose names differ."""
    return NotInDialect(
        f"it brings {shown(type, names)} and {shown(type, others)} together, whose fields Spark matches by position",
        "Give the fields of both structs the same names.",
    )


def shown(type: Type, names: Names) -> str:
    """A type with the names in it."""
    if not has_names(type):
        return str(types.required(type))
    texts = [shown(part, inside) for part, inside in zip(type.parameters, parts(type, names), strict=True)]
    if type.kind == "struct":
        texts = [f"{name}: {text}" for name, text in zip(own_names(type, names), texts, strict=True)]
    return f"{type.kind}<{', '.join(texts)}>"


# ---- relations


def united(e: LoweringBuilder, relation: Set) -> Relation:
    """A set relation over inputs with the same names: those of an input that doesn't build the structs, if there is one."""
    inputs = relation.inputs
    if not any(map(has_names, inputs[0].types)):
        return relation
    by_column = list(zip(*(relation_names(e, input) for input in inputs), strict=True))
    wanted = [
        next((each for each, input in zip(names, inputs, strict=True) if _stands(input, n)), names[0])
        for n, names in enumerate(by_column)
    ]
    return Set([named(e, input, wanted) for input in inputs], relation.operation)


def _stands(relation: Relation, ordinal: int) -> bool:
    """Whether a column holds no structs that the relation builds itself."""
    if not isinstance(relation, Project):
        return True
    position = relation.emitted[ordinal] - len(relation.inputs[0].types)
    return position < 0 or not _is_built(relation.computed[position])


def rooted(e: LoweringBuilder, root: Root) -> Relation:
    """The root of a plan, with the names that its columns are to have in them."""
    if not any(map(has_names, root.relation.types)):
        return root.relation
    return named(e, root.relation, split(root.relation.types, root.names))


def named(e: LoweringBuilder, relation: Relation, wanted: Sequence[Names]) -> Relation:
    """The relation, with these names in its columns."""
    own = relation_names(e, relation)
    other = {n: names for n, names in enumerate(wanted) if not agree(own[n], names)}
    if isinstance(relation, Project):
        relation, other = _renamed_where_computed(e, relation, other)
    if not other:
        return relation
    over = e.over(relation)
    kept: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(relation.types)]
    return columns(relation, [renamed(over, each, other[n]) if n in other else each for n, each in enumerate(kept)])


def _renamed_where_computed(
    e: LoweringBuilder, project: Project, wanted: dict[int, Names]
) -> tuple[Relation, dict[int, Names]]:
    """The project, with other names in what it computes, and the columns that still are to have others."""
    width = len(project.inputs[0].types)
    own = project.emitted
    computed = list(project.computed)
    over = e.over(*project.inputs)
    left = {}
    for n, names in wanted.items():
        position = own[n] - width
        if position >= 0 and list(own).count(own[n]) == 1:
            computed[position] = renamed(over, computed[position], names)
        else:
            left[n] = names
    return project if len(left) == len(wanted) else project.over(project.inputs, computed), left
