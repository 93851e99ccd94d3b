"""Expression messages as the tree's expressions, over columns of known types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from substrait.algebra_pb2 import AggregateFunction as AggregateMessage
from substrait.algebra_pb2 import Expression as Message
from substrait.algebra_pb2 import SortField as SortMessage
from substrait.type_pb2 import Type as TypeMessage

from ..algebra import types
from ..algebra.builder import CallBuilder
from ..algebra.enum_names import enum_name
from ..algebra.expression import (
    AggregateFunction,
    Bound,
    Cast,
    ContextVariable,
    DynamicParameter,
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
    SingularOrList,
    SortField,
    WindowCall,
    WindowFunction,
)
from ..algebra.type_messages import DeclaredTypes, read_type
from ..algebra.types import INTEGERS, Type
from ..errors import Unsupported
from ..extensions.registry import OWN
from .bare_names import spelled
from .detached import referred_to
from .functions import DeclaredFunctions, NoImplementation, same_values
from .literal import bound_literal, read_literal
from .masks import Mask
from .numbers import as_one_type
from .place import MessagePart
from .subqueries import COMPARISONS, compared, unique

if TYPE_CHECKING:
    from ..algebra.relation import Relation
    from ..extensions.registry import Declaration


class Scope(NamedTuple):
    """What an expression can refer to: the columns of its input, the queries and the lambdas around it."""

    columns: tuple[Type, ...]
    outer: Scope | None = None
    lambdas: tuple[tuple[Type, ...], ...] = ()
    anchor: int | None = None
    """What references call the relation of the expression, where it has a name."""
    lateral: bool = False
    """Whether it is the left input of a lateral join, as the right one sees it."""


class NoSuchColumn(Unsupported):
    """A reference to a column that its input lacks: of no interest where the input could not be read."""


class ExpressionReader:
    """Reads the expressions of one plan."""

    def __init__(
        self,
        functions: DeclaredFunctions,
        declared: DeclaredTypes,
        parameters: Mapping[int, Message.Literal],
        e: CallBuilder,
        relation: Callable[[Any, Scope | None], Relation],
    ) -> None:
        self._functions = functions
        self._declared = declared
        self._parameters = parameters
        self._e = e
        self._relation = relation
        self.detached: Sequence[Message] = ()
        """The expressions that are stored apart from the relations."""
        self._read_apart: dict[int, Expression] = {}
        """Those of them that were read already; each is read before the expressions that refer to it."""

    def read(self, message: Message, scope: Scope) -> Expression:
        """The expression. Raises `Unsupported` for one that the tree has nothing for."""
        kind = message.WhichOneof("rex_type")
        rule = getattr(self, f"_{kind}", None)
        if kind is None or rule is None:
            raise Unsupported("an expression is empty" if kind is None else f"{kind} expressions are not read")
        expression: Expression = rule(getattr(message, kind), scope)
        return expression

    def read_all(self, messages: Sequence[Message], scope: Scope) -> tuple[Expression, ...]:
        return tuple([self.read(message, scope) for message in messages])

    def type(self, message: TypeMessage) -> Type:
        complaints: list[str] = []
        type = read_type(message, complaints.append, self._declared)
        if type is None:
            raise Unsupported("; ".join(complaints) or "a type is not known")
        return type

    def literal(self, message: Message.Literal) -> Literal:
        return read_literal(message, self._declared)

    # ---- leaves and references

    def _literal(self, message: Message.Literal, scope: Scope) -> Expression:
        return self.literal(message)

    def _selection(self, message: Message.FieldReference, scope: Scope) -> Expression:
        masked = message.WhichOneof("reference_type") == "masked_reference"
        segment = message.direct_reference
        kind = message.WhichOneof("root_type")
        if kind == "expression":
            root = self.read(message.expression, scope)
            if masked:
                return Mask(message.masked_reference, self._e).value(root)
            path, type = self._path(segment, root.type)
            return Part(root, path, type)
        outer = _steps_out(message.outer_reference, scope) if kind == "outer_reference" else 0
        parameter = message.lambda_parameter_reference.steps_out if kind == "lambda_parameter_reference" else None
        columns = _columns(scope, outer, parameter)
        if masked:
            fields = [FieldReference(n, column, (), outer, parameter) for n, column in enumerate(columns)]
            return Mask(message.masked_reference, self._e).record(fields)
        if segment.WhichOneof("reference_type") != "struct_field":
            raise Unsupported("a reference to the columns does not begin with a field")
        ordinal = segment.struct_field.field
        if not 0 <= ordinal < len(columns):
            raise NoSuchColumn(f"there is no column {ordinal} among {len(columns)}")
        inner = segment.struct_field
        if not inner.HasField("child"):
            return FieldReference(ordinal, columns[ordinal], (), outer, parameter)
        path, type = self._path(inner.child, columns[ordinal])
        return FieldReference(ordinal, type, path, outer, parameter)

    def _path(self, segment: Any, type: Type) -> tuple[tuple[tuple[str, Any], ...], Type]:
        """The segments of a path into a value, and the type of what is there."""
        path: list[tuple[str, Any]] = []
        while True:
            kind = segment.WhichOneof("reference_type")
            inner = getattr(segment, kind or "struct_field")
            step, type = self._step(kind, inner, type)
            path.append(step)
            if not inner.HasField("child"):
                return tuple(path), type
            segment = inner.child

    def _step(self, kind: str | None, inner: Any, type: Type) -> tuple[tuple[str, Any], Type]:
        if kind == "struct_field" and type.kind == "struct" and 0 <= inner.field < len(type.parameters):
            field: Type = type.parameters[inner.field]
            return ("field", inner.field), types.with_nullable(field, field.nullable or type.nullable)
        if kind == "list_element" and type.kind == "list":
            return ("element", inner.offset), types.nullable(type.parameters[0])
        if kind == "map_key" and type.kind == "map":
            return ("key", read_literal(inner.map_key, self._declared)), types.nullable(type.parameters[1])
        raise Unsupported(f"there is no {kind or 'segment'} in {type}")

    def _execution_context_variable(self, message: Any, scope: Scope) -> Expression:
        name = message.WhichOneof("execution_context_variable_type")
        if name is None:
            raise Unsupported("an execution context variable is empty")
        if name == "current_timestamp":
            kind = types.of("precision_timestamp_tz", message.current_timestamp.precision, nullable=False)
            return ContextVariable(name, kind)
        return ContextVariable(name)

    def _dynamic_parameter(self, message: Any, scope: Scope) -> Expression:
        reference, stated = message.parameter_reference, self.type(message.type)
        if (value := self._parameters.get(reference)) is not None:
            bound_literal(reference, stated, value, self._declared)
        return DynamicParameter(reference, stated)

    def _detached_expression_ordinal(self, ordinal: int, scope: Scope) -> Expression:
        """What is stored apart, after what it refers to itself: a chain of any length takes no more of Python's stack."""
        waiting = [] if ordinal in self._read_apart else [ordinal]
        while waiting:
            stored = self.detached[waiting[-1]]
            if needed := [each for each in referred_to(stored) if each not in self._read_apart]:
                waiting += needed
            else:
                self._read_apart[waiting.pop()] = self.read(stored, scope)
        return self._read_apart.pop(ordinal)

    # ---- calls

    def _scalar_function(self, message: Message.ScalarFunction, scope: Scope) -> Expression:
        arguments = self._arguments(message.arguments, scope)
        stated = self.stated_type(message)
        try:
            declaration, arguments = self._resolved(("scalar",), message, arguments, stated)
        except NoImplementation:
            # Some producers compare numbers of several types, which the standard functions do not.
            declaration, arguments = self._resolved(("scalar",), message, as_one_type(arguments), stated)
        self._e.traits.draws |= not declaration.deterministic
        raising = declaration.alias in OWN
        call = ScalarFunction(declaration, arguments, _options(message.options), raising)
        call.came_from(MessagePart(declaration.compound, declaration.compound))
        return call if stated is None else as_stated(call, stated)

    def _resolved(
        self, kinds: Sequence[str], message: Any, arguments: tuple[Expression | str, ...], stated: Type | None
    ) -> tuple[Declaration, tuple[Expression | str, ...]]:
        """The function of a call, and its arguments as that function has them."""
        name = self._functions.bare_name(message.function_reference)
        if name is None:
            anchor = message.function_reference
            return self._functions.declaration(kinds, anchor, _shapes(arguments), stated), arguments
        name, arguments = spelled(name, arguments)
        return self._functions.standard(kinds, name, _shapes(arguments), stated), arguments

    def names_no_file(self, message: Any) -> bool:
        """Whether a call is of a function that the plan names without the file it is from."""
        return self._functions.bare_name(message.function_reference) is not None

    def stated_type(self, message: Any) -> Type | None:
        """The type that a call says it gives; None where it leaves that to its function."""
        kind = message.output_type.WhichOneof("kind")
        return None if kind is None else self.type(message.output_type)

    def _arguments(self, messages: Sequence[Any], scope: Scope) -> tuple[Expression | str, ...]:
        return tuple([self._argument(message, scope) for message in messages])

    def _argument(self, message: Any, scope: Scope) -> Expression | str:
        kind = message.WhichOneof("arg_type")
        if kind == "enum":
            return str(message.enum)
        if kind == "value":
            return self.read(message.value, scope)
        raise Unsupported("arguments that are types are not read")

    def aggregate(self, message: AggregateMessage, scope: Scope, filter: Expression | None = None) -> AggregateFunction:
        """An aggregate function's call."""
        # Producers that leave the phase open mean the whole function, though the specification implies its last phase.
        if enum_name(message, "phase") not in ("INITIAL_TO_RESULT", "UNSPECIFIED"):
            raise Unsupported(f"aggregates of the phase {enum_name(message, 'phase')} are not read")
        arguments = self._arguments(message.arguments, scope)
        declaration, arguments = self._resolved(("aggregate",), message, arguments, self.stated_type(message))
        call = AggregateFunction(
            declaration,
            arguments,
            _options(message.options),
            enum_name(message, "invocation") == "DISTINCT",
            tuple([self.sort(sort, scope) for sort in message.sorts]),
            filter,
        )
        call.came_from(MessagePart(declaration.compound, declaration.compound))
        return call

    def window(self, message: Any, scope: Scope) -> WindowCall:
        """A window function's call, of an expression or of a window relation."""
        if enum_name(message, "invocation") == "DISTINCT":
            raise Unsupported("window functions of distinct values are not read")
        arguments = self._arguments(message.arguments, scope)
        stated = self.stated_type(message)
        declaration, arguments = self._resolved(("window", "aggregate"), message, arguments, stated)
        if stated is not None and not same_values(declaration.result, stated):
            raise Unsupported(f"{declaration.compound} is said to give {stated}, and gives {declaration.result}")
        rows = enum_name(message, "bounds_type") != "RANGE"
        lower, upper = (self._bound(bound, scope) for bound in (message.lower_bound, message.upper_bound))
        call = WindowCall(declaration, arguments, rows, lower, upper, _options(message.options))
        call.came_from(MessagePart(declaration.compound, declaration.compound))
        return call

    def _bound(self, message: Any, scope: Scope) -> Bound:
        kind = message.WhichOneof("kind")
        if kind in ("preceding", "following"):
            bound = getattr(message, kind)
            if bound.HasField("offset_expr"):
                return Bound(kind, self.read(bound.offset_expr, scope))
            return Bound(kind, Literal(bound.offset, types.I64))
        if kind == "current_row":
            return Bound("current")
        if kind == "unbounded":
            return Bound("unbounded")
        raise Unsupported("a window function does not state its frame")

    def _window_function(self, message: Message.WindowFunction, scope: Scope) -> Expression:
        call = self.window(message, scope)
        sorts = tuple([self.sort(sort, scope) for sort in message.sorts])
        return WindowFunction(call, self.read_all(message.partitions, scope), sorts)

    def sort(self, message: SortMessage, scope: Scope) -> SortField:
        """A sort key."""
        if message.WhichOneof("sort_kind") != "direction":
            raise Unsupported("sorts by a comparison function are not read")
        name = enum_name(message, "direction")
        if name == "CLUSTERED":  # any order will do that has equal values side by side
            name = "ASC_NULLS_FIRST"
        if name not in _DIRECTIONS:
            raise Unsupported(f"the sort direction {name} is not read")
        return SortField(self.read(message.expr, scope), *_DIRECTIONS[name])

    # ---- the rest

    def _cast(self, message: Message.Cast, scope: Scope) -> Expression:
        input, type = self.read(message.input, scope), self.type(message.type)
        behavior = enum_name(message, "failure_behavior")
        if behavior not in ("THROW_EXCEPTION", "RETURN_NULL"):
            raise Unsupported("a cast does not say what it does where it fails")
        return Cast(input, type, behavior == "THROW_EXCEPTION")

    def _if_then(self, message: Message.IfThen, scope: Scope) -> Expression:
        clauses = [(self.read(getattr(clause, "if"), scope), self.read(clause.then, scope)) for clause in message.ifs]
        if not clauses:
            raise Unsupported("a choice has no clause")
        return self._chosen(clauses, getattr(message, "else") if message.HasField("else") else None, scope)

    def _chosen(
        self, clauses: Sequence[tuple[Expression, Expression]], rest: Message | None, scope: Scope
    ) -> Expression:
        """The value of the first condition that holds, and the one for the rest, null where none is said."""
        otherwise = Literal(None, types.nullable(clauses[0][1].type)) if rest is None else self.read(rest, scope)
        kinds = [otherwise.type, *(value.type for _, value in clauses)]
        if not all(same_values(kinds[0], kind) for kind in kinds):
            raise Unsupported(f"a choice has values of several types: {', '.join(map(str, kinds))}")
        return IfThen(tuple(clauses), otherwise)

    def _singular_or_list(self, message: Message.SingularOrList, scope: Scope) -> Expression:
        value, *options = self.read_all([message.value, *message.options], scope)
        if not all(types.equal_but_nullability(value.type, option.type) for option in options):
            value, *options = as_one_type((value, *options))
        return SingularOrList(value, tuple(options))

    def _switch_expression(self, message: Any, scope: Scope) -> Expression:
        """Conditions that a value, computed once, equals this literal or that."""
        matched = self._e.share(self.read(message.match, scope))
        clauses: list[tuple[Expression, Expression]] = []
        for clause in message.ifs:
            literal = read_literal(getattr(clause, "if"), self._declared)
            if literal.value is None:
                raise Unsupported("a switch has a null among its values, and what equals null is not said")
            is_this = self._e.equal(*as_one_type((matched, literal)))
            clauses.append((is_this, self.read(clause.then, scope)))
        if not clauses:
            raise Unsupported("a switch has no clause")
        return self._chosen(clauses, getattr(message, "else") if message.HasField("else") else None, scope)

    def _multi_or_list(self, message: Any, scope: Scope) -> Expression:
        """Whether several values equal those of one of the records."""
        values = [self._e.share(value) for value in self.read_all(message.value, scope)]
        records = [self.read_all(record.fields, scope) for record in message.options]
        if not values or not records or any(len(record) != len(values) for record in records):
            raise Unsupported("a list of records has none, or one of another number of values than are looked for")
        return self._e.or_(
            *[
                self._e.and_(*[self._e.equal(*as_one_type(pair)) for pair in zip(values, record, strict=True)])
                for record in records
            ]
        )

    def _nested(self, message: Message.Nested, scope: Scope) -> Expression:
        kind = message.WhichOneof("nested_type")
        if kind == "struct":
            parts = self.read_all(message.struct.fields, scope)
            return Nested(types.of("struct", *[part.type for part in parts]), parts)
        if kind == "list":
            parts = self.read_all(message.list.values, scope)
            if not parts:
                raise Unsupported("a nested list has no value, and so no type")
            return Nested(types.of("list", parts[0].type), parts)
        if kind == "map" and message.map.key_values:
            pairs = message.map.key_values
            parts = self.read_all([part for pair in pairs for part in (pair.key, pair.value)], scope)
            return Nested(types.of("map", parts[0].type, parts[1].type), parts)
        raise Unsupported(f"a nested {kind or 'value'} is empty")

    def _lambda(self, message: Any, scope: Scope) -> Expression:
        parameters = tuple([self.type(kind) for kind in message.parameters.types])
        return Lambda(parameters, self.read(message.body, scope._replace(lambdas=(*scope.lambdas, parameters))))

    def _subquery(self, message: Message.Subquery, scope: Scope) -> Expression:
        kind = message.WhichOneof("subquery_type")
        if kind == "scalar":
            scalar = self._relation(message.scalar.input, scope)
            if len(scalar.types) != 1:
                raise NoSuchColumn(f"a scalar subquery has {len(scalar.types)} columns")
            return ScalarSubquery(scalar)
        if kind == "in_predicate":
            needles = self.read_all(message.in_predicate.needles, scope)
            haystack = self._relation(message.in_predicate.haystack, scope)
            if len(needles) != len(haystack.types):
                raise NoSuchColumn(f"{len(needles)} values are looked for among rows of {len(haystack.types)}")
            for needle, column in zip(needles, haystack.types, strict=True):
                if not types.equal_but_nullability(needle.type, column):
                    raise Unsupported(f"a {needle.type} is looked for among values of {column}")
            return InSubquery(needles, haystack)
        if kind == "set_comparison":
            return self._set_comparison(message.set_comparison, scope)
        predicate = enum_name(message.set_predicate, "predicate_op")
        if kind == "set_predicate" and predicate in ("EXISTS", "UNIQUE"):
            tuples = self._relation(message.set_predicate.tuples, scope)
            return Exists(tuples) if predicate == "EXISTS" else unique(self._e, tuples)
        raise Unsupported(f"a subquery is {'of no kind' if kind is None else f'a {kind} of no kind'}")

    def _set_comparison(self, message: Any, scope: Scope) -> Expression:
        reduction, operator = enum_name(message, "reduction_op"), enum_name(message, "comparison_op")
        if reduction not in ("ANY", "ALL") or operator not in COMPARISONS:
            raise Unsupported(f"comparisons {operator} with {reduction} of the rows of a subquery are not read")
        if scope.lambdas:
            raise Unsupported("comparisons with the rows of a subquery are not read inside of a lambda")
        value, relation = self.read(message.left, scope), self._relation(message.right, scope)
        if len(relation.types) != 1:
            raise NoSuchColumn(f"a value is compared with rows of {len(relation.types)} columns")
        return compared(self._e, reduction, operator, value, relation)


