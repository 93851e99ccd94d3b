"""Calls of functions as the rules in functions/ see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...algebra.expression import AggregateFunction, Expression, Literal, ScalarFunction
from ...algebra.expression import WindowCall as WindowCallExpression
from ...algebra.types import I32, STRING, Type
from ...errors import Unsupported
from .builder import Builder
from .document import NEW_ID, UTC, Node, Part, singleton

ANSI = "ANSI"
LEGACY = "LEGACY"
TRY = "TRY"


class Call:
    """A call whose arguments are written: nodes, and names of enum values."""

    def __init__(
        self,
        builder: Builder,
        function: ScalarFunction | AggregateFunction | WindowCallExpression,
        arguments: Sequence[Node | str],
    ) -> None:
        self.builder = builder
        self.function = function
        self.given = tuple(arguments)
        self.type: Type = function.declaration.result
        self._options = dict(function.options)

    @property
    def key(self) -> str:
        """The key of the function in the tables of functions/."""
        declaration = self.function.declaration
        return f"{declaration.alias}:{declaration.name}"

    @property
    def values(self) -> list[Node]:
        """The arguments that are values."""
        return [a for a in self.given if isinstance(a, Node)]

    @property
    def enums(self) -> list[str]:
        """The arguments that are names."""
        return [a for a in self.given if isinstance(a, str)]

    @property
    def expressions(self) -> list[Expression]:
        """The arguments that are values, as the plan has them."""
        return [a for a in self.function.arguments if isinstance(a, Expression)]

    @property
    def types(self) -> list[Type]:
        """The types of the arguments that are values."""
        return [a.type for a in self.expressions]

    def constant(self, index: int) -> Any:
        """The value of an argument that must be a literal."""
        argument = self.expressions[index]
        if not isinstance(argument, Literal):
            raise Unsupported(f"{self.key} is run where its argument {index + 1} is a literal")
        return argument.value

    def option(self, name: str) -> str | None:
        """What the call says of an option; None where it leaves that open."""
        return self._options.get(name)

    # ---- what a rule makes

    def spark(self, name: str, *arguments: Node, mode: str = ANSI, zone: str = UTC) -> Node:
        """Spark's function of a name, as ANSI mode, or the mode before it, makes it."""
        return self.builder.document.call(name, arguments, mode, zone)

    def new(self, name: str, *parts: Any) -> Node:
        """An object of a Catalyst class."""
        return self.builder.document.new(name, *parts)

    def literal(self, value: Any, type: Type) -> Node:
        return self.builder.document.literal(value, type)

    def null(self) -> Node:
        """A null of the call's type."""
        return self.literal(None, self.type)

    def error(self, message: str, type: Type | None = None) -> Node:
        """What raises an error, in the place of a value of a type, by itself the call's."""
        return self.cast(self.spark("raise_error", self.literal(message, STRING)), type or self.type)

    def cast(self, node: Node, type: Type, mode: str = ANSI, zone: str = UTC) -> Node:
        return self.builder.cast(node, type, mode, zone)

    def choice(self, when: Node, then: Node, otherwise: Node) -> Node:
        """One value where a condition is true, another where it is false or null."""
        return self.builder.choice([(when, then)], otherwise)

    def lambda_(self, kinds: Sequence[Type], body: Callable[..., Node]) -> Node:
        """An anonymous function of parameters of these types."""
        variables = [self.builder.document.variable(f"v{n}", kind) for n, kind in enumerate(kinds)]
        return self.new("LambdaFunction", body(*variables), variables, False)

    def over_rows(self, function: Node) -> Node:
        """An aggregate or window function, which `spark` gives, over the rows that the call is for."""
        raise Unsupported(f"{self.key} is called with one row, and wants several")

    def over_any_rows(self, function: Node) -> Node:
        """As `over_rows`, whatever order the call has."""
        return self.over_rows(function)


class ScalarCall(Call):
    """A call of a scalar function."""


class AggregateCall(Call):
    """A call of an aggregate function over the rows of a group."""

    def __init__(
        self,
        builder: Builder,
        function: AggregateFunction,
        arguments: Sequence[Node | str],
        filter: Node | None,
        keys: Sequence[Node],
    ) -> None:
        super().__init__(builder, function, arguments)
        self.function: AggregateFunction = function
        self._distinct = function.distinct
        self._filter = filter
        self.keys = list(keys)
        """What the rows are sorted by; `function.sorts` says how."""

    def over_rows(self, function: Node) -> Node:
        if self.keys:
            raise Unsupported(f"{self.key} is not run over rows in an order")
        return self.over_any_rows(function)

    def over_any_rows(self, function: Node) -> Node:
        filter = None if self._filter is None else Part("some", self._filter)
        return self.new("AggregateExpression", function, singleton("Complete"), self._distinct, filter, NEW_ID)


class WindowCall(Call):
    """A call of a window function, or of an aggregate function over the rows of a frame."""

    def __init__(
        self,
        builder: Builder,
        function: WindowCallExpression,
        arguments: Sequence[Node | str],
        partition: Sequence[Node],
        sorts: Sequence[Node],
        frame: Node,
    ) -> None:
        super().__init__(builder, function, arguments)
        self._partition = partition
        # Spark wants an order for some functions. By a constant, rows come in any, and all are peers, as without one.
        self._sorts = sorts or [builder.sort_order(self.literal(0, I32), ascending=True, nulls_first=True)]
        self._frame = frame

    def over_rows(self, function: Node) -> Node:
        return self.builder.document.window(function, self._partition, self._sorts, self._frame)
