"""What an engine brings to lowering: rules by what they are for, and a builder of its own where it needs one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra.aggregate_form import AggregateForm, WindowForm
from ..algebra.expression import Cast, Expression, ScalarFunction, WindowCall
from ..algebra.relation import Relation

if TYPE_CHECKING:
    from .aggregate import LoweredCall
    from .builder import LoweringBuilder
    from .expression import ExpressionLowering
    from .window import StagedWindows

CallRule = Callable[[Any, ScalarFunction], Expression]
"""From a call whose arguments are lowered already, to an expression in the dialect's functions; by the engine's builder."""

UnloweredRule = Callable[["ExpressionLowering", ScalarFunction], Expression]
"""From a call whose arguments the rule lowers itself, because it needs to see what they were."""

UnloweredCastRule = Callable[["ExpressionLowering", Cast], "Expression | None"]
"""From a cast whose input the rule lowers itself, because it needs to see what it was; None for what it is not about."""

OriginalRule = Callable[["ExpressionLowering", Any], "Expression | None"]
"""From an expression that the rule sees as it was; its parts are lowered, but for lambdas. None for what it is not about."""

CastRule = Callable[["LoweringBuilder", Cast], Expression]
"""From a cast whose input is lowered already."""

AggregateRule = Callable[["LoweredCall"], AggregateForm]
"""From a call of an aggregate function, over a group or a window's frame, to calls that the dialect has and their result."""

WindowRule = Callable[["LoweringBuilder", WindowCall, "StagedWindows"], WindowForm]
"""From a call of a window function to calls that the dialect has, and maybe others that these build on, and their result."""

ExpressionRule = Callable[["LoweringBuilder", Expression], Expression]
"""From an expression of one kind whose parts are lowered already."""

Pass = Callable[[Any, Relation], Relation]
"""By the engine's builder, from a plan in the dialect's forms to another, in which the engine evaluates nothing too early or for too many rows."""


class Guard(NamedTuple):
    """A rule for calls that the dialect has, and the defect of the engine that it is for.

    The rule is a `CallRule`: it gets the call as the dialect has it, and returns that where the defect does not show.
    """

    defect: str
    rule: CallRule


class GuardingPass(NamedTuple):
    """A pass over the plan, and the defect of the engine that it is for."""

    defect: str
    run: Pass


class Rules(NamedTuple):
    """An engine's rules. Functions go by `alias:name`, casts by the kinds of the types that they are between.

    `calls`, `unlowered`, `casts`, `aggregates` and `windows` are for what the dialect does not have as it stands. `guards`
    are for calls that it has and the engine gets wrong, where the dialect file lists the defect; `passes`, in this order,
    likewise. `kinds` are for expressions of a kind, in the dialect or not, and so are `originals`, by kind or function.
    `builder` makes expressions and relations.
    `counting` are the functions that take the counts of intervals in the intervals' place, for engines without such values.
    `defects` are the names of all defects that there is a guard against, here or in the builder.
    """

    calls: Mapping[str, CallRule] = {}
    unlowered: Mapping[str, UnloweredRule] = {}
    originals: Mapping[str | type[Expression], OriginalRule] = {}
    casts: Mapping[tuple[str, str], CastRule] = {}
    unlowered_casts: Mapping[tuple[str, str], UnloweredCastRule] = {}
    aggregates: Mapping[str, AggregateRule] = {}
    windows: Mapping[str, WindowRule] = {}
    guards: Mapping[str, Guard] = {}
    kinds: Mapping[type[Expression], ExpressionRule] = {}
    passes: Sequence[GuardingPass] = ()
    builder: type[LoweringBuilder] | None = None
    counting: Collection[str] = ()
    defects: frozenset[str] = frozenset()

    def are_about(self, kind: type[Expression]) -> bool:
        """Whether there is a rule for expressions of a kind that is no function's."""
        return kind in self.originals or kind in self.kinds
