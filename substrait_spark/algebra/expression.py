"""Substrait expressions (https://substrait.io/expressions/): what they are, their types, and their messages.

Every expression knows its type, derived as the specification says, and its height: the number of messages that
its protobuf form nests, which readers limit to 100.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from substrait.algebra_pb2 import AggregateFunction as AggregateMessage
from substrait.algebra_pb2 import Expression as Message
from substrait.algebra_pb2 import SortField as SortMessage
from substrait.type_pb2 import Type as TypeMessage

from ..errors import Origin
from . import feature, types
from .types import Type

if TYPE_CHECKING:
    from ..extensions.registry import Declaration
    from .relation import Relation


class Anchors(Protocol):
    """Hands out anchors in the order of first use, and notes the types of messages that the specification lacks."""

    def function(self, declaration: Declaration) -> int: ...

    def message(self, type_url: str) -> None: ...

    enclosing: list[int]
    """The queries around what is written, from the outermost: 0 for a subquery's, a lateral join's by its anchor."""

    shared: dict[Relation, int]
    """Relations of the plan beside its root, by their place in it."""

    def relation(self) -> int: ...

    def detached(self, expression: Expression) -> int: ...


class Traced:
    """What remembers where it came from."""

    __slots__ = ("_origin",)
    _origin: Origin

    @property
    def origin(self) -> Origin | None:
        """What it was made from; None for what is only a part of that."""
        return getattr(self, "_origin", None)

    def came_from(self, origin: Origin | None) -> None:
        """Note what it was made from, unless that is known."""
        if origin is not None and not hasattr(self, "_origin"):
            self._origin = origin


class Expression(Traced):
    """A Substrait expression.

    `NAME` is what the dialect schema calls its kind, empty for what is in no plan; `PLURAL` what problems call several, where
    they have other words than that.
    """

    NAME: ClassVar[str] = ""
    PLURAL: ClassVar[str] = ""
    FEATURES: ClassVar[int] = 0
    """What each of its kind adds to its `features`."""
    __slots__ = ("features", "height", "raises", "size", "type")
    type: Type
    height: int
    raises: bool
    """Whether evaluating it may raise for some row; engines must not evaluate it for rows that Spark does not."""
    features: int
    """What it has in it: bits of `feature`."""
    size: int
    """How many expressions it is made of, itself among them, when what it has several times is written out each time."""

    def _take(self, parts: Sequence[Expression]) -> int:
        """Note whether the parts raise, their features, and how many they are; returns the height of the highest."""
        height, raises, features, size = 1, False, self.FEATURES, 1
        for part in parts:
            if part.height > height:  # noqa: PLR1730 - max() doubles the time of the loop, which every expression takes
                height = part.height
            raises = raises or part.raises
            features |= part.features
            size += part.size
        self.raises, self.features, self.size = raises, features, size
        return height

    def variant(self) -> tuple[str, str]:
        """The list in a dialect's entry for this kind that names the variants of it, and the name of this one."""
        return "", ""

    def write(self, target: Message, anchors: Anchors) -> None:
        """Fill an expression message in place."""
        raise NotImplementedError

    def children(self) -> tuple[Expression, ...]:
        """The expressions directly below."""
        return ()

    def with_children(self, children: Sequence[Expression]) -> Expression:
        """A copy over other expressions of the same types; the expression itself where they are the same."""
        if all(new is old for new, old in zip(children, self.children(), strict=True)):
            return self
        copy = self._over(children)
        copy.came_from(self.origin)
        return copy

    def _over(self, children: Sequence[Expression]) -> Expression:
        """Another expression of this kind over other expressions."""
        raise NotImplementedError


