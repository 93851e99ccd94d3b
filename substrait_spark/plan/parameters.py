"""Parameters of plans: the names that they have, and the values that a plan binds to them itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait.plan_pb2 import Plan

from ..algebra.expression import Literal, write_literal
from ..algebra.extension_messages import Parameters, unpacked_note
from .type_aliases import without_aliases


def declare(plan: Plan, names: Sequence[str], values: Mapping[str, Literal]) -> None:
    """Note in a plan the names of its parameters, which count from 1, and values of some of them."""
    plan.advanced_extensions.optimization.add().Pack(Parameters(names=names))
    for anchor, name in enumerate(names, 1):
        if name in values:
            binding = plan.parameter_bindings.add(parameter_anchor=anchor)
            write_literal(values[name].value, values[name].type, binding.value)


def names(plan: Plan) -> dict[int, str]:
    """The names of a plan's parameters by number, where it says any."""
    for extension in plan.advanced_extensions.optimization:
        if (noted := unpacked_note(extension)) is not None:
            return dict(enumerate(noted.names, 1))
    return {}


def carry_over(plan: Plan, to: Plan) -> None:
    """Give a plan what another, of the same parameters, says of them."""
    to.parameter_bindings.extend(without_aliases(plan).parameter_bindings)
    for extension in plan.advanced_extensions.optimization:
        if unpacked_note(extension) is not None:
            to.advanced_extensions.optimization.add().CopyFrom(extension)
