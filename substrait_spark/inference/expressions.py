"""Types of expression messages, derived from the messages alone; broken rules are complained of on the way.

A type of None is one that isn't known: an extension relation's column, or something that was complained of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from substrait.algebra_pb2 import Expression as Message
from substrait.type_pb2 import Type as TypeMessage

from ..algebra import types
from ..algebra.trampoline import Steps, done
from ..algebra.type_messages import common_type, literal_type, read_type, struct_types
from ..algebra.types import Type
from .complaints import Complaints
from .functions import Functions

if TYPE_CHECKING:
    from .relations import Relations

Types = tuple[Type | None, ...]

_BOOLEAN = types.of("boolean", nullable=True)


class Scope(NamedTuple):
    """What an expression can refer to: the columns of its input (None: not known), lambdas and queries around it."""

    columns: Types | None
    outer: Scope | None = None
    lambdas: tuple[Types, ...] = ()


class Expressions:
    """Derives the types of expressions."""

    def __init__(self, functions: Functions, complain: Complaints, relations: Relations) -> None:
        self._functions = functions
        self._relations = relations
        self._complain = complain
        self._at = complain.at
        self.bound_rows: dict[int, Types | None] = {}
        """The rows that relations with an anchor lend to those inside them."""
        self.parameters: dict[int, Type] = {}
        """The types of the parameters that expressions refer to."""
        self.detached: Sequence[Message] = ()
        """The expressions that are stored apart from the relation whose types are derived."""
        self._open: set[int] = set()
        """The ordinals of those that are being derived, so that one that refers to itself is noticed."""

    def read_type(self, message: TypeMessage) -> Type | None:
        """The type that a message of this plan stands for."""
        return read_type(message, self._complain, self._functions.types)

    def read_struct(self, message: TypeMessage.Struct) -> Types:
        """The types of a struct's fields."""
        return struct_types(message, self._complain, self._functions.types)

    def read_literal(self, message: Message.Literal) -> Type | None:
        return literal_type(message, self._complain, self._functions.types)

    def condition(self, message: Message, scope: Scope, what: str) -> Steps[None]:
        """Check an expression that must be boolean."""
        with self._at(what):
            type = yield self.type(message, scope)
            if type is not None and type.kind != "boolean":
                self._complain(f"the condition is {type}")

    def types(self, messages: Sequence[Message], scope: Scope, what: str) -> Steps[Types]:
        """The types of several expressions."""
        derived = []
        for index, message in enumerate(messages):
            with self._at(f"{what}[{index}]"):
                derived.append((yield self.type(message, scope)))
        return tuple(derived)

    def type(self, message: Message, scope: Scope) -> Steps[Type | None]:
        """The type of an expression."""
        kind = message.WhichOneof("rex_type")
        if kind is None:
            self._complain("an expression is empty")
            return done(None)
        rule = getattr(self, f"_{kind}", None)
        if rule is None:
            self._complain(f"there is no rule for the expression {kind}")
            return done(None)
        steps: Steps[Type | None] = rule(getattr(message, kind), scope)
        return steps

    # ---- leaves

    def _literal(self, literal: Message.Literal, scope: Scope) -> Steps[Type | None]:
        return done(self.read_literal(literal))

    def _dynamic_parameter(self, parameter: Any, scope: Scope) -> Steps[Type | None]:
        type = self.read_type(parameter.type)
        if type is not None and self.parameters.setdefault(parameter.parameter_reference, type) != type:
            known = self.parameters[parameter.parameter_reference]
            self._complain(f"the parameter {parameter.parameter_reference} is {type}, and {known} elsewhere")
        return done(type)

    def _execution_context_variable(self, variable: Any, scope: Scope) -> Steps[Type | None]:
        kind = variable.WhichOneof("execution_context_variable_type")
        if kind == "current_timestamp":
            return done(types.of("precision_timestamp_tz", variable.current_timestamp.precision, nullable=False))
        if kind is None:
            self._complain("an execution context variable is empty")
            return done(None)
        return done(types.of("date" if kind == "current_date" else "string", nullable=False))

    def _detached_expression_ordinal(self, ordinal: int, scope: Scope) -> Steps[Type | None]:
        if ordinal in self._open or ordinal >= len(self.detached):
            return None  # reading complains of it
        self._open.add(ordinal)
        type = yield self.type(self.detached[ordinal], scope)
        self._open.discard(ordinal)
        return type

    # ---- references

    def _selection(self, reference: Message.FieldReference, scope: Scope) -> Steps[Type | None]:
        if reference.WhichOneof("root_type") == "expression":
            with self._at("selection"):
                value = yield self.type(reference.expression, scope)
                return self._segment(reference.direct_reference, value) if self._is_direct(reference) else None
        return self.reference(reference, scope)

    def _is_direct(self, reference: Message.FieldReference) -> bool:
        direct = reference.WhichOneof("reference_type") == "direct_reference"
        if not direct:
            self._complain("there is no rule for masked references in expressions")
        return direct

    def reference(self, reference: Message.FieldReference, scope: Scope) -> Type | None:
        """The type of a field reference whose root isn't an expression."""
        if not self._is_direct(reference):
            return None
        segment = reference.direct_reference
        if segment.WhichOneof("reference_type") != "struct_field":
            self._complain("a reference doesn't start with a field")
            return None
        columns = self._root(reference, scope)
        if columns is None:
            return None
        field = segment.struct_field
        if not 0 <= field.field < len(columns):
            self._complain(f"the reference ${field.field} is beyond the {len(columns)} columns of its input")
            return None
        return self._child(field, columns[field.field])

    def _root(self, reference: Message.FieldReference, scope: Scope) -> Types | None:
        kind = reference.WhichOneof("root_type")
        if kind == "root_reference":
            return scope.columns
        if kind == "lambda_parameter_reference":
            steps = reference.lambda_parameter_reference.steps_out
            if steps >= len(scope.lambdas):
                self._complain(f"a reference to the parameters {steps} lambdas out, inside {len(scope.lambdas)}")
                return None
            return scope.lambdas[-1 - steps]
        if kind == "outer_reference":
            return self._outer(reference.outer_reference, scope)
        self._complain("a reference has no root")
        return None

    def _outer(self, reference: Message.FieldReference.OuterReference, scope: Scope) -> Types | None:
        if reference.WhichOneof("outer_reference_type") == "rel_reference":
            if reference.rel_reference not in self.bound_rows:
                self._complain(f"no relation around has the anchor {reference.rel_reference}")
            return self.bound_rows.get(reference.rel_reference)
        around: Scope | None = scope
        steps = max(1, reference.steps_out)
        while around is not None and steps:
            around, steps = around.outer, steps - 1
        if around is None or reference.steps_out < 1:
            self._complain(f"a reference {reference.steps_out} queries out, where there are fewer")
            return None
        return around.columns

    def _child(self, segment: Any, type: Type | None) -> Type | None:
        return self._segment(segment.child, type) if segment.HasField("child") else type

    def _segment(self, segment: Any, type: Type | None) -> Type | None:
        """The type where a segment and those after it lead to from a value of a type: null where there is nothing."""
        while type is not None:
            kind = segment.WhichOneof("reference_type")
            type = self._step(kind, segment, type)
            if type is None or not getattr(segment, kind).HasField("child"):
                return type
            segment = getattr(segment, kind).child
        return None

    def _step(self, kind: str | None, segment: Any, type: Type) -> Type | None:
        if kind == "struct_field" and type.kind == "struct":
            ordinal = segment.struct_field.field
            if not 0 <= ordinal < len(type.parameters):
                self._complain(f"the reference .{ordinal} is beyond the {len(type.parameters)} fields of its struct")
                return None
            field = type.parameters[ordinal]
            return types.with_nullable(field, field.nullable or type.nullable)
        if kind == "list_element" and type.kind == "list":
            return types.nullable(type.parameters[0])
        if kind == "map_key" and type.kind == "map":
            key = self.read_literal(segment.map_key.map_key)
            if key is not None and types.required(key) != types.required(type.parameters[0]):
                self._complain(f"a key of type {key} for a {type}")
            return types.nullable(type.parameters[1])
        self._complain(f"a {kind} segment into a {type}")
        return None

    # ---- calls

    def _scalar_function(self, call: Message.ScalarFunction, scope: Scope) -> Steps[Type | None]:
        return self._functions.check(("scalar",), call, (yield self._arguments(call, scope)))

    def _window_function(self, call: Message.WindowFunction, scope: Scope) -> Steps[Type | None]:
        yield self.types(call.partitions, scope, "partitions")
        yield self.sorts(call.sorts, scope)
        type: Type | None = yield self.window_call(call, scope)
        return type

    def window_call(self, call: Any, scope: Scope) -> Steps[Type | None]:
        """Check a window function, of an expression or of a window relation alike."""
        self._check_phase(call)
        kinds = [bound.WhichOneof("kind") for bound in (call.lower_bound, call.upper_bound)]
        if not call.bounds_type and any(kind not in (None, "unbounded") for kind in kinds):
            self._complain("a window function doesn't state its bounds type")
        for bound, kind in zip((call.lower_bound, call.upper_bound), kinds, strict=True):
            if kind in ("preceding", "following") and getattr(bound, kind).HasField("offset_expr"):
                yield self.type(getattr(bound, kind).offset_expr, scope)
        return self._functions.check(("window", "aggregate"), call, (yield self._arguments(call, scope)))

    def aggregate_call(self, call: Any, scope: Scope) -> Steps[Type | None]:
        """Check a measure's function."""
        self._check_phase(call)
        yield self.sorts(call.sorts, scope)
        return self._functions.check(("aggregate",), call, (yield self._arguments(call, scope)))

    def _check_phase(self, call: Any) -> None:
        if not call.phase:
            self._complain("a function doesn't state its phase")
        if not call.invocation:
            self._complain("the invocation of a function is neither ALL nor DISTINCT")

    def _arguments(self, call: Any, scope: Scope) -> Steps[tuple[Type | str | None, ...]]:
        derived: list[Type | str | None] = []
        for index, argument in enumerate(call.arguments):
            with self._at(f"arguments[{index}]"):
                kind = argument.WhichOneof("arg_type")
                if kind == "enum":
                    derived.append(argument.enum)
                elif kind == "value":
                    derived.append((yield self.type(argument.value, scope)))
                else:
                    self._complain(f"there is no rule for the argument {kind}")
                    derived.append(None)
        return tuple(derived)

    def sorts(self, sorts: Sequence[Any], scope: Scope) -> Steps[None]:
        """Check sort fields."""
        for index, sort in enumerate(sorts):
            with self._at(f"sorts[{index}]"):
                yield self.type(sort.expr, scope)
                if sort.WhichOneof("sort_kind") == "direction" and not sort.direction:
                    self._complain("a sort doesn't state its direction")
                if sort.WhichOneof("sort_kind") is None:
                    self._complain("a sort doesn't state its direction")

    # ---- casts, conditionals, membership

    def _cast(self, cast: Message.Cast, scope: Scope) -> Steps[Type | None]:
        with self._at("cast"):
            yield self.type(cast.input, scope)
        if not cast.failure_behavior:
            self._complain("a cast doesn't state its failure behaviour")
        return self.read_type(cast.type)

    def _if_then(self, if_then: Message.IfThen, scope: Scope) -> Steps[Type | None]:
        branches = []
        for index, clause in enumerate(if_then.ifs):
            yield self.condition(getattr(clause, "if"), scope, f"if[{index}]")
            with self._at(f"then[{index}]"):
                branches.append((yield self.type(clause.then, scope)))
        return (yield self._branches(branches, if_then, scope))

    def _switch_expression(self, switch: Message.SwitchExpression, scope: Scope) -> Steps[Type | None]:
        with self._at("match"):
            match = yield self.type(switch.match, scope)
        branches = []
        for index, clause in enumerate(switch.ifs):
            with self._at(f"case[{index}]"):
                self._same_kind(match, self.read_literal(getattr(clause, "if")))
                branches.append((yield self.type(clause.then, scope)))
        return (yield self._branches(branches, switch, scope))

    def _branches(self, branches: list[Type | None], message: Any, scope: Scope) -> Steps[Type | None]:
        if message.HasField("else"):
            with self._at("else"):
                branches.append((yield self.type(getattr(message, "else"), scope)))
            return common_type(branches, "the branches", self._complain)
        common = common_type(branches, "the branches", self._complain)
        return None if common is None else types.nullable(common)

    def _singular_or_list(self, message: Message.SingularOrList, scope: Scope) -> Steps[Type | None]:
        with self._at("value"):
            value = yield self.type(message.value, scope)
        operands = [value, *(yield self.types(message.options, scope, "options"))]
        for option in operands[1:]:
            self._same_kind(value, option)
        return _boolean(operands)

    def _multi_or_list(self, message: Message.MultiOrList, scope: Scope) -> Steps[Type | None]:
        values = yield self.types(message.value, scope, "value")
        operands = list(values)
        for index, record in enumerate(message.options):
            options = yield self.types(record.fields, scope, f"options[{index}]")
            if len(options) != len(values):
                self._complain(f"a list entry has {len(options)} values, not {len(values)}")
            for value, option in zip(values, options, strict=False):
                self._same_kind(value, option)
            operands += options
        return _boolean(operands)

    def _same_kind(self, left: Type | None, right: Type | None) -> None:
        if left is not None and right is not None and types.required(left) != types.required(right):
            self._complain(f"a {left} is compared with a {right}")

    # ---- nested values

    def _nested(self, nested: Message.Nested, scope: Scope) -> Steps[Type | None]:
        kind = nested.WhichOneof("nested_type")
        if kind == "struct":
            parameters = yield self.types(nested.struct.fields, scope, "fields")
        elif kind == "list":
            values = yield self.types(nested.list.values, scope, "values")
            parameters = (common_type(values, "a list's elements", self._complain),)
        elif kind == "map":
            keys = yield self.types([pair.key for pair in nested.map.key_values], scope, "keys")
            values = yield self.types([pair.value for pair in nested.map.key_values], scope, "values")
            parameters = (
                common_type(keys, "a map's keys", self._complain),
                common_type(values, "a map's values", self._complain),
            )
        else:
            self._complain("a nested expression is empty")
            return None
        if None in parameters:
            return None
        return types.of(kind, *parameters, nullable=nested.nullable)

    # ---- lambdas

    def _lambda(self, function: Any, scope: Scope) -> Steps[Type | None]:
        parameters = self.read_struct(function.parameters)
        with self._at("lambda"):
            body = yield self.type(function.body, scope._replace(lambdas=(*scope.lambdas, parameters)))
        if body is None or None in parameters:
            return None
        return types.of("func", *parameters, body, nullable=False)

    def _lambda_invocation(self, call: Any, scope: Scope) -> Steps[Type | None]:
        function = yield self._lambda(getattr(call, "lambda"), scope)
        arguments = yield self.types(call.arguments.fields, scope, "arguments")
        if function is None:
            return None
        *expected, result = function.parameters
        if len(arguments) != len(expected):
            self._complain(f"a lambda of {len(expected)} parameters is called with {len(arguments)} arguments")
        for wanted, given in zip(expected, arguments, strict=False):
            if given is not None and given != wanted:
                self._complain(f"a lambda's parameter is {wanted}, its argument {given}")
        result_type: Type = result
        return result_type

    # ---- subqueries

    def _subquery(self, subquery: Message.Subquery, scope: Scope) -> Steps[Type | None]:
        kind = subquery.WhichOneof("subquery_type")
        if kind == "scalar":
            columns = yield self._query(subquery.scalar.input, scope)
            if columns is None or not self._expect_columns(columns, 1) or columns[0] is None:
                return None
            return types.nullable(columns[0])
        if kind == "in_predicate":
            needles = yield self.types(subquery.in_predicate.needles, scope, "needles")
            columns = yield self._query(subquery.in_predicate.haystack, scope)
            if columns is not None and self._expect_columns(columns, len(needles)):
                for needle, column in zip(needles, columns, strict=True):
                    self._same_kind(needle, column)
            return _BOOLEAN
        if kind == "set_predicate":
            if not subquery.set_predicate.predicate_op:
                self._complain("a set predicate doesn't state its operation")
            yield self._query(subquery.set_predicate.tuples, scope)
            return types.BOOLEAN
        if kind == "set_comparison":
            with self._at("left"):
                left = yield self.type(subquery.set_comparison.left, scope)
            columns = yield self._query(subquery.set_comparison.right, scope)
            if columns is not None and self._expect_columns(columns, 1):
                self._same_kind(left, columns[0])
            return _BOOLEAN
        self._complain("a subquery is empty")
        return None

    def _query(self, rel: Any, scope: Scope) -> Steps[Types | None]:
        with self._at("subquery"):
            return (yield self._relations.types(rel, scope))

    def _expect_columns(self, columns: Types, count: int) -> bool:
        if len(columns) != count:
            self._complain(f"a subquery of {len(columns)} columns, not {count}")
        return len(columns) == count


def _boolean(operands: Sequence[Type | None]) -> Type | None:
    if None in operands:
        return None
    return types.of("boolean", nullable=any(operand is not None and operand.nullable for operand in operands))