class FieldReference(Expression):
    """A column of the input by position, and a path into it.

    `path` holds `("field", ordinal)`, `("element", offset)` and `("key", literal)` segments. `outer` is how many
    subqueries and right inputs of lateral joins outwards the column is; `parameter` how many lambdas outwards, None where it is no lambda's. For a path
    into any other value see `Part`.
    """

    NAME = "SELECTION"

    __slots__ = ("ordinal", "outer", "parameter", "path")

    def __init__(
        self,
        ordinal: int,
        type: Type,
        path: tuple[tuple[str, Any], ...] = (),
        outer: int = 0,
        parameter: int | None = None,
    ) -> None:
        self.ordinal = ordinal
        self.type = type
        self.path = path
        self.outer = outer
        self.parameter = parameter
        self.height = 4 + 2 * len(path)
        self.raises = False
        self.size = 1
        if parameter is not None:
            self.features = feature.PARAMETER
        else:
            self.features = feature.COLUMN | feature.OUTER_COLUMN if outer else feature.COLUMN

    def step(self, segment: tuple[str, Any], type: Type) -> FieldReference:
        """The reference one segment further in."""
        return FieldReference(self.ordinal, type, (*self.path, segment), self.outer, self.parameter)

    def write(self, target: Message, anchors: Anchors) -> None:
        selection = target.selection
        if self.parameter is None and not self.path and not self.outer:
            selection.MergeFromString(_column(self.ordinal))
            return
        selection.direct_reference.struct_field.field = self.ordinal
        _write_path(self.path, selection.direct_reference.struct_field)
        if self.parameter is not None:
            selection.lambda_parameter_reference.steps_out = self.parameter
        elif self.outer:
            _write_query(anchors.enclosing[-self.outer :], selection.outer_reference)
        else:
            selection.root_reference.SetInParent()


def _write_query(between: Sequence[int], target: Any) -> None:
    """Which query around an expression is meant, by those from there to the expression."""
    if between[0]:
        target.rel_reference = between[0]
    else:
        target.steps_out = sum(not anchor for anchor in between)


@lru_cache(maxsize=65536)
def _column(ordinal: int) -> bytes:
    """The message of a reference to a column, serialised."""
    selection = Message.FieldReference()
    selection.direct_reference.struct_field.field = ordinal
    selection.root_reference.SetInParent()
    return selection.SerializeToString()


def _write_path(path: Sequence[tuple[str, Any]], above: Any) -> None:
    """The segments of a path, each the child of the one before."""
    for segment in path:
        above = _write_segment(segment, above.child)


def _write_segment(segment: tuple[str, Any], target: Any) -> Any:
    kind, where = segment
    if kind == "field":
        target.struct_field.field = where
        return target.struct_field
    if kind == "element":
        target.list_element.offset = where
        return target.list_element
    write_literal(where.value, where.type, target.map_key.map_key)
    return target.map_key


class Part(Expression):
    """A path into a value that is no column; segments as in `FieldReference`."""

    NAME = "SELECTION"

    __slots__ = ("path", "root")

    def __init__(self, root: Expression, path: tuple[tuple[str, Any], ...], type: Type) -> None:
        self.root = root
        self.path = path
        self.type = type
        self.height = 2 + max(self._take((root,)), 2 * len(path))

    def step(self, segment: tuple[str, Any], type: Type) -> Part:
        """The value one segment further in."""
        return Part(self.root, (*self.path, segment), type)

    def children(self) -> tuple[Expression, ...]:
        return (self.root,)

    def _over(self, children: Sequence[Expression]) -> Expression:
        return Part(children[0], self.path, self.type)

    def write(self, target: Message, anchors: Anchors) -> None:
        selection = target.selection
        first, *rest = self.path
        _write_path(rest, _write_segment(first, selection.direct_reference))
        self.root.write(selection.expression, anchors)


def holds_zero_character(value: Any) -> bool:
    """Whether a literal's value is text with a zero character, or has such text in it."""
    if isinstance(value, str):
        return "\0" in value
    return isinstance(value, list | tuple) and any(map(holds_zero_character, value))


class Literal(Expression):
    """A value in Catalyst's internal form: days, microseconds, unscaled decimals; None is a typed null."""

    NAME = "LITERAL"

    __slots__ = ("value",)

    def __init__(self, value: Any, type: Type) -> None:
        self.value = value
        self.type = types.nullable(type) if value is None else type
        self.height = 2 + (type.height if value is None else _levels(type))
        self.raises = False
        self.size = 1
        self.features = self.FEATURES
        if type.kind == "precision_timestamp_tz":
            self.features |= feature.INSTANT
        elif holds_zero_character(value):
            self.features |= feature.ZERO_CHARACTER

    def write(self, target: Message, anchors: Anchors) -> None:
        write_literal(self.value, self.type, target.literal)


CONTEXT_VARIABLES = {
    "current_timestamp": types.of("precision_timestamp_tz", 6, nullable=False),
    "current_date": types.of("date", nullable=False),
    "current_timezone": types.of("string", nullable=False),
}
"""What the specification names of the context that a plan runs in, and its types; of timestamps, Spark's microseconds."""


