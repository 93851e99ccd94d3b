"""Building in the forms of a dialect: what it lacks is refused, so that another form may be tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ..algebra import types
from ..algebra.builder import CallBuilder, Options, given
from ..algebra.expression import (
    AggregateFunction,
    Cast,
    Expression,
    ScalarFunction,
    SingularOrList,
    SortField,
    WindowCall,
    WindowFunction,
)
from ..algebra.frame import Frame
from ..algebra.relation import Aggregate, Fetch, Filter, Join, Project, Relation, Set, Sort, VirtualTable, Window
from ..algebra.types import Type
from ..errors import NotInDialect
from ..extensions import registry
from . import calls
from .check import require_expression
from .lacking import without_other_form

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..dialects.dialect import Dialect
    from .expression import ExpressionLowering
    from .lowering import Lowering

Form = TypeVar("Form")


class LoweringBuilder(CallBuilder):
    """Builds the expressions of one relation, and relations over it.

    Whatever it builds is final: rules find their arguments lowered, and no rule is applied to what they make.
    """

    COLUMNS_OF_COUNTS = False
    """Whether columns hold the counts of intervals in the intervals' place, and `interval` gives the result intervals."""

    def __init__(self, lowering: Lowering, inputs: Sequence[Relation] = ()) -> None:
        super().__init__(lowering.traits)
        self.lowering = lowering
        self.dialect: Dialect = lowering.dialect
        self.inputs = inputs
        """The lowered inputs of the relation, where it is known."""

    @cached_property
    def columns(self) -> Sequence[Type]:
        """The types of the inputs' columns."""
        return [kind for input in self.inputs for kind in input.types]

    def over(self, *inputs: Relation) -> Self:
        """A builder over the columns of other relations."""
        return type(self)(self.lowering, inputs)

    def resolve(self, kind: str, function: str, arguments: Sequence[Expression | str]) -> registry.Declaration:
        """The declaration of a function, `alias:name`; aliases may be those that the dialect has for its dependencies."""
        if self.dialect.aliases:
            alias, _, name = function.rpartition(":")
            function = f"{self.dialect.aliases.get(alias, alias)}:{name}"
        return super().resolve(kind, function, arguments)

    def has_defect(self, name: str) -> bool:
        """Whether the engine gets something wrong that a guard is for."""
        return name in self.dialect.defects

    # ---- choosing

    def first(self, *forms: Callable[[], Form]) -> Form:
        """The first form that the dialect has."""
        refused: NotInDialect | None = None
        for form in forms:
            try:
                return form()
            except NotInDialect as problem:
                refused = problem  # the last form is the one that came nearest
        raise refused or NotInDialect("there is no form for it")

    def instead(self, call: ScalarFunction, *forms: Callable[[], Expression]) -> Expression:
        """The first form that the dialect has, in the place of a call that it lacks."""
        refused: list[NotInDialect] = []
        for form in forms:
            try:
                return form()
            except NotInDialect as problem:
                refused.append(problem)
        raise without_other_form(self.dialect, self.lacks(call), refused)

    def has(self, form: Callable[[], Any]) -> bool:
        """Whether the dialect has everything that a form needs."""
        try:
            form()
        except NotInDialect:
            return False
        return True

    # ---- calls

    def call(self, function: str, *arguments: Expression | str, **options: str | None) -> Expression:
        """A call by `alias:name`; of a function that the dialect lacks, the general form if there is one."""
        try:
            return self.listed(function, *arguments, **options)
        except NotInDialect:
            if function in self.lowering.rules.calls or function not in calls.GENERAL:
                raise
        declaration = self.resolve("scalar", function, arguments)
        return self.general(ScalarFunction(declaration, arguments, self.options_of(declaration, options)))

    def general(self, call: ScalarFunction) -> Expression:
        """What becomes of a call that the dialect lacks where the engine has no rule for it; refused where nothing does.

        For a rule that is about some calls of a function only.
        """
        rule = calls.GENERAL.get(call.declaration.function)
        lacking = self.lacks(call)
        if rule is None:
            raise lacking
        try:
            return rule(self, call)
        except NotInDialect as problem:
            if problem.lacking == lacking.lacking:
                raise
            raise without_other_form(self.dialect, lacking, [problem]) from None

    def options_of(self, declaration: registry.Declaration, options: Mapping[str, str | None]) -> Options:
        """The options that a call states: those that are given, and those that the dialect's function must have."""
        return self.dialect.options_of(declaration.kind, declaration, given(options))

    def listed(self, function: str, *arguments: Expression | str, **options: str | None) -> ScalarFunction:
        """A call by `alias:name` of a function that the dialect has as it stands."""
        declaration = self.resolve("scalar", function, arguments)
        return self._scalar(declaration, arguments, self.options_of(declaration, options))

    def guarded(self, function: str, *arguments: Expression) -> Expression:
        """A call of a function that the dialect has as it stands, by the guard against its defect where there is one."""
        self.listed(function, *arguments)
        return self.lowered(function, *arguments)

    def _scalar(
        self, declaration: registry.Declaration, arguments: tuple[Expression | str, ...], options: Options
    ) -> ScalarFunction:
        entry = self.dialect.require_function("scalar", declaration, arguments, options)
        self.traits.draws |= not declaration.deterministic
        return ScalarFunction(declaration, arguments, options, entry is not None and entry.raises)

    def lacks(self, call: ScalarFunction) -> NotInDialect:
        """Why there is no form of a call."""
        try:
            self.dialect.require_function("scalar", call.declaration, call.arguments, call.options)
        except NotInDialect as problem:
            return problem
        return NotInDialect(
            f"the dialect {self.dialect.name} has no function {call.declaration.compound}", self.dialect.hint
        )

    def stated(self, call: ScalarFunction) -> ScalarFunction:
        """A canonical call that the dialect has as it stands."""
        entry = self.dialect.require_function("scalar", call.declaration, call.arguments, call.options)
        self.traits.draws |= not call.declaration.deterministic
        raising = entry is not None and entry.raises
        if call.raising is raising:
            return call
        return ScalarFunction(call.declaration, call.arguments, call.options, raising)

    def require_aggregate(self, call: AggregateFunction, frame: Frame | None) -> None:
        """Refuse an aggregate function that the dialect lacks, or does not have in this way."""
        declaration = call.declaration
        if call.filter is not None and not self.dialect.abilities.measure_filters:
            raise NotInDialect(
                f"the dialect {self.dialect.name} has no filters of measures such as {declaration.compound}"
            )
        entry = self.dialect.require_function("aggregate", declaration, call.arguments, call.options)
        if entry is None:
            return
        limits = entry.metadata
        window = limits.get("window", "any")
        lacking = {
            "of distinct values": call.distinct and not limits.get("distinct", True),
            "with an order": bool(call.sorts) and not limits.get("sorts", True),
            "over windows": frame is not None and not window,
            "over window frames that lose rows": frame is not None and window == "growing" and not frame.grows,
        }
        for what, lacks in lacking.items():
            if lacks:
                raise NotInDialect(
                    f"the dialect {self.dialect.name} has no {declaration.compound} {what}", self.dialect.hint
                )

    def require_window(self, call: WindowCall) -> None:
        """Refuse a window function that the dialect lacks."""
        self.dialect.require_function("window", call.declaration, call.arguments, call.options)

    def lowered(self, function: str, *arguments: Expression | str, **options: str | None) -> Expression:
        """A canonical call of lowered arguments, in whatever form the dialect has for it."""
        # Imported here, since that module needs this one.
        from .expression import lowered_call

        declaration = self.resolve("scalar", function, arguments)
        return lowered_call(self, ScalarFunction(declaration, arguments, given(options)))

    def required(self, input: Expression) -> Expression:
        """A value that is known not to be null."""
        return self.as_type(input, types.required(input.type))

    # ---- expressions

    def as_type(self, input: Expression, type: Type) -> Expression:
        """The same value in a type that differs in nullability only, where the dialect has the cast for it."""
        found = super().as_type(input, type)
        if found is not input and isinstance(found, Cast):
            require_expression(self.dialect, found)
        return found

    def cast(self, input: Expression, type: Type, throws: bool = True) -> Expression:
        """A cast as the engine has it, as nullable as its input must make it; none where there is nothing to do."""
        target = types.with_nullable(type, input.type.nullable or not throws)
        if types.equal_but_nullability(input.type, target):
            return self.as_type(input, target)
        self.dialect.require_type(target)
        return self.made_cast(Cast(input, target, throws))

    def narrow(self, input: Expression, type: Type, throws: bool) -> Expression:
        """A checked cast of what an engine computes in a wider type than the call declares."""
        target = types.with_nullable(type, input.type.nullable or not throws)
        return self.made_cast(Cast(input, target, throws, checks=True))

    def made_cast(self, cast: Cast) -> Expression:
        """A cast as the engine may have it."""
        return cast

    def raises(self, message: str, type: Type, witness: Expression) -> Expression:
        """An expression that raises when it is evaluated: a cast of text that is no number.

        It holds a value of the row, so that engines don't evaluate it before they must.
        """
        return self.cast(self.cast(self.error_text(message, witness), types.I64), type)

    def error_text(self, message: str, witness: Expression) -> Expression:
        """What an error says: the message, and a value of the row."""
        shown = self.coalesce(self.cast(witness, types.STRING), self.literal("", types.STRING))
        return self.call(
            "string:concat", self.literal(message + " ", types.STRING), shown, null_handling="ACCEPT_NULLS"
        )

    def conjunction(self, operands: Sequence[Expression]) -> Expression:
        """The AND of a filter's conjuncts; later ones that may raise are evaluated where earlier hold."""
        return self.connected("and", operands)

    def connected(self, name: str, operands: Sequence[Expression]) -> Expression:
        """The `and` or `or` of operands, where later ones that may raise are evaluated only if the earlier leave it open."""
        return operands[0] if len(operands) == 1 else self.lowered(f"boolean:{name}", *operands)

    def if_then(self, *parts: Expression) -> Expression:
        """`if_then(condition, value, …, otherwise)`, where the dialect has such expressions."""
        found = super().if_then(*parts)
        require_expression(self.dialect, found)
        return found

    def chosen(self, parts: Sequence[Expression]) -> Expression:
        """The value of the first condition that holds: conditions and values in turn, and the value of none."""
        return self.if_then(*parts)

    def or_list(self, value: Expression, options: tuple[Expression, ...]) -> Expression:
        """Whether a value is one of several."""
        if self.dialect.allows_expression("SINGULAR_OR_LIST"):
            return SingularOrList(value, options)
        value = self.share(value)
        return self.connected("or", [self.lowered("comparison:equal", value, option) for option in options])

    def key(self, value: Expression) -> Expression:
        """What to group or partition by for rows that have the same value."""
        return value

    def sort_key(self, sort: SortField) -> SortField:
        """What to sort by."""
        return sort

    def distinct_arguments(self, arguments: tuple[Expression | str, ...]) -> tuple[Expression | str, ...]:
        """The arguments of a DISTINCT call."""
        return arguments

    def require_frame(self, frame: Frame) -> None:
        """Refuse a window frame that the dialect does not take."""

    # ---- relations

    def filtered(self, input: Relation, conditions: Sequence[Expression]) -> Relation:
        """The rows for which all conditions are true."""
        return Filter(input, self.conjunction(conditions))

    def joined(self, left: Relation, right: Relation, join_type: str, conditions: Sequence[Expression]) -> Relation:
        """The rows of both inputs for which all conditions are true."""
        return Join(left, right, join_type, self.connected("and", conditions) if conditions else self.true())

    def sorted(self, input: Relation, sorts: Sequence[SortField]) -> Relation:
        """The rows in an order."""
        return Sort(input, sorts)

    def fetched(self, input: Relation, offset: int, count: int | None) -> Relation:
        """So many rows behind the first ones, all of them without a count."""
        return Fetch(input, offset, count)

    def united(self, inputs: Sequence[Relation], operation: str) -> Relation:
        """The rows of several relations, by the name of a set operation such as `UNION_ALL`."""
        return Set(inputs, operation)

    def grouped(
        self,
        input: Relation,
        groupings: Sequence[Expression],
        measures: Sequence[AggregateFunction],
        sets: Sequence[tuple[int, ...]],
    ) -> Relation:
        """A row for each group of each of the sets of keys."""
        return Aggregate(input, groupings, measures, sets)

    def table(self, table: VirtualTable, expressions: ExpressionLowering) -> Relation:
        """Rows that are written into the plan."""
        cells = expressions.lower_all(table.expressions())
        return (
            table.over((), cells)
            if any(new is not old for new, old in zip(cells, table.expressions(), strict=True))
            else table
        )

    def interval(self, count: Expression, type: Type) -> Expression:
        """The interval of a type that has a count, for a column of the result."""
        raise NotInDialect(f"the dialect {self.dialect.name} has no values of {type}, which it counts")

    def named(self, relation: Relation, names: Sequence[str]) -> Relation:
        """The root of a plan with these depth-first names, which are those of the columns and of the struct fields in them."""
        return relation

    def finished(self, relation: Relation) -> Relation:
        """A relation that is lowered, as the engine may have it."""
        return relation

    def windowed(
        self,
        input: Relation,
        calls: Sequence[WindowCall],
        partition: tuple[Expression, ...],
        sorts: tuple[SortField, ...],
    ) -> Relation:
        """The columns of the input, then those of the window calls."""
        if not calls:
            return input
        if self.dialect.allows_relation("CONSISTENT_PARTITION_WINDOW"):
            return Window(input, calls, partition, sorts)
        return Project(input, [WindowFunction(call, partition, sorts) for call in calls])
