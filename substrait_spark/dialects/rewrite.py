"""Rewrites: what an engine and general lowering bring to put canonical plans into the forms of a dialect."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from ..algebra.types import Type

Target = str | tuple[str, str] | type[Any]
"""What a rewrite is for: a function by `alias:name`; casts by the kinds of the types that they are between, as `("i32",
"string")`; any other expression, relation or part of one by its class, which may be one of `lowering.forms`; or `PLAN`."""

PLAN = "plan"
"""The target of rewrites of a whole plan, or of the whole relation of a subquery."""


Apply = Callable[..., Any]
"""What a rewrite does. It gets the builder `e` and what it is for; of an aggregate function one `LoweredCall`; of a window function
`e`, the call and the `StagedWindows` that it may build on. Where it sees the original, it gets the `ExpressionLowering` in the place of
`e`, of a whole plan the `Lowering`."""


class Sees(Enum):
    """In which state a rewrite gets its target."""

    ORIGINAL = "original"
    """As the canonical plan has it, before any part of it is lowered: `apply` lowers the parts that it needs, by what it gets."""
    BOTH = "both"
    """As the canonical plan has it too, once its parts are lowered, but for lambdas. `apply` gives None for what it is not about."""
    LOWERED = "lowered"
    """Over its lowered parts; `apply` gets the builder `e`."""
    BUILT = "built"
    """Everything that is built in the dialect's forms, also by other rewrites; `apply` gets the builder `e`. What `e` builds
    comes to the rewrite again: nodes that shall not, it makes by their classes."""
    REFUSED = "refused"
    """What nothing else has a form for, of the target `Expression`: as the canonical plan has it. `apply` gets the `ExpressionLowering`,
    and gives None where it has no form either. Then the expression around this one is tried, with this one in it, as it is of what is in a lambda.
    Of the target `AggregateFunction`, it gets the `Group` too."""


class Rewrite(NamedTuple):
    """Puts a target into another form: `apply` gives an expression or a relation that means the same.

    With a `defect`, it runs on what the dialect has, as long as the dialect file lists that defect. Without one, a rewrite of
    a function or a cast runs where the dialect lacks it; a rewrite of any other target always runs, and so does one of an aggregate
    or a window function, which the dialect may have in some ways only: it returns unchanged what it is not about. Of several rewrites for a function or a cast that the dialect lacks, the first one runs. All others run
    one after the other, until the result is no longer of the target's kind.
    """

    target: Target
    apply: Apply
    defect: str = ""
    sees: Sees = Sees.LOWERED

    @property
    def is_for_missing(self) -> bool:
        """Whether the target is a function or a cast, of which dialect files list each: without a defect, the rewrite is for one
        that the dialect lacks."""
        listed = isinstance(self.target, tuple) or (isinstance(self.target, str) and self.target != PLAN)
        return listed and self.sees in (Sees.ORIGINAL, Sees.LOWERED)

    @property
    def of(self) -> str:
        """What it is for, as problems tell it."""
        if isinstance(self.target, tuple):
            return "casts of {} to {}".format(*self.target)
        if self.target == PLAN:
            return f"the defect {self.defect}" if self.defect else "the plan"
        return self.target if isinstance(self.target, str) else self.target.__name__


class Conversion(NamedTuple):
    """Values of one kind of type that an engine has as those of another type, in expressions and in columns.

    `becomes`: that type, in which literals have the same value in Catalyst's internal form, or that which `literal` gives of the value
    and its own type. `back` gives, for a column of the result, the value again in its own type: it gets the builder, the value and
    that type. `takes`: the functions that take converted values; for any other, there is no such value. Casts between these values and
    others are rewrites, by the kinds of the types that they had.
    """

    kind: str
    becomes: Type
    back: Callable[..., Any]
    takes: Collection[str]
    hint: str = ""
    """A hint for users: what to do where such a value can't be used."""
    forth: Callable[..., Any] | None = None
    """Gives a table's column as the type that it becomes: it gets the builder and the column. Without it, tables have no such columns."""
    literal: Callable[[Any, Type], Any] | None = None


def rewrites(table: Mapping[Any, Any], defect: str = "", sees: Sees = Sees.LOWERED) -> list[Rewrite | Conversion]:
    """The rewrites of a table that has the functions by their targets."""
    return [Rewrite(target, apply, defect, sees) for target, apply in table.items()]


class Rewrites:
    """Rewrites by their targets, as far as they are in force where an engine has some defects.

    `original`, `both`, `lowered` and `built` are for whatever a plan has, in their order; `missing` and `missing_original`
    for functions and casts that the dialect lacks; `refused` for what these leave without a form.
    """

    def __init__(self, listed: Sequence[Rewrite | Conversion] = (), defects: Collection[str] = ()) -> None:
        self.conversions: Mapping[str, Conversion] = {c.kind: c for c in listed if isinstance(c, Conversion)}
        """By the kind of type that is converted."""
        own = [each for each in listed if isinstance(each, Rewrite)]
        always = [each for each in own if (each.defect in defects if each.defect else not each.is_for_missing)]
        missing = [each for each in own if not each.defect and each.is_for_missing]
        self.original = _by_target(always, Sees.ORIGINAL)
        self.both = _by_target(always, Sees.BOTH)
        self.lowered = _by_target(always, Sees.LOWERED)
        self.built = _by_target(always, Sees.BUILT)
        self.refused = _by_target(always, Sees.REFUSED)
        self.missing = {target: first for target, (first, *_) in _by_target(missing, Sees.LOWERED).items()}
        self.missing_original = {target: first for target, (first, *_) in _by_target(missing, Sees.ORIGINAL).items()}

    def are_about(self, target: Target) -> bool:
        """Whether a target that the plan has goes through any rewrite."""
        return target in self.original or target in self.both or target in self.lowered


def _by_target(listed: Sequence[Rewrite], sees: Sees) -> dict[Target, tuple[Rewrite, ...]]:
    by_target: dict[Target, tuple[Rewrite, ...]] = {}
    for each in listed:
        if each.sees is sees:
            by_target[each.target] = (*by_target.get(each.target, ()), each)
    return by_target


def defects_of(listed: Sequence[Rewrite | Conversion]) -> Iterator[str]:
    """The names of the defects that there are rewrites against."""
    return (each.defect for each in listed if isinstance(each, Rewrite) and each.defect)