class ContextVariable(Expression):
    """What is known only where the plan runs, once for all of it."""

    NAME = "EXECUTION_CONTEXT_VARIABLE"

    __slots__ = ("name",)

    def __init__(self, name: str, type: Type | None = None) -> None:
        self.name = name
        self.type = type or CONTEXT_VARIABLES[name]
        self._take(())
        self.height = 3

    def variant(self) -> tuple[str, str]:
        return "variable_types", self.name.upper()

    def write(self, target: Message, anchors: Anchors) -> None:
        variable = getattr(target.execution_context_variable, self.name)
        variable.nullability = TypeMessage.NULLABILITY_REQUIRED
        if self.name == "current_timestamp":
            (variable.precision,) = self.type.parameters


class DynamicParameter(Expression):
    """A value that is given where the plan runs, by the number that it has in the plan."""

    NAME = "DYNAMIC_PARAMETER"
    PLURAL = "parameters"

    __slots__ = ("reference",)

    def __init__(self, reference: int, type: Type) -> None:
        self.reference = reference
        self.type = type
        self._take(())
        self.height = 2 + type.height

    def write(self, target: Message, anchors: Anchors) -> None:
        target.dynamic_parameter.parameter_reference = self.reference
        types.write(self.type, target.dynamic_parameter.type)


class StandIn(Literal):
    """Takes the place of what has no form, so that the rest of the plan is still looked at; it gets into no plan."""

    FEATURES = feature.STAND_IN

    __slots__ = ()

    def __init__(self, type: Type) -> None:
        super().__init__(None, type)


class ScalarFunction(Expression):
    """A call of a scalar function; arguments are expressions or names of enum values.

    `raising` says that the engine's function raises for some arguments, which options may say too; `raises_itself`,
    that one of both does. `drawn_as` is the same in all calls of a function that isn't deterministic which are one in the query.
    """

    NAME = "SCALAR_FUNCTION"

    __slots__ = ("_operands", "arguments", "declaration", "drawn_as", "options", "raises_itself", "raising")

    def __init__(
        self,
        declaration: Declaration,
        arguments: tuple[Expression | str, ...],
        options: tuple[tuple[str, str], ...] = (),
        raising: bool = False,
        drawn_as: object = None,
    ) -> None:
        self.declaration = declaration
        self.arguments = arguments
        self.options = options
        self.raising = raising
        self.drawn_as = drawn_as
        self.type = declaration.result
        self._operands = operands_of(arguments)
        self.height = max(3 + self._take(self._operands), 2 + self.type.height)
        self.raises_itself = raising or _checked(declaration, options)
        if self.raises_itself:
            self.raises = True
            self.features |= feature.MAY_RAISE
        if not declaration.deterministic:
            self.features |= feature.NOT_DETERMINISTIC

    def children(self) -> tuple[Expression, ...]:
        return self._operands

    def _over(self, children: Sequence[Expression]) -> Expression:
        arguments = put_back(self.arguments, children)
        return ScalarFunction(self.declaration, arguments, self.options, self.raising, self.drawn_as)

    def write(self, target: Message, anchors: Anchors) -> None:
        function = target.scalar_function
        function.function_reference = anchors.function(self.declaration)
        types.write(self.type, function.output_type)
        write_arguments(self.arguments, function.arguments, anchors)
        write_options(self.options, function.options)


class Cast(Expression):
    """A cast that throws on failure, or returns null.

    `checks` says that it may fail although the type of its input seems to fit: engines compute in wider types than
    a call declares.
    """

    NAME = "CAST"

    __slots__ = ("checks", "input", "throws")

    def __init__(self, input: Expression, type: Type, throws: bool, checks: bool = False) -> None:
        self.input = input
        self.type = type
        self.throws = throws
        self.checks = checks
        self.height = 2 + max(self._take((input,)), type.height)
        if throws and (checks or not types.always_casts(input.type, type)):
            self.raises = True
            self.features |= feature.MAY_RAISE

    def children(self) -> tuple[Expression, ...]:
        return (self.input,)

    def _over(self, children: Sequence[Expression]) -> Expression:
        return Cast(children[0], self.type, self.throws, self.checks)

    def variant(self) -> tuple[str, str]:
        return "failure_options", "THROW_EXCEPTION" if self.throws else "RETURN_NULL"

    def write(self, target: Message, anchors: Anchors) -> None:
        cast = target.cast
        types.write(self.type, cast.type)
        cast.failure_behavior = (
            Message.Cast.FAILURE_BEHAVIOR_THROW_EXCEPTION if self.throws else Message.Cast.FAILURE_BEHAVIOR_RETURN_NULL
        )
        self.input.write(cast.input, anchors)


