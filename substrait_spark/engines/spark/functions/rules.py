"""The few rules that most functions are made of."""

from __future__ import annotations

from collections.abc import Callable

from ....algebra.types import Type
from ....errors import Unsupported
from ..calls import ANSI, LEGACY, Call
from ..document import Node

Rule = Callable[[Call], Node]
"""Makes Catalyst's expression of a call."""


def spark(name: str, mode: str = ANSI) -> Rule:
    """Spark's function of this name, of the same arguments."""
    return lambda call: call.spark(name, *call.values, mode=mode)


def legacy(name: str) -> Rule:
    """Spark's function of this name, of the same arguments, as it is where ANSI mode is off."""
    return spark(name, LEGACY)


def of_type(type: Type, rule: Callable[..., Node]) -> Rule:
    """A rule of nodes over the arguments in another type."""
    return lambda call: rule(call, *(call.cast(value, type) for value in call.values))


def aggregate(name: str, mode: str = ANSI) -> Rule:
    """Spark's aggregate or window function of this name, of the same arguments."""
    return lambda call: call.over_rows(call.spark(name, *call.values, mode=mode))


def by_option(name: str, choices: dict[str, Rule]) -> Rule:
    """The rule for what the call says of an option: the first where it leaves that open."""

    def chosen(call: Call) -> Node:
        value = call.option(name) or next(iter(choices))
        if value not in choices:
            raise Unsupported(f"{call.key} is not run with {name}:{value}")
        return choices[value](call)

    return chosen


def by_enum(choices: dict[str, Rule]) -> Rule:
    """The rule for the first of a call's arguments that is a name."""

    def chosen(call: Call) -> Node:
        (value, *_) = call.enums
        if value not in choices:
            raise Unsupported(f"{call.key} is not run with {value}")
        return choices[value](call)

    return chosen


def by_kind(choices: dict[str, Rule], otherwise: Rule | None = None) -> Rule:
    """The rule for the kind of type that the first value has."""

    def chosen(call: Call) -> Node:
        kind = call.types[0].kind
        rule = choices.get(kind, otherwise)
        if rule is None:
            raise Unsupported(f"{call.key} is not run for {kind}")
        return rule(call)

    return chosen


def refused(reason: str) -> Rule:
    """No rule: why a variant of a function is not run."""

    def refuse(call: Call) -> Node:
        raise Unsupported(f"{call.key} {reason}")

    return refuse
