"""What a plan says of the concessions that were used for it: which, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from ..algebra.extension_messages import Concessions, SparkOption, unpacked_concessions


class Use(NamedTuple):
    """A concession by its name, and the place where it was used: the way from the root, and the call there."""

    concession: str
    place: str


def note_uses(message: Plan | ExtendedExpression, uses: Sequence[Use]) -> None:
    """Note uses in a plan, as an optimization, which readers may pass over. Of none, nothing is noted."""
    if uses:
        noted = Concessions(uses=[SparkOption(name=name, value=place) for name, place in dict.fromkeys(uses)])
        message.advanced_extensions.optimization.add().Pack(noted)


def uses_in(message: Plan | ExtendedExpression) -> list[Use]:
    """The uses that are noted in a plan."""
    noted = map(unpacked_concessions, message.advanced_extensions.optimization)
    return [Use(use.name, use.value) for each in noted if each is not None for use in each.uses]
