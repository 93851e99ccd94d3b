"""Walking and rewriting expressions and relations without recursion."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import TypeGuard, TypeVar

from .expression import Expression, FieldReference, Lambda, Literal, ScalarFunction, Subquery
from .feature import OUTER_COLUMN, PARAMETER, SUBQUERY
from .relation import LateralJoin, Relation

Fact = TypeVar("Fact")


def subexpressions(root: Expression) -> Iterator[Expression]:
    """The expression and those in it, each once; not those in the relations of subqueries."""
    seen: set[Expression] = set()
    stack = [root]
    while stack:
        expression = stack.pop()
        if expression not in seen:
            seen.add(expression)
            yield expression
            stack.extend(expression.children())


def relations_below(root: Relation, subqueries: bool = False) -> list[Relation]:
    """The relation and all below it, each after what is above it; with those of subqueries if these are asked for."""
    relations = [root]
    for relation in relations:
        relations.extend(relation.inputs)
        if subqueries:
            relations.extend(subquery_relations(relation))
    return relations


def subquery_relations(relation: Relation) -> list[Relation]:
    """The relations of the subqueries in a relation's own expressions."""
    if not relation.own_features & SUBQUERY:
        return []
    return [each for expression in relation.expressions() for each in subqueries_of(expression)]


def subqueries_of(expression: Expression) -> list[Relation]:
    """The relations of the subqueries in an expression."""
    if not expression.features & SUBQUERY:
        return []
    return [part.relation for part in subexpressions(expression) if isinstance(part, Subquery)]


def refers_outwards(relation: Relation, steps: int = 1) -> bool:
    """Whether a relation refers to columns so many queries outwards, or further."""
    stack = [(relation, steps)]
    while stack:
        each, steps = stack.pop()
        if not each.features & (OUTER_COLUMN | SUBQUERY):
            continue
        parts = [part for expression in each.expressions() for part in subexpressions(expression)]
        if any(isinstance(part, FieldReference) and part.outer >= steps for part in parts):
            return True
        stack += [(part.relation, steps + 1) for part in parts if isinstance(part, Subquery)]
        stack += [(input, steps + (isinstance(each, LateralJoin) and n)) for n, input in enumerate(each.inputs)]
    return False


def inputs_first(root: Relation, subqueries: bool = False, known: Container[Relation] = ()) -> Iterator[Relation]:
    """The relation and all below it, each once, after its inputs and, if asked for, its subqueries' relations.

    What is known already is left out, with what is below that alone.
    """
    done: set[Relation] = set()
    stack: list[tuple[Relation, bool]] = [(root, False)]
    while stack:
        relation, visited = stack.pop()
        if relation in done or relation in known:
            continue
        below = (*relation.inputs, *subquery_relations(relation)) if subqueries and not visited else relation.inputs
        if visited or not below:
            done.add(relation)
            yield relation
            continue
        stack.append((relation, True))
        stack += [(each, False) for each in reversed(below)]


