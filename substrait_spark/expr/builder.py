"""Turning Catalyst expressions into Substrait expressions over one scope.

`ExpressionBuilder.emit` walks without recursion, children first, so that depth is no danger; the rules of the
function tables find their children already emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from ..algebra import types
from ..algebra.builder import CallBuilder
from ..algebra.expression import Expression, StandIn
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.types import to_substrait
from ..context import Context
from ..errors import UNEXPECTED, Unsupported, unknown_form
from .scope import Scope

if TYPE_CHECKING:
    from ..rel.builder import RelationBuilder

Rule = Callable[["ExpressionBuilder", tree.Expression], Expression]


class Dispatch(Protocol):
    """Knows which rule emits an expression, and which of its parts come first."""

    def rule_of(self, node: tree.Expression) -> Rule: ...

    def operands(self, node: tree.Expression) -> list[tree.Expression]: ...


class ExpressionBuilder(CallBuilder):
    """Emits the expressions of one relation. Problems are reported to the context; a stand-in takes their place."""

    def __init__(self, context: Context, relations: RelationBuilder, dispatch: Dispatch, scope: Scope) -> None:
        super().__init__(context.traits)
        self.context = context
        self.relations = relations
        self.scope = scope
        self._dispatch = dispatch
        self._emitted: dict[tree.Expression, Expression] = {}
        self._computed: dict[tree.Expression, Expression] = {}
        """Those expressions that are columns of the scope, and stay so in lambdas, such as an aggregate's keys and results."""
        self.lambdas: list[dict[int, tuple[int, Type]]] = []
        """Of each lambda around what is emitted, its variables by exprId: the parameter that each is, and its type."""

    # ---- from Catalyst

    def emit(self, node: tree.Expression) -> Expression:
        """The Substrait form of an expression; what can't be expressed is reported."""
        emitted = self._emitted
        if node in emitted:
            return emitted[node]
        if not node.children():
            expression = emitted[node] = self._emit_one(node)
            return expression
        operands = self._dispatch.operands
        stack: list[tuple[tree.Expression, bool]] = [(node, False)]
        while stack:
            current, has_operands = stack.pop()
            if current in emitted:
                continue
            if not has_operands:
                pending = []
                for child in operands(current):
                    if child in emitted:
                        continue
                    if child.children():
                        pending.append((child, False))
                    else:
                        emitted[child] = self._emit_one(child)
                if pending:
                    stack.append((current, True))
                    stack.extend(reversed(pending))
                    continue
            emitted[current] = self._emit_one(current)
        return emitted[node]

    def emit_all(self, nodes: Iterable[tree.Expression]) -> tuple[Expression, ...]:
        return tuple([self.emit(node) for node in nodes])

    def _emit_one(self, node: tree.Expression) -> Expression:
        try:
            expression = self._dispatch.rule_of(node)(self, node)
            expression.came_from(node)
            return expression
        except Unsupported as problem:
            self.context.report(node, problem)
        except UNEXPECTED as error:
            if not self._stumbled(node):
                self.context.report(node, unknown_form(error))
        return self.stand_in(node)

    def _stumbled(self, node: tree.Expression) -> bool:
        """Whether a part of an expression is a stand-in, whose type is not known; a literal that a rule asked for may be one."""
        below = (*self._dispatch.operands(node), *node.children())
        parts = (self._emitted.get(child) for child in below if isinstance(child, tree.Expression))
        return any(isinstance(part, StandIn) for part in parts)

    def stand_in(self, node: tree.Expression) -> Expression:
        """Takes the place of what could not be emitted, so that the rest of the plan is still looked at."""
        try:
            return StandIn(to_substrait(node.type, True))
        except Unsupported:
            return StandIn(types.BOOLEAN)

    def let(self, node: tree.Expression, expression: Expression) -> None:
        """Let every occurrence of a node stand for an expression that is computed already."""
        self._emitted[node] = expression
        if not self.lambdas:
            self._computed[node] = expression

    def branch(self) -> ExpressionBuilder:
        """A builder over the same scope. What is emitted in it is forgotten; what is computed already is known in it."""
        copy = ExpressionBuilder(self.context, self.relations, self._dispatch, self.scope)
        copy._emitted = dict(self._computed)
        copy._computed = self._computed
        copy.lambdas = list(self.lambdas)
        return copy

    def type_of(self, node: tree.Expression, nullable: bool | None = None) -> Type:
        """The Substrait type of Spark's type of an expression."""
        return to_substrait(node.type, node.nullable if nullable is None else nullable)
