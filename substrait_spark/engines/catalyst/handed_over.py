"""Hands over to Catalyst what an engine has no form for: expressions as the canonical plan has them, with columns for arguments, and aggregates."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import types
from ...algebra.aggregate_form import AggregateForm
from ...algebra.expression import (
    AggregateFunction,
    ContextVariable,
    DynamicParameter,
    Expression,
    FieldReference,
    Literal,
    ScalarFunction,
    Subquery,
    put_back,
)
from ...algebra.feature import NOT_DETERMINISTIC, STAND_IN, WINDOW_FUNCTION
from ...algebra.relation import Aggregate, NamedTable, Project, Relation
from ...algebra.traversal import columns, rewritten, subexpressions
from ...algebra.types import Type
from ...dialects.rewrite import Rewrite, Sees
from ...errors import NotInDialect
from ...extensions import registry
from ...lowering.aggregate import Group, LoweredCall, form_of
from ...lowering.builder import LoweringBuilder
from ...lowering.expression import ExpressionLowering
from ...lowering.text_length import without_length
from ...plan.message import build
from ..spark.functions import RULES

TABLE = "arguments"

SAME_IN_ARROW = frozenset(
    "boolean i8 i16 i32 i64 fp32 fp64 string varchar fixedchar binary date decimal precision_timestamp precision_timestamp_tz "
    "list map struct".split()
)
"""The kinds of types whose values Spark and other engines have in Arrow in one form. Of those that an engine has as numbers
(`Conversion`), Catalyst's internal form is these numbers."""

NOT_ALONE = NOT_DETERMINISTIC | STAND_IN | WINDOW_FUNCTION
"""The features of expressions that Catalyst can't evaluate by themselves, row by row."""

ONCE = (ContextVariable, DynamicParameter, Subquery)
"""What has one value for the query, or is a query of its own: the engine has it, and Catalyst gets its value."""


def expression(lowering: ExpressionLowering, original: Expression) -> Expression | None:
    """A call that has Catalyst evaluate an expression; None for what it can't evaluate by itself, or what can't get there and back."""
    result = _result(lowering, original.type)
    if _is_argument(original) or original.features & NOT_ALONE or result is None or not _is_of_spark([original]):
        return None
    arguments = Arguments(lowering)
    over_arguments = rewritten(original, arguments.in_place_of)
    rows = Project(_table(arguments.types), [over_arguments])
    plan = _literal(columns(rows, [FieldReference(len(arguments.types), original.type)]))
    return _call("catalyst_evaluate", result, plan, *arguments.values)


def aggregate(lowering: ExpressionLowering, measure: AggregateFunction, group: Group) -> AggregateForm | None:
    """Lists of what each group has, and a call that has Catalyst aggregate these; None for what it can't, or what can't get there and back."""
    result = _result(lowering, measure.type)
    inputs = [each for each in measure.arguments if isinstance(each, Expression)]
    if measure.declaration.function not in RULES or result is None or not _is_of_spark(inputs):
        return None
    if any(each.features & NOT_ALONE for each in inputs):
        return None
    arguments = Arguments(lowering)
    over_arguments = put_back(measure.arguments, [rewritten(each, arguments.in_place_of) for each in inputs])
    call = AggregateFunction(measure.declaration, over_arguments, measure.options, measure.distinct)
    if not arguments.values:
        return None
    group_of_row = FieldReference(len(arguments.types), types.I64)
    grouped = Aggregate(_table([*arguments.types, types.I64]), [group_of_row], [call])
    plans = [_literal(grouped), _literal(Aggregate(_table(arguments.types), [], [call]))]
    lists = [_listed(lowering, measure, value, group) for value in arguments.values]

    def aggregated(above: LoweringBuilder, columns: Sequence[Expression]) -> Expression:
        rest = iter(columns)
        given = [form.result(above, [next(rest) for _ in form.calls]) for form in lists]
        return _call("catalyst_aggregate", result, *plans, *given)

    return AggregateForm(tuple([each for form in lists for each in form.calls]), aggregated)


def _listed(lowering: ExpressionLowering, measure: AggregateFunction, value: Expression, group: Group) -> AggregateForm:
    """The list of a value, nulls too, of each row that an aggregate function takes."""
    listing = registry.resolve("aggregate", "spark", "collect_list_respect_nulls", (value.type,))
    if listing is None:
        raise NotInDialect(f"there are no lists of {value.type}")
    sorts = tuple([lowering.sort(each) for each in measure.sorts])
    filter = None if measure.filter is None else lowering.lower(measure.filter)
    return form_of(
        LoweredCall(lowering.e, AggregateFunction(listing, (value,), sorts=sorts, filter=filter), group=group)
    )


def _result(lowering: ExpressionLowering, type: Type) -> Type | None:
    """The type in which an engine has a value that it gets from Catalyst; None where it gets none of that type."""
    conversion = lowering.e.rewrites.conversions.get(type.kind)
    if conversion is not None:
        return types.with_nullable(conversion.becomes, type.nullable)
    plain = without_length(lowering.e.dialect, type)
    return plain if _is_same_in_arrow(plain) else None


def _is_of_spark(expressions: Sequence[Expression]) -> bool:
    """Whether expressions call functions of Spark's alone."""
    parts = [part for each in expressions for part in subexpressions(each)]
    calls = [part for part in parts if isinstance(part, ScalarFunction)]
    return all(call.declaration.function in RULES for call in calls)


def _is_same_in_arrow(type: Type) -> bool:
    return type.kinds <= SAME_IN_ARROW


def _is_argument(part: Expression) -> bool:
    """Whether the engine has a part's value, and Catalyst gets that."""
    return (isinstance(part, FieldReference) and part.parameter is None) or isinstance(part, ONCE)


class Arguments:
    """The arguments of a call: what the expression is over, each once, in the engine's forms."""

    def __init__(self, lowering: ExpressionLowering) -> None:
        self._lowering = lowering
        self._known: dict[object, FieldReference] = {}
        self.types: list[Type] = []
        """As the canonical plan has them."""
        self.values: list[Expression] = []

    def in_place_of(self, part: Expression) -> Expression | None:
        """The column of the arguments that has the value of a part; None for a part that Catalyst evaluates."""
        if not _is_argument(part):
            return None
        key = (part.outer, part.ordinal, part.path) if isinstance(part, FieldReference) else part
        if key not in self._known:
            value = self._lowering.lower(part)
            if not (_is_same_in_arrow(part.type) or self._lowering.is_converted(part.type, value.type)):
                raise NotInDialect(f"values of type {part.type} don't get to Catalyst")
            self._known[key] = FieldReference(len(self.values), part.type)
            self.types.append(part.type)
            self.values.append(value)
        return self._known[key]


def _call(name: str, result: Type, *arguments: Expression) -> ScalarFunction:
    """A call of a function of Catalyst's, of a result that is as nullable as it is said to be."""
    declaration = registry.resolve("scalar", "catalyst", name, tuple([each.type for each in arguments]))
    if declaration is None:
        raise NotInDialect(f"{name} takes no such arguments")
    return ScalarFunction(registry.stated(declaration, result), arguments, raising=True)


def _table(kinds: Sequence[Type]) -> NamedTable:
    return NamedTable([TABLE], types.numbered(kinds), kinds)


def _literal(root: Relation) -> Literal:
    """A canonical plan as a value."""
    return Literal(build(root, types.numbered(root.types)).SerializeToString(deterministic=True), types.of("binary"))


REWRITES = [
    Rewrite(Expression, expression, sees=Sees.REFUSED),
    Rewrite(AggregateFunction, aggregate, sees=Sees.REFUSED),
]
