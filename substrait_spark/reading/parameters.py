"""Values in the place of a plan's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.message import Message
from substrait.algebra_pb2 import DynamicParameter, Expression
from substrait.plan_pb2 import Plan

from ..algebra.expression import Literal, write_literal
from ..algebra.extension_messages import unpacked_with_expressions
from ..algebra.message_walk import messages_of
from ..algebra.python_values import internal
from ..algebra.type_messages import DeclaredTypes, declared_types, read_type
from ..algebra.types import Type
from ..errors import InvalidPlanError, Unsupported
from ..errors.quotation import identifier
from ..plan.parameters import names
from ..plan.type_aliases import require_few_types
from .literal import bound_literal


def bound(plan: Plan, values: Mapping[str, Any] | None) -> Plan:
    """A copy of a plan with literals in the place of its parameters: the plan itself where it has none.

    `values` are by name, or by number for what has no name; those that the plan itself binds are the defaults. Raises
    InvalidPlanError, for all of them at once, where a value is missing, is none of the type, or belongs to no parameter.
    """
    known = names(plan)
    by_name = {name: anchor for anchor, name in known.items()}
    given = {by_name.get(name, name): value for name, value in (values or {}).items()}
    require_few_types(plan)
    declared = declared_types(plan)
    types = _types(plan, declared)
    problems = [_unknown(name, known) for name in given if name not in known and name not in types]
    defaults = {binding.parameter_anchor: binding.value for binding in plan.parameter_bindings}
    literals: dict[int, Literal] = {}
    for anchor, type in types.items():
        name = known.get(anchor, anchor)
        called = f"{_shown(name)} ({type})"
        try:
            if anchor in given:
                literals[anchor] = Literal(internal(given[anchor], type), type)
            elif anchor in defaults:
                literals[anchor] = bound_literal(anchor, type, defaults[anchor], declared)
            else:
                problems.append(f"The parameter {called} has no value: give it as parameters={{{name!r}: …}}.")
        except Unsupported as problem:
            problems.append(f"The parameter {called} can't be bound: {problem.reason}.")
    if problems:
        raise InvalidPlanError("\n".join(problems))
    return _replaced(plan, literals) if literals else plan


def _types(plan: Plan, declared: DeclaredTypes) -> dict[int, Type]:
    """The types of the parameters that a plan uses."""
    types: dict[int, Type] = {}
    for root in (plan, *(held for _, held in _extensions(plan))):
        for parameter in messages_of(root, DynamicParameter):
            if parameter.parameter_reference in types:
                continue
            complaints: list[str] = []
            type = read_type(parameter.type, complaints.append, declared)
            if type is None:
                raise InvalidPlanError(f"The type of the parameter {parameter.parameter_reference} is not known.")
            types[parameter.parameter_reference] = type
    return types


def _unknown(name: Any, known: Mapping[int, str]) -> str:
    others = f"it has {', '.join(map(_shown, known.values()))}" if known else "it has none with a name"
    return f"The plan has no parameter {name!r}: {others}."


def _shown(name: str | int) -> str:
    """A parameter's name, or its number where it has none."""
    return identifier(name) if isinstance(name, str) else str(name)


def _extensions(plan: Plan) -> Iterator[tuple[Packed, Message]]:
    """The extensions of ours in a plan that hold expressions, as they are in it and as messages."""
    for packed in messages_of(plan, Packed):
        if (held := unpacked_with_expressions(packed)) is not None:
            yield packed, held


def _replaced(plan: Plan, literals: Mapping[int, Literal]) -> Plan:
    with_values = Plan()
    with_values.CopyFrom(plan)
    with_values.ClearField("parameter_bindings")
    for packed, held in _extensions(with_values):
        _replace(held, literals)
        packed.Pack(held)
    _replace(with_values, literals)
    return with_values


def _replace(root: Message, literals: Mapping[int, Literal]) -> None:
    for expression in list(messages_of(root, Expression)):
        if expression.HasField("dynamic_parameter"):
            literal = literals[expression.dynamic_parameter.parameter_reference]
            write_literal(literal.value, literal.type, expression.literal)
