"""The last step: whether everything in a plan is in the dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..algebra.expression import (
    AggregateFunction,
    Expression,
    FieldReference,
    Lambda,
    Part,
    ScalarFunction,
    ScalarSubquery,
    Subquery,
    Traced,
    WindowCall,
    WindowFunction,
)
from ..algebra.feature import STAND_IN
from ..algebra.relation import Aggregate, LocalFiles, Read, Relation, Sort, SparkFiles, VirtualTable
from ..algebra.spark_options import DELIMITED, OF_VALUES
from ..algebra.subqueries import is_correlated
from ..algebra.traversal import inputs_first, is_column
from ..dialects.dialect import Abilities
from ..errors import NotInDialect, Origin, Unsupported

if TYPE_CHECKING:
    from ..dialects.dialect import Dialect
    from .lowering import Lowering


def check(lowering: Lowering, root: Relation) -> None:
    """Report whatever is in a plan, the relations of its subqueries included, that the dialect lacks."""
    dialect = lowering.dialect
    if not dialect.lists_anything and dialect.abilities == Abilities():
        return
    checked = _Check(dialect, lowering)
    roots = [root]
    for each in roots:
        for relation in inputs_first(each):
            lowering.at(relation, relation.place or root.place)
            roots += checked.relation(relation)


def require_columns(lowering: Lowering, root: Relation, outputs: Sequence[Origin]) -> None:
    """Report columns of the result whose types no table may have."""
    for n, kind in enumerate(root.types):
        try:
            lowering.dialect.require_type(kind, column=True)
        except Unsupported as problem:
            lowering.report_output(outputs[n] if n < len(outputs) else None, problem)


ELSEWHERE = "Make a plan for another dialect or without one."

MARKS = (
    "It comes of an EXISTS or IN below OR or NOT, or in a column: make it a condition of its own, with AND, or a join."
)

VARIANT_HINTS = {("join_types", "LEFT_MARK"): MARKS}
"""What to do about variants of relations that no query names."""


class _Check:
    """What was looked at already, and what was found to be in the dialect."""

    def __init__(self, dialect: Dialect, lowering: Lowering) -> None:
        self._dialect = dialect
        self._lowering = lowering
        self._seen: set[Expression] = set()

    def relation(self, relation: Relation) -> list[Relation]:
        """The relations of the subqueries in a relation, which is looked at but for these."""
        subqueries: list[Relation] = []
        if isinstance(relation, VirtualTable) and relation.own_features & STAND_IN:
            return subqueries
        if not self._dialect.allows_relation(relation.NAME, *relation.variant()):
            self._try(None, partial(require_relation, self._dialect, relation))
        if isinstance(relation, Aggregate | Sort):
            self._try(None, partial(require_keys, self._dialect, relation))
        if isinstance(relation, Read):
            self._columns(relation)
        if isinstance(relation, LocalFiles) and isinstance(relation.format, SparkFiles):
            self._try(None, partial(require_format, self._dialect, relation.format))
        for call in relation.functions():
            self._function(call)
        stack = list(relation.expressions())
        while stack:
            current = stack.pop()
            if current not in self._seen:
                self._seen.add(current)
                stack.extend(current.children())
                self._expression(current)
                if isinstance(current, Subquery):
                    self._try(current, partial(require_subquery, self._dialect, current))
                    subqueries.append(current.relation)
        return subqueries

    def _columns(self, read: Read) -> None:
        if all(self._dialect.allows_type(kind, column=True) for kind in set(read.schema)):
            return
        for n, kind in enumerate(read.schema):
            try:
                self._dialect.require_type(kind, column=True)
            except Unsupported as problem:
                self._lowering.report_column(read.origins[n] if n < len(read.origins) else None, problem)

    def _expression(self, expression: Expression) -> None:
        form = (type(expression), expression.type, expression.variant(), reaches_in(expression))
        if form not in self._dialect.known_forms and self._is_in_dialect(expression):
            self._dialect.known_forms.add(form)
        if isinstance(expression, ScalarFunction):
            self._function(expression)
        elif isinstance(expression, WindowFunction):
            self._function(expression.call)

    def _is_in_dialect(self, expression: Expression) -> bool:
        """Whether the dialect has an expression's types and its form; report that it has not."""
        kinds = expression.parameters if isinstance(expression, Lambda) else (expression.type,)
        column = is_column(expression) and self._dialect.allows_type(expression.type, column=True)
        has_types = [self._try(expression, partial(self._dialect.require_type, kind, column)) for kind in kinds]
        has_form = self._try(expression, partial(require_expression, self._dialect, expression))
        return has_form and all(has_types)

    def _function(self, call: ScalarFunction | AggregateFunction | WindowCall) -> None:
        if isinstance(call, WindowCall):
            self._try(call, partial(require_bounds, self._dialect, call))
        declaration = call.declaration
        asked = (declaration.kind, declaration, call.arguments, call.options)
        if not self._dialect.allows_call(*asked):
            self._try(call, partial(self._dialect.require_function, *asked))

    def _try(self, part: Traced | None, requirement: Callable[[], object]) -> bool:
        """Whether a requirement is met; report that it is not."""
        try:
            requirement()
        except Unsupported as problem:
            self._lowering.report(part, problem)
            return False
        return True


