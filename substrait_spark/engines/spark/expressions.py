"""Expressions of the tree as Catalyst's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...algebra import types
from ...algebra.expression import (
    CONTEXT_VARIABLES,
    AggregateFunction,
    Cast,
    ContextVariable,
    Exists,
    Expression,
    FieldReference,
    IfThen,
    InSubquery,
    Lambda,
    Literal,
    Nested,
    Part,
    ScalarFunction,
    ScalarSubquery,
    Shared,
    SingularOrList,
    SortField,
    WindowFunction,
)
from ...algebra.relation import Relation
from ...errors import Unsupported
from . import document as catalyst
from .builder import Builder, Columns
from .calls import AggregateCall, Call, ScalarCall, WindowCall
from .casts import cast
from .document import Node, some
from .functions import rule_of
from .user_functions import called
from .windows import frame_of, held

if TYPE_CHECKING:
    from ...algebra.expression import WindowCall as WindowCallExpression


DEEP = 100
"""From how many nested messages on the parts of an expression are written before it."""


class Scope(NamedTuple):
    """What an expression can refer to: columns of its input, those of the query around it, and lambdas' parameters."""

    columns: Sequence[Node]
    outer: Scope | None = None
    lambdas: tuple[Sequence[Node], ...] = ()


class ExpressionBuilder:
    """Writes the expressions of one plan. `relation` writes a relation that stands in an expression."""

    def __init__(self, builder: Builder, relation: Callable[[Relation, Scope | None], Columns]) -> None:
        self._b = builder
        self._d = builder.document
        self._relation = relation
        self._ahead: dict[Expression, Node] = {}

    def build(self, expression: Expression, scope: Scope) -> Node:
        """The expression; a stand-in where it has a problem, which is noted."""
        if expression in self._ahead:
            return self._ahead.pop(expression)
        if expression.height > DEEP:
            self._build_ahead(expression, scope)
        try:
            node = _RULES[type(expression)](self, expression, scope)
        except Unsupported as problem:
            self._b.report(expression.origin, problem)
            node = self._d.literal(None, types.of("boolean"))
        return self._b.made(node, expression.origin)

    def _build_ahead(self, root: Expression, scope: Scope) -> None:
        """Write the deep parts of an expression, inner ones first, so that none goes deep on Python's stack."""
        parts: list[Expression] = []
        stack = [root]
        while stack:
            expression = stack.pop()
            inside = () if isinstance(expression, Lambda) else expression.children()
            deep = [part for part in inside if part.height > DEEP and part not in self._ahead]
            parts += deep
            stack += deep
        for part in reversed(parts):
            self._ahead[part] = self.build(part, scope)

    def build_all(self, expressions: Sequence[Expression], scope: Scope) -> list[Node]:
        return [self.build(expression, scope) for expression in expressions]

    def sorts(self, sorts: Sequence[SortField], scope: Scope) -> list[Node]:
        """Sort keys."""
        return self._ordered(sorts, self.build_all([sort.expression for sort in sorts], scope))

    def _ordered(self, sorts: Sequence[SortField], keys: Sequence[Node]) -> list[Node]:
        return [
            self._b.sort_order(key, sort.ascending, sort.nulls_first) for sort, key in zip(sorts, keys, strict=True)
        ]

    # ---- calls

    def _arguments(self, arguments: Sequence[Expression | str], scope: Scope) -> list[Node | str]:
        return [a if isinstance(a, str) else self.build(a, scope) for a in arguments]

    def _finished(self, call: Call) -> Node:
        """What the rule of the function makes of a call, in the type that the plan declares."""
        declaration = call.function.declaration
        function = self._b.functions.object_of(declaration.urn, declaration.name)
        result = rule_of(call)(call) if function is None else called(call, function)
        return self._b.made(self._b.typed(result, call.type), call.function.origin)

    def _scalar_function(self, call: ScalarFunction, scope: Scope) -> Node:
        return self._finished(ScalarCall(self._b, call, self._arguments(call.arguments, scope)))

    def measure(self, measure: AggregateFunction, scope: Scope) -> Node:
        """An aggregate function's call; a stand-in where it has a problem, which is noted."""
        filter = None if measure.filter is None else self.build(measure.filter, scope)
        arguments = self._arguments(measure.arguments, scope)
        keys = self.build_all([sort.expression for sort in measure.sorts], scope)
        try:
            return self._finished(AggregateCall(self._b, measure, arguments, filter, keys))
        except Unsupported as problem:
            self._b.report(measure.origin, problem)
            return self._d.literal(None, types.of("boolean"))

    def window(
        self, call: WindowCallExpression, partition: Sequence[Node], sorts: Sequence[SortField], scope: Scope
    ) -> Node:
        """A window function's call; a stand-in where it has a problem, which is noted."""
        arguments = self._arguments(call.arguments, scope)
        try:
            key = sorts[0].expression.type if sorts else None
            frame = frame_of(self._b, call, key, lambda offset: self.build(offset, scope))
            keys = self.build_all([sort.expression for sort in sorts], scope)
            if keys:
                keys[0] = held(self._b, call, keys[0], sorts[0])
            orders = self._ordered(sorts, keys)
            return self._finished(WindowCall(self._b, call, arguments, partition, orders, frame))
        except Unsupported as problem:
            self._b.report(call.origin, problem)
            return self._d.literal(None, types.of("boolean"))

    def _window_function(self, function: WindowFunction, scope: Scope) -> Node:
        partition = self.build_all(function.partition, scope)
        return self.window(function.call, partition, function.sorts, scope)

    # ---- leaves and references

    def _context_variable(self, variable: ContextVariable, scope: Scope) -> Node:
        if variable.type != CONTEXT_VARIABLES[variable.name]:
            raise Unsupported("Spark's timestamps are of microseconds")
        if variable.name == "current_timestamp":
            return self._d.new("CurrentTimestamp")
        # The context is the session as it is now: Spark takes its zone later, and for a date not always the session's.
        zone = self._b.tables.setting("spark.sql.session.timeZone")
        if variable.name == "current_date":
            return self._d.new("CurrentDate", some(zone))
        return self._d.literal(zone, types.STRING)

    def _literal(self, literal: Literal, scope: Scope) -> Node:
        return self._d.literal(literal.value, literal.type)

    def _field_reference(self, reference: FieldReference, scope: Scope) -> Node:
        return self._path(self._column(reference, scope), reference.path)

    def _column(self, reference: FieldReference, scope: Scope) -> Node:
        if reference.parameter is not None:
            return scope.lambdas[-1 - reference.parameter][reference.ordinal]
        if not reference.outer:
            return scope.columns[reference.ordinal]
        if reference.outer > 1 or scope.outer is None:
            raise Unsupported("a subquery in the condition of a join refers further outwards than to the join")
        return self._d.new("OuterReference", scope.outer.columns[reference.ordinal])

    def _part(self, part: Part, scope: Scope) -> Node:
        return self._path(self.build(part.root, scope), part.path)

    def _path(self, node: Node, path: Sequence[tuple[str, Any]]) -> Node:
        for kind, where in path:
            node = self._step(node, kind, where)
        return node

    def _step(self, node: Node, kind: str, where: Any) -> Node:
        if kind == "field":
            return self._d.new("GetStructField", node, where, None)
        if kind == "key":
            return self._d.new("GetMapValue", node, self._d.literal(where.value, where.type))
        if where < 0:  # from the end, of which the last is -1
            return self._d.call("try_element_at", [node, self._d.literal(where, types.I32)], "ANSI")
        return self._d.new("GetArrayItem", node, self._d.literal(where, types.I32), False)

    # ---- the rest

    def _shared(self, shared: Shared, scope: Scope) -> Node:
        """Spark finds by itself what is computed several times."""
        return self.build(shared.value, scope)

    def _cast(self, expression: Cast, scope: Scope) -> Node:
        return cast(self._b, self.build(expression.input, scope), expression)

    def _if_then(self, choice: IfThen, scope: Scope) -> Node:
        clauses = [(self.build(when, scope), self.build(then, scope)) for when, then in choice.clauses]
        return self._b.choice(clauses, self.build(choice.otherwise, scope))

    def _singular_or_list(self, membership: SingularOrList, scope: Scope) -> Node:
        return self._d.new("In", self.build(membership.value, scope), self.build_all(membership.options, scope))

    def _nested(self, nested: Nested, scope: Scope) -> Node:
        parts = self.build_all(nested.parts, scope)
        if nested.type.kind == "list":
            return self._b.typed(self._d.new("CreateArray", parts, False), nested.type)
        if nested.type.kind == "map":
            return self._b.typed(self._d.new("CreateMap", parts, False), nested.type)
        named = [
            node for ordinal, part in enumerate(parts) for node in (self._d.literal(str(ordinal), types.STRING), part)
        ]
        return self._d.new("CreateNamedStruct", named)

    def _lambda(self, function: Lambda, scope: Scope) -> Node:
        variables = [
            self._d.variable(f"x{len(scope.lambdas)}_{n}", parameter) for n, parameter in enumerate(function.parameters)
        ]
        body = self.build(function.body, scope._replace(lambdas=(*scope.lambdas, variables)))
        return self._d.new("LambdaFunction", body, variables, False)

    # ---- subqueries

    def _scalar_subquery(self, subquery: ScalarSubquery, scope: Scope) -> Node:
        plan = self._relation(subquery.relation, scope).plan
        return self._d.new("ScalarSubquery", plan, catalyst.Part("outer", plan))

    def _exists(self, subquery: Exists, scope: Scope) -> Node:
        plan = self._relation(subquery.relation, scope).plan
        return self._d.new("Exists", plan, catalyst.Part("outer", plan))

    def _in_subquery(self, subquery: InSubquery, scope: Scope) -> Node:
        needles = self.build_all(subquery.needles, scope)
        columns = self._relation(subquery.relation, scope)
        if len(needles) == 1 and subquery.needles[0].type.nullable:
            # Of NULL alone, Spark's optimizer holds without ANSI mode that it is unknown whether it is in an empty list:
            # SELECT 1 WHERE CAST(NULL AS INT) NOT IN (SELECT 1 WHERE false)
            true = self._d.literal(True, types.BOOLEAN)
            needles = [*needles, true]
            columns = self._b.project(columns.plan, [*columns.columns, true])
        plan, count = columns.plan, len(needles)
        query = self._d.new("ListQuery", plan, catalyst.Part("outer", plan), catalyst.NEW_ID, count)
        return self._d.new("InSubquery", needles, query)


_RULES: dict[type[Expression], Callable[[ExpressionBuilder, Any, Scope], Node]] = {
    Cast: ExpressionBuilder._cast,
    ContextVariable: ExpressionBuilder._context_variable,
    Exists: ExpressionBuilder._exists,
    FieldReference: ExpressionBuilder._field_reference,
    IfThen: ExpressionBuilder._if_then,
    InSubquery: ExpressionBuilder._in_subquery,
    Lambda: ExpressionBuilder._lambda,
    Literal: ExpressionBuilder._literal,
    Nested: ExpressionBuilder._nested,
    Part: ExpressionBuilder._part,
    ScalarFunction: ExpressionBuilder._scalar_function,
    ScalarSubquery: ExpressionBuilder._scalar_subquery,
    Shared: ExpressionBuilder._shared,
    SingularOrList: ExpressionBuilder._singular_or_list,
    WindowFunction: ExpressionBuilder._window_function,
}
