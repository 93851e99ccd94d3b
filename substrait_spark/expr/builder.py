"""Turning Catalyst expressions into Substrait expressions over one scope.

`ExpressionBuilder.emit` walks without recursion, children first, so that depth is no danger; the rules of the
function tables find their children already emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .. import extensions
from ..algebra import types
from ..algebra.expression import (
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
    WindowCall,
)
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.types import to_substrait
from ..context import Context
from ..errors import NotInDialect, Unsupported
from ..refusals import unknown_form
from .scope import Scope
from .struct_names import require_same_names

if TYPE_CHECKING:
    from ..functions.frame import Frame
    from ..rel.builder import RelationBuilder

Rule = Callable[["ExpressionBuilder", tree.Expression], Expression]
Form = TypeVar("Form")


class Dispatch(Protocol):
    """Knows which rule emits an expression, and which of its parts come first."""

    def rule_of(self, node: tree.Expression) -> Rule: ...

    def operands(self, node: tree.Expression) -> list[tree.Expression]: ...


class ExpressionBuilder:
    """Emits the expressions of one relation. Problems are reported to the context; a stand-in takes their place."""

    def __init__(self, context: Context, relations: RelationBuilder, dispatch: Dispatch, scope: Scope) -> None:
        self.context = context
        self.relations = relations
        self.scope = scope
        self.dialect = context.dialect
        self._dispatch = dispatch
        self._emitted: dict[int, Expression] = {}
        self._kept: list[tree.Node] = []
        self.lambdas: list[dict[int, Callable[[ExpressionBuilder, int], Expression]]] = []

    # ---- from Catalyst

    def emit(self, node: tree.Expression) -> Expression:
        """The Substrait form of an expression; what can't be expressed is reported."""
        emitted = self._emitted
        if id(node) in emitted:
            return emitted[id(node)]
        operands = self._dispatch.operands
        stack: list[tree.Expression] = [node]
        while stack:
            current = stack[-1]
            if id(current) in emitted:
                stack.pop()
                continue
            pending = [child for child in operands(current) if id(child) not in emitted]
            if pending:
                stack.extend(reversed(pending))
                continue
            emitted[id(current)] = self._emit_one(current)
            self._kept.append(current)
            stack.pop()
        return emitted[id(node)]

    def emit_all(self, nodes: Iterable[tree.Expression]) -> tuple[Expression, ...]:
        return tuple([self.emit(node) for node in nodes])

    def _emit_one(self, node: tree.Expression) -> Expression:
        try:
            if self.dialect.quirks.named_structs:
                require_same_names(node)
            return self._dispatch.rule_of(node)(self, node)
        except Unsupported as problem:
            self.context.report(node, problem)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            self.context.report(node, unknown_form(error))
        return self.stand_in(node)

    def stand_in(self, node: tree.Expression) -> Expression:
        """Takes the place of what could not be emitted, so that the rest of the plan is still looked at."""
        try:
            return Literal(None, to_substrait(node.type, True))
        except Unsupported:
            return Literal(None, types.BOOLEAN)

    def let(self, node: tree.Expression, expression: Expression) -> None:
        """Let every occurrence of a node stand for an expression that is computed already."""
        self._emitted[id(node)] = expression
        self._kept.append(node)

    def branch(self, computed: dict[int, Expression] | None = None) -> ExpressionBuilder:
        """A builder over the same scope that forgets what is emitted in it."""
        copy = ExpressionBuilder(self.context, self.relations, self._dispatch, self.scope)
        copy.lambdas = list(self.lambdas)
        copy._emitted.update(computed or {})
        return copy

    def type_of(self, node: tree.Expression, nullable: bool | None = None) -> Type:
        """The Substrait type of Spark's type of an expression."""
        return to_substrait(node.type, node.nullable if nullable is None else nullable)

    # ---- calls

    def call(self, function: str, *arguments: Expression | str, **options: str | None) -> ScalarFunction:
        """A call of a scalar function by `alias:name`. Options that are None are left out.

        Raises NotInDialect where the dialect lacks it, Unsupported where the extension file has no such signature.
        """
        declaration, given = self.resolve("scalar", function, arguments, options)
        self.context.draws |= not declaration.deterministic
        raising = self.dialect.raises("scalar", declaration.urn, declaration.name, declaration.signature, given)
        return ScalarFunction(declaration, arguments, given, raising)

    def call_as(self, result: Type, function: str, *arguments: Expression | str) -> ScalarFunction:
        """A call of a function whose extension file leaves it to the call to state the result type."""
        declaration, given = self.resolve("scalar", function, arguments, {})
        raising = self.dialect.raises("scalar", declaration.urn, declaration.name, declaration.signature, given)
        return ScalarFunction(extensions.stated(declaration, result), arguments, given, raising)

    def resolve(
        self, kind: str, function: str, arguments: Sequence[Expression | str], options: dict[str, str | None]
    ) -> tuple[extensions.Declaration, tuple[tuple[str, str], ...]]:
        """The declaration of a call and its options, as the dialect takes them."""
        alias, name = function.split(":")
        shapes = tuple([a if isinstance(a, str) else a.type for a in arguments])
        declaration = extensions.resolve(kind, alias, name, shapes)
        if declaration is None:
            listed = ", ".join(map(str, shapes))
            raise NotInDialect(f"the function {name} is not declared for ({listed})")
        given = tuple([(key, value) for key, value in options.items() if value is not None])
        if not self.dialect.allows_function(kind, declaration.urn, name, declaration.signature, given):
            stated = f" with {', '.join(f'{key} {value}' for key, value in given)}" if given else ""
            raise NotInDialect(
                f"the dialect {self.dialect.name} has no function {declaration.compound}{stated}",
                "Choose another dialect, or compute this column in Spark.",
            )
        limits = self.dialect.limits(kind, declaration.urn, name, declaration.signature, given)
        if any(not isinstance(arguments[position], Literal) for position in limits.get("literals", ())):
            raise NotInDialect(f"the dialect {self.dialect.name} takes only literals as options of {name}")
        return declaration, given

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
        """A call of an aggregate function by `alias:name`, refused as `call` does; `frame` is that of a window."""
        declaration, given = self.resolve("aggregate", function, arguments, options)
        limits = self.dialect.limits("aggregate", declaration.urn, declaration.name, declaration.signature, given)
        window = limits.get("window", "any")
        lacking = {
            "of distinct values": distinct and not limits.get("distinct", True),
            "with an order": bool(sorts) and not limits.get("sorts", True),
            "over windows": frame is not None and not window,
            "over window frames that lose rows": frame is not None and window == "growing" and not frame.grows,
        }
        for what, lacks in lacking.items():
            if lacks:
                raise NotInDialect(
                    f"the dialect {self.dialect.name} has no {declaration.compound} {what}",
                    "Choose another dialect, or compute this column in Spark.",
                )
        return AggregateFunction(declaration, arguments, given, distinct, sorts, filter)

    def window(self, function: str, *arguments: Expression | str, frame: Frame, **options: str | None) -> WindowCall:
        """A call of a window function by `alias:name`, refused as `call` does."""
        declaration, given = self.resolve("window", function, arguments, options)
        return WindowCall(declaration, arguments, frame.rows, frame.lower, frame.upper, given)

    def first(self, *forms: Callable[[], Form]) -> Form:
        """The first form that the dialect has."""
        refused: NotInDialect | None = None
        for form in forms:
            try:
                return form()
            except NotInDialect as problem:
                refused = problem  # the last form is the one that came nearest
        raise refused or Unsupported("there is no form for it")

    def has(self, form: Callable[[], Any]) -> bool:
        """Whether the dialect has everything that a form needs."""
        try:
            form()
        except NotInDialect:
            return False
        return True

    # ---- the expressions that rules build with

    def literal(self, value: Any, type: Type) -> Literal:
        return Literal(value, type)

    def null(self, type: Type) -> Literal:
        self.require_nameless(type)
        return Literal(None, types.nullable(type))

    def cast(self, input: Expression, type: Type, throws: bool = True) -> Expression:
        """A cast to the type, as nullable as its input must make it; none where there is nothing to do."""
        target = types.with_nullable(type, input.type.nullable or not throws)
        if types.equal_but_nullability(input.type, target):
            return self.as_type(input, target)
        self.require_nameless(target)
        self.dialect.require_type(target)
        return self._apart(Cast(input, target, throws))

    def narrow(self, input: Expression, type: Type, throws: bool) -> Expression:
        """A checked cast of what an engine computes in a wider type than the call declares."""
        return self._apart(
            Cast(input, types.with_nullable(type, input.type.nullable or not throws), throws, checks=True)
        )

    def _apart(self, cast: Cast) -> Expression:
        """The cast, out of reach of engines that compare what it casts instead, which may be another value or none."""
        exact = types.widens(cast.input.type, cast.type) and not cast.checks
        numbers = {cast.input.type.kind, cast.type.kind} <= {*types.INTEGERS, "decimal"}
        if exact or not numbers or isinstance(cast.input, Literal) or not self.dialect.quirks.unwraps_casts:
            return cast
        return self.hidden(cast)

    def hidden(self, input: Expression) -> Expression:
        """The same value, in a form that the engine's optimizer does not look into."""
        return self.call_as(input.type, "datafusion:greatest", input)

    def as_type(self, input: Expression, type: Type) -> Expression:
        """The same value in a type that differs in nullability only."""
        if input.type == type:
            return input
        if isinstance(input, Literal):
            return Literal(input.value, type)
        if self.dialect.quirks.named_structs and types.holds(type, ("struct",)):
            return self.call_as(type, "datafusion:coalesce", input)
        return Cast(input, type, True)

    def require_nameless(self, type: Type) -> None:
        """Refuse a type that would lose the names of struct fields, where the dialect has structs by their names."""
        if self.dialect.quirks.named_structs and types.holds(type, ("struct",)):
            raise NotInDialect(
                f"the dialect {self.dialect.name} has structs by the names of their fields, which {type} doesn't tell",
                "Compute the struct in Spark, or use its fields by themselves.",
            )

    def alike(self, inputs: Sequence[Expression]) -> list[Expression]:
        """The same values, all in one type, as branches and list elements must be; types differ in nullability only."""
        common = reduce(types.least_nullable_common, [input.type for input in inputs])
        return [self.as_type(input, common) for input in inputs]

    def if_then(self, *parts: Expression) -> Expression:
        """`if_then(condition, value, …, otherwise)`."""
        values = self.alike([*parts[1::2], parts[-1]])
        return IfThen(tuple(zip(parts[:-1:2], values[:-1], strict=True)), values[-1])

    def raises(self, message: str, type: Type, witness: Expression) -> Expression:
        """An expression that raises when it is evaluated: a cast of text that is no number.

        It holds a value of the row, so that engines don't evaluate it before they must.
        """
        shown = self.coalesce(self.cast(witness, types.STRING), self.literal("", types.STRING))
        text = self.call(
            "string:concat", self.literal(message + " ", types.STRING), shown, null_handling="ACCEPT_NULLS"
        )
        return self.cast(self.cast(text, types.I64), type)

    def list_of(self, element: Type, parts: Sequence[Expression]) -> Expression:
        parts = [self.as_type(part, element) for part in parts]
        return Nested(types.of("list", element, nullable=False), tuple(parts))

    def share(self, input: Expression) -> Expression:
        """The same value, for a rule that needs it several times."""
        if isinstance(input, FieldReference | Literal | Shared):
            return input
        self.context.shares = True
        return Shared(input)

    # ---- everyday calls

    def equal(self, left: Expression, right: Expression) -> Expression:
        return self.call("comparison:equal", left, right)

    def is_null(self, input: Expression) -> Expression:
        return self.call("comparison:is_null", input)

    def is_not_null(self, input: Expression) -> Expression:
        return self.call("comparison:is_not_null", input)

    def coalesce(self, *inputs: Expression) -> Expression:
        return self.call("comparison:coalesce", *inputs)

    def not_(self, input: Expression) -> Expression:
        return self.call("boolean:not", input)

    def and_(self, *inputs: Expression) -> Expression:
        return inputs[0] if len(inputs) == 1 else self.call("boolean:and", *inputs)

    def or_(self, *inputs: Expression) -> Expression:
        return inputs[0] if len(inputs) == 1 else self.call("boolean:or", *inputs)

    def text(self, value: str) -> Literal:
        return Literal(value, types.STRING)

    def i32(self, value: int) -> Literal:
        return Literal(value, types.I32)

    def i64(self, value: int) -> Literal:
        return Literal(value, types.I64)

    def fp64(self, value: float) -> Literal:
        return Literal(value, types.FP64)

    def true(self) -> Literal:
        return Literal(True, types.BOOLEAN)

    def false(self) -> Literal:
        return Literal(False, types.BOOLEAN)
