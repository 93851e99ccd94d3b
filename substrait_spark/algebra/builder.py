"""Building expressions: calls that resolve against the extension files, and the everyday forms that rules are made of.

Emission builds the canonical tree with it; lowering has a builder of its own on top, which asks the dialect first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..extensions import registry
from . import types
from .expression import (
    AggregateFunction,
    Cast,
    Expression,
    FieldReference,
    IfThen,
    Literal,
    Nested,
    ScalarFunction,
    Shared,
    SortField,
    StandIn,
    WindowCall,
)
from .frame import Frame
from .types import Type


class UndeclaredFunctionError(LookupError):
    """A call whose signature no extension file declares: a defect of the rule that makes it, or of our extension file."""


@dataclass
class Traits:
    """What is known of the expressions that were built so far, so that passes which nobody needs are left out."""

    shares: bool = False
    """Whether any has parts to compute once."""
    draws: bool = False
    """Whether any calls a function that is not deterministic."""


Options = tuple[tuple[str, str], ...]


def is_at_hand(input: Expression) -> bool:
    """Whether a value can be used several times for nothing.

    Any other is computed once in a column of its own, and each such column needs a relation: chains of them nest too deep.
    """
    return isinstance(input, FieldReference | Literal | Shared)


class CallBuilder:
    """Builds expressions over the columns of one relation."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits

    # ---- calls

    def call(self, function: str, *arguments: Expression | str, **options: str | None) -> Expression:
        """A call of a scalar function by `alias:name`. Options that are None are left out.

        Raises UndeclaredFunctionError where the extension file has no such signature.
        """
        declaration = self.resolve("scalar", function, arguments)
        return self._scalar(declaration, arguments, self.options_of(declaration, options))

    def call_as(
        self, result: Type, function: str, *arguments: Expression | str, **options: str | None
    ) -> ScalarFunction:
        """A call of a function whose extension file leaves it to the call to state the result type."""
        declaration = self.resolve("scalar", function, arguments)
        return self._scalar(registry.stated(declaration, result), arguments, self.options_of(declaration, options))

    def options_of(self, declaration: registry.Declaration, options: Mapping[str, str | None]) -> Options:
        """The options that a call states: here those that are given."""
        return given(options)

    def _scalar(
        self, declaration: registry.Declaration, arguments: tuple[Expression | str, ...], options: Options
    ) -> ScalarFunction:
        self.traits.draws |= not declaration.deterministic
        # Which of Spark's functions raise is not told apart: a canonical plan computes none of them for more rows.
        return ScalarFunction(declaration, arguments, options, raising=declaration.alias in registry.OWN)

    def resolve(self, kind: str, function: str, arguments: Sequence[Any]) -> registry.Declaration:
        """The declaration of a function, `alias:name`, that takes these arguments."""
        try:
            shapes = tuple([a if isinstance(a, str) else a.type for a in arguments])
        except AttributeError:
            raise TypeError(_no_expression(function, arguments)) from None
        declaration = registry.resolved(kind, function, shapes)
        if declaration is None:
            listed = ", ".join(repr(shape) if isinstance(shape, str) else str(shape) for shape in shapes)
            raise UndeclaredFunctionError(f"the {kind} function {function} is not declared for ({listed})")
        return declaration

    def aggregate(
        self,
        function: str,
        *arguments: Expression | str,
        distinct: bool = False,
        filter: Expression | None = None,
        sorts: tuple[SortField, ...] = (),
        frame: Frame | None = None,
        **options: str | None,
    ) -> AggregateFunction:
        """A call of an aggregate function by `alias:name`; `frame` is that of the window it is to be over."""
        declaration = self.resolve("aggregate", function, arguments)
        call = AggregateFunction(declaration, arguments, self.options_of(declaration, options), distinct, sorts, filter)
        self.require_aggregate(call, frame)
        return call

    def require_aggregate(self, call: AggregateFunction, frame: Frame | None) -> None:
        """Refuse a call of an aggregate function, over a window's frame where one is given: here none is."""

    def window(self, function: str, *arguments: Expression | str, frame: Frame, **options: str | None) -> WindowCall:
        """A call of a window function by `alias:name`."""
        declaration = self.resolve("window", function, arguments)
        stated = self.options_of(declaration, options)
        call = WindowCall(declaration, arguments, frame.rows, frame.lower, frame.upper, stated)
        self.require_window(call)
        return call

    def require_window(self, call: WindowCall) -> None:
        """Refuse a call of a window function: here none is."""

    # ---- the expressions that rules build with

    def literal(self, value: Any, type: Type) -> Literal:
        """A value of a type, in Catalyst's internal form: days of a date, microseconds of a timestamp, unscaled decimals."""
        return Literal(value, type)

    def null(self, type: Type) -> Expression:
        """A null of a type."""
        return Literal(None, types.nullable(type))

    def cast(self, input: Expression, type: Type, throws: bool = True) -> Expression:
        """A cast to the type, as nullable as its input must make it; none where there is nothing to do."""
        target = types.with_nullable(type, input.type.nullable or not throws)
        if types.equal_but_nullability(input.type, target):
            return self.as_type(input, target)
        return Cast(input, target, throws)

    def as_type(self, input: Expression, type: Type) -> Expression:
        """The same value in a type that differs in nullability only."""
        if input.type == type:
            return input
        if isinstance(input, StandIn):
            return StandIn(type)
        if isinstance(input, Literal):
            return Literal(input.value, type)
        return Cast(input, type, True)

    def alike(self, inputs: Sequence[Expression]) -> list[Expression]:
        """The same values, all in one type, as branches and list elements must be; types differ in nullability only."""
        common = reduce(types.least_nullable_common, [input.type for input in inputs])
        return [self.as_type(input, common) for input in inputs]

    def if_then(self, *parts: Expression) -> Expression:
        """`if_then(condition, value, …, otherwise)`."""
        values = self.alike([*parts[1::2], parts[-1]])
        return IfThen(tuple(zip(parts[:-1:2], values[:-1], strict=True)), values[-1])

    def list_of(self, element: Type, parts: Sequence[Expression]) -> Expression:
        """A list of these elements, each in the type given."""
        parts = [self.as_type(part, element) for part in parts]
        return Nested(types.of("list", element, nullable=False), tuple(parts))

    def share(self, input: Expression) -> Expression:
        """The same value, for a rule that needs it several times."""
        if is_at_hand(input):
            return input
        self.traits.shares = True
        return Shared(input)

    # ---- everyday calls

    def conjunction(self, operands: Sequence[Expression]) -> Expression:
        """The AND of a filter's conjuncts, where null counts as false; later ones are evaluated where earlier hold."""
        return self.and_(*operands)

    def equal(self, left: Expression, right: Expression) -> Expression:
        """`left = right`, null where one of them is."""
        return self.call("comparison:equal", left, right)

    def is_null(self, input: Expression) -> Expression:
        """`input IS NULL`."""
        return self.call("comparison:is_null", input)

    def is_not_null(self, input: Expression) -> Expression:
        """`input IS NOT NULL`."""
        return self.call("comparison:is_not_null", input)

    def coalesce(self, *inputs: Expression) -> Expression:
        """The first value that is not null."""
        return self.call("comparison:coalesce", *inputs)

    def not_(self, input: Expression) -> Expression:
        """`NOT input`."""
        return self.call("boolean:not", input)

    def and_(self, *inputs: Expression) -> Expression:
        """The AND of conditions; of one, that."""
        return inputs[0] if len(inputs) == 1 else self.call("boolean:and", *inputs)

    def or_(self, *inputs: Expression) -> Expression:
        """The OR of conditions; of one, that."""
        return inputs[0] if len(inputs) == 1 else self.call("boolean:or", *inputs)

    def text(self, value: str) -> Literal:
        """A text."""
        return Literal(value, types.STRING)

    def i32(self, value: int) -> Literal:
        """An integer of 32 bits."""
        return Literal(value, types.I32)

    def i64(self, value: int) -> Literal:
        """An integer of 64 bits."""
        return Literal(value, types.I64)

    def fp64(self, value: float) -> Literal:
        """A floating-point number of 64 bits."""
        return Literal(value, types.FP64)

    def true(self) -> Literal:
        """True."""
        return Literal(True, types.BOOLEAN)

    def false(self) -> Literal:
        """False."""
        return Literal(False, types.BOOLEAN)


def _no_expression(function: str, arguments: Sequence[Any]) -> str:
    """What to say of an argument that is neither an expression nor the name of an enum value."""
    position, value = next((n, a) for n, a in enumerate(arguments, 1) if not isinstance(a, str | Expression))
    return (
        f"argument {position} of {function} is {value!r}, which is no expression: e.i32, e.text, … make one of a value"
    )


def given(options: Mapping[str, str | None]) -> Options:
    """The options of a call, without those that are None."""
    return tuple([(key, value) for key, value in options.items() if value is not None]) if options else ()