class IfThen(Expression):
    """Conditions with their values, evaluated lazily and in order, and the value where none holds."""

    NAME = "IF_THEN"

    __slots__ = ("_parts", "clauses", "otherwise")

    def __init__(self, clauses: tuple[tuple[Expression, Expression], ...], otherwise: Expression) -> None:
        self.clauses = clauses
        self.otherwise = otherwise
        self.type = otherwise.type
        self._parts = (*[part for clause in clauses for part in clause], otherwise)
        self._take(self._parts)
        inner = max([part.height for part in self._parts[:-1]])
        self.height = max(3 + inner, 2 + otherwise.height)

    def children(self) -> tuple[Expression, ...]:
        return self._parts

    def _over(self, children: Sequence[Expression]) -> Expression:
        pairs = tuple(zip(children[:-1:2], children[1:-1:2], strict=True))
        return IfThen(pairs, children[-1])

    def write(self, target: Message, anchors: Anchors) -> None:
        if_then = target.if_then
        for condition, value in self.clauses:
            clause = if_then.ifs.add()
            condition.write(getattr(clause, "if"), anchors)
            value.write(clause.then, anchors)
        self.otherwise.write(getattr(if_then, "else"), anchors)


class Shared(Expression):
    """A value that is used in several places: `algebra/sharing.py` computes it once, where it can, in a project below."""

    FEATURES = feature.SHARED

    __slots__ = ("value",)

    def __init__(self, value: Expression) -> None:
        self.value = value
        self.type = value.type
        self.height = self._take((value,))

    def children(self) -> tuple[Expression, ...]:
        return (self.value,)

    def _over(self, children: Sequence[Expression]) -> Expression:
        return Shared(children[0])

    def write(self, target: Message, anchors: Anchors) -> None:
        self.value.write(target, anchors)


class SingularOrList(Expression):
    """Whether a value equals one of several; null where it equals none and a null was among them."""

    NAME = "SINGULAR_OR_LIST"

    __slots__ = ("options", "value")

    def __init__(self, value: Expression, options: tuple[Expression, ...]) -> None:
        self.value = value
        self.options = options
        maybe_null = value.type.nullable or any(option.type.nullable for option in options)
        self.type = types.of("boolean", nullable=maybe_null)
        self.height = 2 + self._take((value, *options))

    def children(self) -> tuple[Expression, ...]:
        return (self.value, *self.options)

    def _over(self, children: Sequence[Expression]) -> Expression:
        return SingularOrList(children[0], tuple(children[1:]))

    def write(self, target: Message, anchors: Anchors) -> None:
        self.value.write(target.singular_or_list.value, anchors)
        for option in self.options:
            option.write(target.singular_or_list.options.add(), anchors)


class Nested(Expression):
    """A struct, list or map built from expressions; a map's are its keys and values in turn."""

    NAME = "NESTED"

    __slots__ = ("parts",)

    def __init__(self, type: Type, parts: tuple[Expression, ...]) -> None:
        self.type = types.required(type)
        self.parts = parts
        self.height = (4 if type.kind == "map" else 3) + self._take(parts)

    def children(self) -> tuple[Expression, ...]:
        return self.parts

    def _over(self, children: Sequence[Expression]) -> Expression:
        return Nested(self.type, tuple(children))

    def variant(self) -> tuple[str, str]:
        return "nested_types", self.type.kind.upper()

    def write(self, target: Message, anchors: Anchors) -> None:
        nested = target.nested
        nested.nullable = False
        if self.type.kind == "struct":
            nested.struct.SetInParent()
            for part in self.parts:
                part.write(nested.struct.fields.add(), anchors)
        elif self.type.kind == "list":
            nested.list.SetInParent()
            for part in self.parts:
                part.write(nested.list.values.add(), anchors)
        else:
            nested.map.SetInParent()
            for key, value in zip(self.parts[::2], self.parts[1::2], strict=True):
                pair = nested.map.key_values.add()
                key.write(pair.key, anchors)
                value.write(pair.value, anchors)


