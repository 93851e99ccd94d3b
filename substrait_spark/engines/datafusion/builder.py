"""Building in DataFusion's forms, with guards against what it gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...algebra import types
from ...algebra.expression import (
    AggregateFunction,
    Cast,
    Expression,
    Literal,
    ScalarFunction,
    SortField,
    WindowCall,
    WindowFunction,
)
from ...algebra.frame import Frame
from ...algebra.relation import LEFT_ONLY, Aggregate, Filter, Join, Project, Relation
from ...algebra.traversal import columns, conjuncts, inputs_first
from ...algebra.types import Type
from ...algebra.wider_join import with_right_side_moved
from ...errors import NotInDialect
from ...extensions import registry
from ...lowering.builder import LoweringBuilder
from .guards import (
    connectives,
    constants,
    early_casts,
    empty_inputs,
    floating,
    in_list,
    join_keys,
    list_order,
    local_rows,
    same_names,
    spanning_keys,
    struct_names,
    totals,
    unique_keys,
)
from .guards.unsigned_range import with_unsigned_key

if TYPE_CHECKING:
    from ...algebra.builder import Options
    from ...algebra.relation import VirtualTable
    from ...extensions.registry import Declaration
    from ...lowering.expression import ExpressionLowering
    from ...lowering.lowering import Lowering


ARROW_INTERVALS = {
    "interval_day": ("Duration(Microsecond)",),
    "interval_year": ("Int32", "Interval(YearMonth)", "Interval(MonthDayNano)"),
}
"""By which of Arrow's types a count becomes an interval, as Spark hands them over."""