def require_relation(dialect: Dialect, relation: Relation) -> None:
    """Raise NotInDialect for a kind of relation, or a variant of it, that the dialect lacks."""
    key, value = relation.variant()
    if relation.NAME and not dialect.allows_relation(relation.NAME, key, value):
        if relation.DOES:
            raise NotInDialect(
                f"the dialect {dialect.name} has no relation that {relation.DOES}",
                "Run this step in Spark, save the result, and export the query on top of that.",
            )
        what = f"{value} {relation.NAME} relations" if value else f"{relation.NAME} relations"
        raise NotInDialect(f"the dialect {dialect.name} has no {what}", VARIANT_HINTS.get((key, value), ELSEWHERE))


def require_keys(dialect: Dialect, relation: Aggregate | Sort) -> None:
    """Raise NotInDialect for keys of groups, or of an order, of types that the engine doesn't get right."""
    keys = relation.groupings if isinstance(relation, Aggregate) else [sort.expression for sort in relation.sorts]
    if kinds := dialect.kinds_lacking(relation.NAME, keys):
        raise NotInDialect(
            f"the dialect {dialect.name} has no {relation.NAME} relations by {' and '.join(kinds)}", ELSEWHERE
        )


def require_bounds(dialect: Dialect, call: WindowCall) -> None:
    """Raise NotInDialect for computed bounds of a frame in a dialect whose reader knows bounds as numbers alone."""
    if not dialect.abilities.bound_expressions and not all(each.is_number for each in (call.lower, call.upper)):
        raise NotInDialect(
            f"the dialect {dialect.name} has no windows whose bounds are other than whole numbers",
            "Order by a whole number, or count rows in the place of a range.",
        )


def require_subquery(dialect: Dialect, subquery: Subquery) -> None:
    """Raise NotInDialect for a correlated scalar subquery in a dialect without them, which no rewrite has turned into a join."""
    lacks = not dialect.abilities.correlated_scalars and isinstance(subquery, ScalarSubquery)
    if lacks and is_correlated(subquery.relation):
        raise NotInDialect(
            f"the dialect {dialect.name} has no such scalar subquery that refers to the query around it",
            "Write it as a join, or make a plan of the optimized stage.",
        )


def require_format(dialect: Dialect, format: SparkFiles) -> None:
    """Raise NotInDialect for files of a format of Spark's that the dialect doesn't read, or not with its options."""
    given = [name for name, _ in format.options]
    lacking = dialect.lacks_of_files(format.name, given)
    if lacking == []:
        return
    named = lacking or [name for name in given if name not in DELIMITED] or given
    how = f"with Spark's option{'' if len(named) == 1 else 's'} {', '.join(named)}" if named else "as Spark does"
    hint = CAST_TEXT if named and set(named) <= set(OF_VALUES) else SAVE_ROWS
    raise NotInDialect(f"the dialect {dialect.name} reads no {format.name} files {how}", hint)


SAVE_ROWS = "Save the rows as Parquet and read that, or make a plan without a dialect, which Spark runs."

CAST_TEXT = (
    f"Read the columns as strings without the option, and cast them. Or do this: {SAVE_ROWS[0].lower()}{SAVE_ROWS[1:]}"
)


def reaches_in(expression: Expression) -> bool:
    """Whether an expression is a part of a value."""
    return isinstance(expression, Part) or (isinstance(expression, FieldReference) and bool(expression.path))


def require_form(dialect: Dialect, expression: Expression) -> None:
    """Raise NotInDialect for an expression of a kind or a type that the dialect lacks."""
    for kind in expression.parameters if isinstance(expression, Lambda) else (expression.type,):
        dialect.require_type(kind)
    require_expression(dialect, expression)


def require_expression(dialect: Dialect, expression: Expression) -> None:
    """Raise NotInDialect for a kind of expression, or a variant of it, that the dialect lacks."""
    if reaches_in(expression) and not dialect.abilities.nested_references:
        raise NotInDialect(f"in the dialect {dialect.name}, only whole columns can be referred to")
    if kinds := dialect.kinds_lacking(expression.NAME, (expression, *expression.children())):
        raise NotInDialect(
            f"the dialect {dialect.name} has no {expression.PLURAL or f'{expression.NAME} expressions'} of {' and '.join(kinds)}",
            "Make a plan for another dialect or without one, or compute this step in Spark.",
        )
    key, value = expression.variant()
    if expression.NAME and not dialect.allows_expression(expression.NAME, key, value):
        what = expression.PLURAL or (
            f"{value} {expression.NAME} expressions" if value else f"{expression.NAME} expressions"
        )
        raise NotInDialect(
            f"the dialect {dialect.name} has no {what}",
            "Make a plan for another dialect or without one, or compute this step in Spark.",
        )