class Subquery(Expression):
    """An expression over a relation that stands in it."""

    NAME = "SUBQUERY"
    FEATURES = feature.SUBQUERY

    __slots__ = ("relation",)
    relation: Relation

    def with_relation(self, relation: Relation) -> Subquery:
        """The same over another relation of the same types."""
        raise NotImplementedError

    def _write_relation(self, target: Any, anchors: Anchors) -> None:
        anchors.enclosing.append(0)
        self.relation.write(target, anchors)
        anchors.enclosing.pop()


class ScalarSubquery(Subquery):
    """The one value of a relation of one column; null where it has no row."""

    PLURAL = "scalar subqueries"

    __slots__ = ()

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.type = types.nullable(relation.types[0])
        self._take(())  # it doesn't raise for some row: it is evaluated once, whatever the rows
        self.height = 3 + relation.height

    def with_relation(self, relation: Relation) -> ScalarSubquery:
        return ScalarSubquery(relation)

    def variant(self) -> tuple[str, str]:
        return "subquery_types", "SCALAR"

    def write(self, target: Message, anchors: Anchors) -> None:
        self._write_relation(target.subquery.scalar.input, anchors)


class InSubquery(Subquery):
    """Whether a tuple of values is among the rows of a relation, with SQL's three-valued logic."""

    __slots__ = ("needles",)

    def __init__(self, needles: tuple[Expression, ...], relation: Relation) -> None:
        self.needles = needles
        self.relation = relation
        self.type = types.of("boolean", nullable=True)
        self.height = 3 + max(relation.height, self._take(needles))

    def children(self) -> tuple[Expression, ...]:
        return self.needles

    def _over(self, children: Sequence[Expression]) -> Expression:
        return InSubquery(tuple(children), self.relation)

    def with_relation(self, relation: Relation) -> InSubquery:
        return InSubquery(self.needles, relation)

    def variant(self) -> tuple[str, str]:
        return "subquery_types", "IN_PREDICATE"

    def write(self, target: Message, anchors: Anchors) -> None:
        predicate = target.subquery.in_predicate
        for needle in self.needles:
            needle.write(predicate.needles.add(), anchors)
        self._write_relation(predicate.haystack, anchors)


class Exists(Subquery):
    """Whether a relation has a row."""

    __slots__ = ()

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.type = types.BOOLEAN
        self._take(())
        self.height = 3 + relation.height

    def with_relation(self, relation: Relation) -> Exists:
        return Exists(relation)

    def variant(self) -> tuple[str, str]:
        return "subquery_types", "SET_PREDICATE"

    def write(self, target: Message, anchors: Anchors) -> None:
        predicate = target.subquery.set_predicate
        predicate.predicate_op = Message.Subquery.SetPredicate.PREDICATE_OP_EXISTS
        self._write_relation(predicate.tuples, anchors)


class Lambda(Expression):
    """An anonymous function; its body refers to its parameters by position."""

    NAME = "LAMBDA"
    FEATURES = feature.LAMBDA

    __slots__ = ("body", "parameters")

    def __init__(self, parameters: tuple[Type, ...], body: Expression) -> None:
        self.parameters = parameters
        self.body = body
        self.type = types.of("func", *parameters, body.type, nullable=False)
        self.height = max(2 + self._take((body,)), 3 + max((p.height for p in parameters), default=0))

    def children(self) -> tuple[Expression, ...]:
        return (self.body,)

    def _over(self, children: Sequence[Expression]) -> Expression:
        return Lambda(self.parameters, children[0])

    def write(self, target: Message, anchors: Anchors) -> None:
        function = getattr(target, "lambda")
        types.write_struct(self.parameters, function.parameters)
        self.body.write(function.body, anchors)


DIRECTIONS: Mapping[tuple[bool, bool], Any] = {
    (True, True): SortMessage.SORT_DIRECTION_ASC_NULLS_FIRST,
    (True, False): SortMessage.SORT_DIRECTION_ASC_NULLS_LAST,
    (False, True): SortMessage.SORT_DIRECTION_DESC_NULLS_FIRST,
    (False, False): SortMessage.SORT_DIRECTION_DESC_NULLS_LAST,
}
"""Whether values ascend, and whether nulls come first."""


class SortField:
    """An expression to sort by, its direction and where nulls go."""

    __slots__ = ("ascending", "expression", "nulls_first")

    def __init__(self, expression: Expression, ascending: bool, nulls_first: bool) -> None:
        self.expression = expression
        self.ascending = ascending
        self.nulls_first = nulls_first

    def by(self, expression: Expression) -> SortField:
        """The same order of another expression."""
        return SortField(expression, self.ascending, self.nulls_first)

    def write(self, target: SortMessage, anchors: Anchors) -> None:
        target.direction = DIRECTIONS[self.ascending, self.nulls_first]
        self.expression.write(target.expr, anchors)