def as_stated(value: Expression, stated: Type) -> Expression:
    """A function's result in the type that its call states, which some producers let differ from what the function gives.

    Raises Unsupported where a value would be another one in that type, not only one that doesn't fit.
    """
    if same_values(value.type, stated):
        return value
    if not _keeps_values(value.type, stated):
        raise Unsupported(f"a call is said to give {stated}, and its function gives {value.type}")
    return Cast(value, types.with_nullable(stated, value.type.nullable), throws=True)


def _keeps_values(source: Type, target: Type) -> bool:
    """Whether each value of a type that fits in another is the same there."""
    if source.kind == target.kind == "decimal":
        return bool(source.parameters[1] <= target.parameters[1])
    return types.widens(source, target) or (source.kind in INTEGERS and target.kind in INTEGERS)


def _steps_out(message: Any, scope: Scope) -> int:
    """How many queries outwards a reference leads, which may say so itself, or name a relation there."""
    if message.WhichOneof("outer_reference_type") == "steps_out":
        if not message.steps_out:
            raise Unsupported("a reference to a query outwards leads no step out")
        return _past_lateral_joins(message.steps_out, scope)
    steps, around = 1, scope.outer
    while around is not None and around.anchor != message.rel_reference:
        steps, around = steps + 1, around.outer
    if around is None:
        raise Unsupported(f"there is no relation of the anchor {message.rel_reference} around a reference to it")
    return steps