class DataFusionBuilder(LoweringBuilder):
    """Builds what DataFusion takes and gets right."""

    COLUMNS_OF_COUNTS = True

    def __init__(self, lowering: Lowering, inputs: Sequence[Relation] = ()) -> None:
        super().__init__(lowering, inputs)
        self._naming: struct_names.Naming | None = None
        self.reached: dict[tuple[Any, ...], Expression] = {}
        """The parts of columns, by the ways to them, so that what several ways begin with is there once."""

    # ---- names of struct fields

    def names_of(self, expression: Expression) -> struct_names.Names:
        """The depth-first names of the struct fields in the type of a lowered expression."""
        if not struct_names.has_names(expression.type):
            return ()
        if self._naming is None:
            self._naming = struct_names.naming_over(self)
        return self._naming.of(expression)

    def relation_names(self, relation: Relation) -> Sequence[struct_names.Names]:
        """The names of the struct fields in each column of a lowered relation."""
        return self.lowering.memory(struct_names.RelationNames).of(relation)

    def _scalar(
        self, declaration: Declaration, arguments: tuple[Expression | str, ...], options: Options
    ) -> ScalarFunction:
        return super()._scalar(declaration, same_names.arguments(self, declaration.name, arguments), options)

    def stated(self, call: ScalarFunction) -> ScalarFunction:
        arguments = same_names.arguments(self, call.declaration.name, call.arguments)
        if arguments is not call.arguments:
            call = ScalarFunction(call.declaration, arguments, call.options, call.raising)
        return super().stated(call)

    def alike(self, inputs: Sequence[Expression]) -> list[Expression]:
        return super().alike(same_names.together(self, inputs))

    # ---- expressions

    def shielded_from_optimizer(self, input: Expression) -> Expression:
        """The same value, in a form that the optimizer does not look into."""
        return self.call_as(input.type, "datafusion:greatest", input)

    def made_cast(self, cast: Cast) -> Expression:
        """The cast, in time where the planner would compute it, and shielded where it would compare what is cast instead."""
        if self.has_defect("early_casts") and early_casts.is_early(cast):
            return early_casts.late(self, cast)
        exact = types.widens(cast.input.type, cast.type) and not cast.checks
        numbers = {cast.input.type.kind, cast.type.kind} <= {*types.INTEGERS, "decimal"}
        if exact or not numbers or isinstance(cast.input, Literal) or not self.has_defect("unwraps_casts"):
            return cast
        return self.shielded_from_optimizer(cast)

    def raises(self, message: str, type: Type, witness: Expression) -> Expression:
        if not self.has_defect("early_casts"):
            return super().raises(message, type, witness)
        return self.cast(early_casts.error(self, self.error_text(message, witness)), type)

    def as_type(self, input: Expression, type: Type) -> Expression:
        if input.type == type or isinstance(input, Literal) or not types.holds(type, ("struct",)):
            return super().as_type(input, type)
        return self.call_as(type, "datafusion:coalesce", input)

    def null(self, type: Type) -> Expression:
        self.require_nameless(type)
        return super().null(type)

    def cast(self, input: Expression, type: Type, throws: bool = True) -> Expression:
        if not types.equal_but_nullability(input.type, type):
            self.require_nameless(type)
        return super().cast(input, type, throws)

    def require_nameless(self, type: Type) -> None:
        """Refuse a type that would lose the names of struct fields: DataFusion knows structs by them."""
        if types.holds(type, ("struct",)):
            raise NotInDialect(
                f"the dialect {self.dialect.name} has structs by the names of their fields, which {type} doesn't tell",
                "Compute the struct in Spark, or use its fields by themselves.",
            )

    def connected(self, name: str, operands: Sequence[Expression]) -> Expression:
        if self.has_defect("forgets_nulls"):
            operands = in_list.with_lists_apart(self, operands)
        if not self.has_defect("eager_connectives"):
            return super().connected(name, operands)
        return connectives.connected(self, name, operands)

    def conjunction(self, operands: Sequence[Expression]) -> Expression:
        if self.has_defect("eager_connectives") and connectives.may_be_eager(operands):
            return connectives.conjunction(self, operands)
        return (
            connectives.flat(self, operands) if self.has_defect("chained_conjuncts") else super().conjunction(operands)
        )

    def chosen(self, parts: Sequence[Expression]) -> Expression:
        eager = self.has_defect("eager_connectives") and connectives.is_eager_choice(parts)
        return connectives.chosen(self, parts) if eager else super().chosen(parts)

    def or_list(self, value: Expression, options: tuple[Expression, ...]) -> Expression:
        if not self.dialect.allows_expression("SINGULAR_OR_LIST"):
            return super().or_list(value, options)
        return in_list.or_list(self, value, options)

    def alike_inside(self, values: Sequence[Expression]) -> Sequence[Expression]:
        """The values in one type where types differ in the nullability of what is inside them, or in names."""
        values = same_names.together(self, values)
        return self.alike(values) if len({types.required(value.type) for value in values}) > 1 else values

    def key(self, value: Expression) -> Expression:
        return floating.groupable(self, value) if self.has_defect("nan_payloads") else value

    def sort_key(self, sort: SortField) -> SortField:
        key = self.key(sort.expression)
        follow = self.has_defect("nested_nulls_follow")
        if follow and sort.ascending != sort.nulls_first and _holds_nulls(key.type):
            raise NotInDialect(
                f"the dialect {self.dialect.name} puts the nulls inside a {key.type.kind} where the nulls of the column go",
                "Sort by the fields or elements themselves, or in the default order of nulls.",
            )
        return sort.by(key)

    def distinct_arguments(self, arguments: tuple[Expression | str, ...]) -> tuple[Expression | str, ...]:
        return tuple([a if isinstance(a, str) else self._distinct(a) for a in arguments])

    def _distinct(self, value: Expression) -> Expression:
        if isinstance(value, Literal):  # tells no rows apart
            return value
        if isinstance(value, ScalarFunction) and value.declaration.name == "named_struct":
            parts = value.children()
            return value.with_children([part if n % 2 == 0 else self.key(part) for n, part in enumerate(parts)])
        return self.key(value)

    def require_aggregate(self, call: AggregateFunction, frame: Frame | None) -> None:
        super().require_aggregate(call, frame)
        if frame is not None and not frame.grows and registry.built_in_alias(call.declaration.urn) is None:
            # An aggregate function of Python's has no way to take rows back.
            raise NotInDialect(
                f"the dialect {self.dialect.name} has no {call.declaration.compound} over window frames that lose rows"
            )

    def require_frame(self, frame: Frame) -> None:
        if frame.never_holds_a_row and self.has_defect("empty_frames"):
            raise NotInDialect(f"the dialect {self.dialect.name} has no frames that can't hold a row")

    # ---- relations

    def interval(self, count: Expression, type: Type) -> Expression:
        for arrow_type in ARROW_INTERVALS[type.kind]:
            count = self.call("datafusion:arrow_cast", self.cast(count, types.I64), self.text(arrow_type))
        return count

    def named(self, relation: Relation, names: Sequence[str]) -> Relation:
        return same_names.rooted(self, relation, names) if names else relation

    def united(self, inputs: Sequence[Relation], operation: str) -> Relation:
        return super().united(same_names.united(self, inputs), operation)

    def table(self, table: VirtualTable, expressions: ExpressionLowering) -> Relation:
        return local_rows.table(self, table, expressions)

    def filtered(self, input: Relation, conditions: Sequence[Expression]) -> Relation:
        if self.has_defect("filters_below_totals"):
            input = totals.with_limited_totals(self, input, conditions)
        if self.has_defect("constants_survive"):
            input = constants.varying_filter_input(self, input, conditions)
        if self.has_defect("unions_lose_names"):
            conditions = empty_inputs.unknown_conditions(self, conditions)
        condition = self.conjunction(conditions)
        if self.has_defect("eager_connectives") and connectives.may_be_eager(conditions):
            condition = connectives.with_keys(self, input, conditions, condition)
        return Filter(input, condition)

    def joined(self, left: Relation, right: Relation, join_type: str, conditions: Sequence[Expression]) -> Relation:
        if (not left.types or not right.types) and self.has_defect("joins_without_columns"):
            return self._joined_without_columns(left, right, join_type, conditions)
        takes_apart = join_type == "INNER" and self.has_defect("eager_connectives")
        early, late = join_keys.keys_and_filters(conditions) if takes_apart else (conditions, [])
        condition = self.connected("and", early) if early else self.true()
        parts = conjuncts(condition)
        if join_type in spanning_keys.REORDERED and self.has_defect("spanning_keys_lost"):
            parts, condition = spanning_keys.kept(self, condition, left, right)
        width = len(left.types)
        if self.has_defect("filters_below_totals"):
            left = totals.with_limited_totals(self, left, parts)
            right = totals.with_limited_totals(self, right, parts, width)
        join = Join(left, right, join_type, join_keys.joinable(self, condition, width))
        joined = constants.varying_join(self, join) if self.has_defect("constants_survive") else join
        return self.over(joined).filtered(joined, late) if late else joined

    def _joined_without_columns(
        self, left: Relation, right: Relation, join_type: str, conditions: Sequence[Expression]
    ) -> Relation:
        """The join of inputs that have a column that nobody reads, where they have none: DataFusion joins nothing else."""
        first, second = (input if input.types else columns(input, [self.true()]) for input in (left, right))
        added = len(first.types) - len(left.types)
        shifted = [with_right_side_moved(condition, len(left.types), added) for condition in conditions]
        made = self.over(first, second).joined(first, second, join_type, shifted)
        kept = list(range(len(left.types)))
        if join_type in LEFT_ONLY:
            return made.select([*kept, *range(len(first.types), len(made.types))])
        return made.select([*kept, *(len(first.types) + n for n in range(len(right.types)))])

    def grouped(
        self,
        input: Relation,
        groupings: Sequence[Expression],
        measures: Sequence[AggregateFunction],
        sets: Sequence[tuple[int, ...]],
    ) -> Relation:
        if self.has_defect("distinct_widens_sums"):
            measures = _with_filtered_distinct(measures)
        if self.has_defect("one_list_order"):
            list_order.require_one_order(measures)
        if self.has_defect("keys_survive_joins"):
            input = unique_keys.without_keys(self, input, len(groupings))
        return Aggregate(input, groupings, measures, sets)

    def windowed(
        self,
        input: Relation,
        calls: Sequence[WindowCall],
        partition: tuple[Expression, ...],
        sorts: tuple[SortField, ...],
    ) -> Relation:
        """Window functions in a project. It is named by its text, and takes no call that its input has by name."""
        if not calls:
            return input
        level = _levels(input) if self.has_defect("named_by_text") else 0
        if level:  # one more key that is the same for all rows makes the text another
            partition = (*partition, self.i64(level))
        functions = []
        for call in calls:
            keyed, order = (
                with_unsigned_key(self, call, sorts) if self.has_defect("unsigned_range_keys") else (call, sorts)
            )
            functions.append(WindowFunction(keyed, partition, order))
        return Project(input, functions)


def _holds_nulls(type: Type) -> bool:
    """Whether values of a type may have a null inside."""
    parts = [part for part in type.parameters if isinstance(part, Type)]
    return any(part.nullable or _holds_nulls(part) for part in parts)


def _levels(relation: Relation) -> int:
    """How many projects with window functions lie upon each other."""
    levels: dict[Relation, int] = {}
    for each in inputs_first(relation):
        own = any(isinstance(expression, WindowFunction) for expression in each.expressions())
        levels[each] = own + max([levels[input] for input in each.inputs], default=0)
    return levels[relation]


def _with_filtered_distinct(measures: Sequence[AggregateFunction]) -> Sequence[AggregateFunction]:
    """The measures, with a filter that holds for every row in the DISTINCT calls beside sums of decimals.

    Without it, DataFusion gives the sums another type than the plan says:

        SELECT arrow_typeof(sum(x)), count(DISTINCT x) FROM (SELECT 1::decimal(5, 2) AS x)   -- Decimal128(25, 2)
    """
    if not any(call.type.kind == "decimal" and not call.distinct for call in measures):
        return measures
    return [
        call.filtered(Literal(True, types.BOOLEAN)) if call.distinct and call.filter is None else call
        for call in measures
    ]