class AggregateFunction(Traced):
    """A call of an aggregate function over the rows of a group."""

    __slots__ = ("arguments", "declaration", "distinct", "filter", "options", "sorts")

    def __init__(
        self,
        declaration: Declaration,
        arguments: tuple[Expression | str, ...],
        options: tuple[tuple[str, str], ...] = (),
        distinct: bool = False,
        sorts: tuple[SortField, ...] = (),
        filter: Expression | None = None,
    ) -> None:
        self.declaration = declaration
        self.arguments = arguments
        self.options = options
        self.distinct = distinct
        self.sorts = sorts
        self.filter = filter

    @property
    def type(self) -> Type:
        return self.declaration.result

    @property
    def height(self) -> int:
        parts = [a.height for a in self.arguments if isinstance(a, Expression)]
        parts += [sort.expression.height for sort in self.sorts]
        parts += [self.filter.height] if self.filter is not None else []
        parts.append(self.type.height)
        return 2 + max(parts, default=1)

    def expressions(self) -> tuple[Expression, ...]:
        """Every expression in the call, in a fixed order."""
        operands = operands_of(self.arguments)
        if self.sorts:
            operands = (*operands, *[sort.expression for sort in self.sorts])
        return operands if self.filter is None else (*operands, self.filter)

    def with_expressions(self, expressions: Sequence[Expression]) -> AggregateFunction:
        """A copy over other expressions, in the order of `expressions()`."""
        count = sum(isinstance(a, Expression) for a in self.arguments)
        arguments = put_back(self.arguments, expressions[:count])
        sorts = tuple([sort.by(e) for sort, e in zip(self.sorts, expressions[count:], strict=False)])
        filter = None if self.filter is None else expressions[-1]
        copy = AggregateFunction(self.declaration, arguments, self.options, self.distinct, sorts, filter)
        copy.came_from(self.origin)
        return copy

    def filtered(self, filter: Expression) -> AggregateFunction:
        """A copy with another filter."""
        return AggregateFunction(self.declaration, self.arguments, self.options, self.distinct, self.sorts, filter)

    def write(self, target: AggregateMessage, anchors: Anchors) -> None:
        target.function_reference = anchors.function(self.declaration)
        types.write(self.type, target.output_type)
        target.phase = PHASE
        target.invocation = invocation(self.distinct)
        write_arguments(self.arguments, target.arguments, anchors)
        write_options(self.options, target.options)
        for sort in self.sorts:
            sort.write(target.sorts.add(), anchors)


class Bound:
    """An end of a window frame: `unbounded`, `current`, `preceding` or `following`, the last two by an offset."""

    __slots__ = ("kind", "offset")

    def __init__(self, kind: str, offset: Expression | None = None) -> None:
        self.kind = kind
        self.offset = offset

    @property
    def is_number(self) -> bool:
        """Whether the offset, where there is one, is a whole number, which readers from before `offset_expr` read."""
        return self.offset is None or (isinstance(self.offset, Literal) and self.offset.type.kind in types.INTEGERS)

    def write(self, target: Any, anchors: Anchors) -> None:
        if self.kind == "unbounded":
            target.unbounded.SetInParent()
        elif self.kind == "current":
            target.current_row.SetInParent()
        else:
            bound = getattr(target, self.kind)
            if isinstance(self.offset, Literal) and self.is_number:
                # Readers from before `offset_expr` take a bound without this field for 0.
                bound.offset = self.offset.value
            if self.offset is not None:
                self.offset.write(bound.offset_expr, anchors)