def _past_lateral_joins(boundaries: int, scope: Scope) -> int:
    """A number of subqueries outwards as one of queries, of which those of lateral joins are no subqueries."""
    steps, around = 0, scope.outer
    while around is not None:
        steps += 1
        boundaries -= not around.lateral
        if not boundaries:
            return steps
        around = around.outer
    raise Unsupported("a reference leads further outwards than there are queries")


def _columns(scope: Scope, outer: int, parameter: int | None) -> Sequence[Type]:
    """The columns that a reference is to: of the input, of a query so many steps out, or of a lambda."""
    if parameter is not None:
        if parameter >= len(scope.lambdas):
            raise Unsupported(f"there is no lambda {parameter} steps out")
        return scope.lambdas[-1 - parameter]
    around: Scope | None = scope
    for _ in range(outer):
        around = around.outer if around is not None else None
    if around is None:
        raise Unsupported(f"there is no query {outer} steps out")
    return around.columns


def _shapes(arguments: Sequence[Expression | str]) -> tuple[Type | str, ...]:
    return tuple([a if isinstance(a, str) else a.type for a in arguments])


def _options(messages: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    """Options; of several preferences, the first."""
    return tuple([(option.name, option.preference[0]) for option in messages if option.preference])


_DIRECTIONS = {
    f"{'ASC' if ascending else 'DESC'}_NULLS_{'FIRST' if nulls_first else 'LAST'}": (ascending, nulls_first)
    for ascending in (True, False)
    for nulls_first in (True, False)
}
"""Sort directions by their names: whether they ascend, and whether nulls come first."""