def rewritten(root: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with each part that `change` has another for in its place; it is asked from the outside in."""
    done: dict[Expression, Expression] = {}

    def over_changed(expression: Expression) -> Expression:
        return expression.with_children([done[child] for child in expression.children()])

    return rebuilt(root, done, change, lambda expression: expression.children(), over_changed)


def rebuilt(
    root: Expression,
    done: dict[Expression, Expression],
    by_itself: Callable[[Expression], Expression | None],
    before: Callable[[Expression], Sequence[Expression]],
    over_parts: Callable[[Expression], Expression],
) -> Expression:
    """An expression rebuilt from its parts; `done` has what became of each part.

    `by_itself` gives the new expression where its parts don't matter, else None; then `over_parts` gives it, once the parts that
    `before` names are done.
    """
    stack = [root]
    while stack:
        expression = stack[-1]
        if expression not in done:
            result = by_itself(expression)
            if result is None:
                pending = [part for part in before(expression) if part not in done]
                if pending:
                    stack.extend(reversed(pending))
                    continue
                result = over_parts(expression)
            done[expression] = result
        stack.pop()
    return done[root]


def of_columns(
    root: Relation,
    own: Callable[[Relation, list[list[Fact]]], Sequence[Fact]],
    missing: Callable[[Relation], Fact],
    known: dict[Relation, list[Fact]] | None = None,
) -> list[Fact]:
    """Something that is known of each column of a relation, derived from the inputs up.

    `own` tells it of a relation's own columns by what is known of its inputs' columns. It may leave out the last of them;
    `missing` tells it of those. `known` keeps the answers for relations that were looked at, and is asked first.
    """
    known = {} if known is None else known
    for relation in inputs_first(root, known=known):
        told = own(relation, [known[input] for input in relation.inputs])
        known[relation] = [told[n] if n < len(told) else missing(relation) for n in relation.emitted]
    return known[root]


def transformed(
    root: Relation,
    rule: Callable[[Relation], Relation],
    concerned: Callable[[Relation], bool] | None = None,
    feature: int | None = None,
) -> Relation:
    """The relation with the rule applied to each below it, inputs first, and to itself; types stay.

    What the rule makes of a relation keeps that one's place.

    The relation itself is returned at once where no relation below is `concerned`, or none has this `feature`, if these are given.
    """
    if feature is not None and not root.features & feature:
        return root
    if concerned is not None and not any(map(concerned, relations_below(root))):
        return root
    done: dict[Relation, Relation] = {}
    for relation in inputs_first(root):
        inputs = tuple([done[input] for input in relation.inputs])
        changed = rule(relation.with_inputs(inputs))
        for made in (changed, *changed.inputs):
            if made.place is None:
                made.place = relation.place
        done[relation] = changed
    return done[root]


# ---- lambdas


def moved_inwards(expression: Expression, steps: int) -> Expression:
    """An expression moved into so many more lambdas: its references to parameters of lambdas around it count these."""
    if not steps or not refers_to_parameters(expression):
        return expression
    return _moved(expression, steps, 0)


def _moved(root: Expression, steps: int, depth: int) -> Expression:
    def change(expression: Expression) -> Expression | None:
        if isinstance(expression, Lambda) and expression is not root:
            return Lambda(expression.parameters, _moved(expression.body, steps, depth + 1))
        if (
            isinstance(expression, FieldReference)
            and expression.parameter is not None
            and expression.parameter >= depth
        ):
            path, parameter = expression.path, expression.parameter + steps
            return FieldReference(expression.ordinal, expression.type, path, expression.outer, parameter)
        return None

    return rewritten(root, change)


def refers_to_parameters(expression: Expression) -> bool:
    """Whether an expression uses the parameter of a lambda, be it one inside of it."""
    return bool(expression.features & PARAMETER)


def ordinals(expression: Expression) -> Iterator[int]:
    """The columns that an expression uses."""
    for part in subexpressions(expression):
        if isinstance(part, FieldReference) and not part.outer and part.parameter is None:
            yield part.ordinal


def conjuncts(condition: Expression) -> list[Expression]:
    """The conditions that all hold where a condition does."""
    conditions: list[Expression] = []
    stack = [condition]
    while stack:
        current = stack.pop()
        if isinstance(current, ScalarFunction) and current.declaration.name == "and":
            stack.extend(reversed(current.children()))
        else:
            conditions.append(current)
    return conditions


def is_null(expression: Expression) -> bool:
    """Whether an expression is the literal null."""
    return isinstance(expression, Literal) and expression.value is None


def is_true(condition: Expression) -> bool:
    """Whether a condition is the literal true."""
    return isinstance(condition, Literal) and condition.value is True


def is_own(expression: Expression) -> TypeGuard[FieldReference]:
    """Whether an expression is a column of the input or a part of one: of no query around, and no parameter of a lambda."""
    return isinstance(expression, FieldReference) and not expression.outer and expression.parameter is None


def is_column(expression: Expression) -> TypeGuard[FieldReference]:
    """Whether an expression is just a column of the input."""
    return is_own(expression) and not expression.path


def with_columns_at(expression: Expression, ordinal: Callable[[int], int]) -> Expression:
    """An expression whose columns of the input are at other ordinals, which `ordinal` tells of those that they have."""

    def change(part: Expression) -> Expression | None:
        return FieldReference(ordinal(part.ordinal), part.type, part.path) if is_own(part) else None

    return rewritten(expression, change)


def columns(input: Relation, expressions: Sequence[Expression]) -> Relation:
    """A relation with exactly these columns: a project for those to compute, and an emit that orders all."""
    from .relation import Project

    width = len(input.types)
    computed: list[Expression] = []
    places: list[int] = []
    for expression in expressions:
        if is_column(expression):
            places.append(expression.ordinal)
        else:
            places.append(width + len(computed))
            computed.append(expression)
    return (Project(input, computed) if computed else input).select(places)