class WindowCall(Traced):
    """A window function with its frame; partition and order are its relation's, or its expression's."""

    __slots__ = ("arguments", "declaration", "lower", "options", "rows", "upper")

    def __init__(
        self,
        declaration: Declaration,
        arguments: tuple[Expression | str, ...],
        rows: bool,
        lower: Bound,
        upper: Bound,
        options: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.declaration = declaration
        self.arguments = arguments
        self.rows = rows
        self.lower = lower
        self.upper = upper
        self.options = options

    @property
    def type(self) -> Type:
        return self.declaration.result

    @property
    def height(self) -> int:
        inner = max((a.height for a in self.arguments if isinstance(a, Expression)), default=2)
        return max(3 + inner, 2 + self.type.height)

    def expressions(self) -> tuple[Expression, ...]:
        return operands_of(self.arguments)

    def with_expressions(self, expressions: Sequence[Expression]) -> WindowCall:
        arguments = put_back(self.arguments, expressions)
        copy = WindowCall(self.declaration, arguments, self.rows, self.lower, self.upper, self.options)
        copy.came_from(self.origin)
        return copy

    def write(self, target: Any, anchors: Anchors) -> None:
        """Fill a window function message, of an expression or of a window relation alike."""
        target.function_reference = anchors.function(self.declaration)
        types.write(self.type, target.output_type)
        target.phase = PHASE
        target.invocation = invocation(False)
        frame = "ROWS" if self.rows else "RANGE"
        target.bounds_type = Message.WindowFunction.BoundsType.Value(f"BOUNDS_TYPE_{frame}")
        self.lower.write(target.lower_bound, anchors)
        self.upper.write(target.upper_bound, anchors)
        write_arguments(self.arguments, target.arguments, anchors)
        write_options(self.options, target.options)


class WindowFunction(Expression):
    """A window function as an expression, for consumers that have no window relation."""

    NAME = "WINDOW_FUNCTION"
    FEATURES = feature.WINDOW_FUNCTION
    __slots__ = ("call", "partition", "sorts")

    def __init__(
        self,
        call: WindowCall,
        partition: tuple[Expression, ...],
        sorts: tuple[SortField, ...],
    ) -> None:
        self.call = call
        self.partition = partition
        self.sorts = sorts
        self.type = call.type
        self._take(self.children())
        self.raises = any(part.raises for part in call.expressions())
        inner = [3 + part.height for part in partition]
        inner += [3 + sort.expression.height for sort in sorts]
        self.height = max(call.height, *inner) if inner else call.height

    def children(self) -> tuple[Expression, ...]:
        return (*self.call.expressions(), *self.partition, *(sort.expression for sort in self.sorts))

    def _over(self, children: Sequence[Expression]) -> Expression:
        count, keys = len(self.call.expressions()), len(self.partition)
        sorts = tuple([sort.by(e) for sort, e in zip(self.sorts, children[count + keys :], strict=True)])
        call = self.call.with_expressions(children[:count])
        return WindowFunction(call, tuple(children[count : count + keys]), sorts)

    def write(self, target: Message, anchors: Anchors) -> None:
        function = target.window_function
        self.call.write(function, anchors)
        for expression in self.partition:
            expression.write(function.partitions.add(), anchors)
        for sort in self.sorts:
            sort.write(function.sorts.add(), anchors)


PHASE: Any = 3
"""AggregationPhase.INITIAL_TO_RESULT: the unspecified phase would mean intermediate to result."""


def _checked(declaration: Declaration, options: Sequence[tuple[str, str]]) -> bool:
    """Whether a function is one that raises. A decimal result of fewer than 38 digits holds every value."""
    if not options or "ERROR" not in [value for _, value in options]:
        return False
    result = declaration.result
    return not (result.kind == "decimal" and result.parameters[0] < 38)


def invocation(distinct: bool) -> Any:
    return AggregateMessage.AGGREGATION_INVOCATION_DISTINCT if distinct else AggregateMessage.AGGREGATION_INVOCATION_ALL


def operands_of(arguments: Sequence[Expression | str]) -> tuple[Expression, ...]:
    """The expressions among arguments."""
    return tuple([argument for argument in arguments if not isinstance(argument, str)])


def put_back(
    arguments: tuple[Expression | str, ...], expressions: Sequence[Expression]
) -> tuple[Expression | str, ...]:
    """Arguments with other expressions in the place of theirs, names as they are."""
    replacements = iter(expressions)
    return tuple([a if isinstance(a, str) else next(replacements) for a in arguments])


def write_arguments(arguments: Sequence[Expression | str], target: Any, anchors: Anchors) -> None:
    for argument in arguments:
        if isinstance(argument, str):
            target.add().enum = argument
        else:
            argument.write(target.add().value, anchors)


def write_options(options: Sequence[tuple[str, str]], target: Any) -> None:
    for name, preference in options:
        option = target.add()
        option.name = name
        option.preference.append(preference)


# ---- literals


def _levels(type: Type) -> int:
    """How many messages a literal of a type nests below its own."""
    inner = [_levels(part) for part in types.parts(type)]
    return (3 if type.kind == "map" else 2) + max(inner) if inner else 2


def write_literal(value: Any, type: Type, target: Message.Literal) -> None:
    """Fill a literal message with a value in Catalyst's internal form."""
    if value is None:
        types.write(types.nullable(type), target.null)
        return
    target.nullable = type.nullable
    _LITERALS[type.kind](value, type, target)


def _plain(field: str) -> Callable[[Any, Type, Message.Literal], None]:
    def write(value: Any, type: Type, target: Message.Literal) -> None:
        setattr(target, field, value)

    return write


def _decimal(value: Any, type: Type, target: Message.Literal) -> None:
    target.decimal.value = int(value).to_bytes(16, "little", signed=True)
    target.decimal.precision, target.decimal.scale = type.parameters


def _precision(field: str) -> Callable[[Any, Type, Message.Literal], None]:
    def write(value: Any, type: Type, target: Message.Literal) -> None:
        literal = getattr(target, field)
        literal.precision = type.parameters[0]
        literal.value = value

    return write


def _interval_year(value: int, type: Type, target: Message.Literal) -> None:
    _write_months(value, target.interval_year_to_month)


def _write_months(value: int, target: Message.Literal.IntervalYearToMonth) -> None:
    sign = -1 if value < 0 else 1
    years, months = divmod(abs(value), 12)
    target.years = sign * years
    target.months = sign * months


def _interval_day(value: int, type: Type, target: Message.Literal) -> None:
    sign = -1 if value < 0 else 1
    seconds, micros = divmod(abs(value), 1_000_000)
    days, seconds = divmod(seconds, 86_400)
    interval = target.interval_day_to_second
    interval.days = sign * days
    interval.seconds = sign * seconds
    interval.precision = type.parameters[0]
    interval.subseconds = sign * (micros // 10 ** (6 - interval.precision))


def _interval_compound(value: tuple[int, int, int], type: Type, target: Message.Literal) -> None:
    """Months, days and microseconds; days of 24 hours are no days here."""
    months, days, micros = value
    _write_months(months, target.interval_compound.interval_year_to_month)
    sign = -1 if micros < 0 else 1
    seconds, micros = divmod(abs(micros), 1_000_000)
    interval = target.interval_compound.interval_day_to_second
    interval.days = days
    interval.seconds = sign * seconds
    interval.precision = type.parameters[0]
    interval.subseconds = sign * (micros // 10 ** (6 - interval.precision))


def _varchar(value: str, type: Type, target: Message.Literal) -> None:
    target.var_char.value = value
    target.var_char.length = type.parameters[0]


def _list(value: Any, type: Type, target: Message.Literal) -> None:
    if not value:
        target.empty_list.CopyFrom(types.message(types.required(type)).list)
        return
    for element in value:
        write_literal(element, type.parameters[0], target.list.values.add())


def _map(value: Any, type: Type, target: Message.Literal) -> None:
    keys, values = value
    if not keys:
        target.empty_map.CopyFrom(types.message(types.required(type)).map)
        return
    for key, entry in zip(keys, values, strict=True):
        pair = target.map.key_values.add()
        write_literal(key, type.parameters[0], pair.key)
        write_literal(entry, type.parameters[1], pair.value)


def _struct(value: Any, type: Type, target: Message.Literal) -> None:
    target.struct.SetInParent()
    for field, field_type in zip(value, type.parameters, strict=True):
        write_literal(field, field_type, target.struct.fields.add())


_LITERALS: dict[str, Callable[[Any, Type, Message.Literal], None]] = {
    "boolean": _plain("boolean"),
    "i8": _plain("i8"),
    "i16": _plain("i16"),
    "i32": _plain("i32"),
    "i64": _plain("i64"),
    "fp32": _plain("fp32"),
    "fp64": _plain("fp64"),
    "string": _plain("string"),
    "binary": _plain("binary"),
    "uuid": _plain("uuid"),
    "fixedchar": _plain("fixed_char"),
    "fixedbinary": _plain("fixed_binary"),
    "varchar": _varchar,
    "date": _plain("date"),
    "decimal": _decimal,
    "precision_time": _precision("precision_time"),
    "precision_timestamp": _precision("precision_timestamp"),
    "precision_timestamp_tz": _precision("precision_timestamp_tz"),
    "interval_year": _interval_year,
    "interval_day": _interval_day,
    "interval_compound": _interval_compound,
    "list": _list,
    "map": _map,
    "struct": _struct,
}
