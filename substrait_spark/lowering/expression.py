"""Lowering the expressions of one relation, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..algebra import types
from ..algebra.expression import (
    Cast,
    Expression,
    FieldReference,
    IfThen,
    Lambda,
    Literal,
    ScalarFunction,
    Shared,
    SingularOrList,
    SortField,
    StandIn,
    Subquery,
    put_back,
)
from ..algebra.inline_projects import part_of
from ..algebra.traversal import is_column, rebuilt
from ..algebra.types import INTERVALS, Type
from ..errors import UNEXPECTED, BrokenRule, NotInDialect, Unsupported
from ..extensions import registry
from . import calls
from .application import applied_if_concerned, applied_in_type, unexpected
from .constant_date import constant_date
from .text_length import KINDS as TEXT_OF_LENGTH
from .text_length import literal_without_length, require_fitting, without_length

if TYPE_CHECKING:
    from ..extensions.registry import Declaration
    from .builder import LoweringBuilder
    from .rules import OriginalRule, UnloweredCastRule, UnloweredRule

Tried = TypeVar("Tried", bound=Expression)
Found = TypeVar("Found")

Arguments = Sequence["Expression | str"]


Meaning = Callable[[int, int], Expression]
"""What a lambda's parameter stands for, lowered: of its ordinal, at so many lambdas further in."""


class Around(NamedTuple):
    """A lambda around what is lowered: what its parameters stand for, and whether it stays a lambda."""

    meaning: Meaning
    stays: bool


def _parameter(kinds: Sequence[Type], ordinal: int, steps: int) -> Expression:
    return FieldReference(ordinal, kinds[ordinal], parameter=steps)


class ExpressionLowering:
    """Lowers the expressions of one relation; what can't be is reported, and a stand-in takes its place.

    `results`: the expressions over `e` that stand for the columns referred to, where these aren't the columns of `e`.
    """

    def __init__(
        self, e: LoweringBuilder, results: Sequence[Expression] | None = None, lambdas: tuple[Around, ...] = ()
    ) -> None:
        self.e = e
        self._results = results
        self._lambdas = lambdas
        self._rules = e.lowering.rules
        self._done: dict[Expression, Expression] = {}
        self._columns = None if results is not None or self._rules.are_about(FieldReference) else e.columns
        """The types of the columns, where these stay what they are."""

    def lower(self, root: Expression) -> Expression:
        """The expression in the dialect's forms, in its type but for nullability."""
        found = rebuilt(root, self._done, self._by_itself, self._before, self._over_parts)
        return self._uncounted(root, found)

    def _over_parts(self, expression: Expression) -> Expression:
        return _from(expression, self._tried(expression, self._lowered))

    def _by_itself(self, expression: Expression) -> Expression | None:
        """A column; or an expression by a rule that lowers the parts itself, because it looks at them as they were; else None."""
        if self._columns is not None and is_column(expression):
            kind = self._columns[expression.ordinal]
            return (
                expression if kind is expression.type else _from(expression, FieldReference(expression.ordinal, kind))
            )
        if isinstance(expression, ScalarFunction):
            unlowered = self._unlowered_rule(expression)
            if unlowered is None:
                return None
            asked = (unlowered, expression.declaration.function, expression.type, self)
            return _from(expression, self._tried(expression, partial(applied_in_type, *asked)))
        if isinstance(expression, Cast):
            rule = self._unlowered_cast_rule(expression)
            if rule is None:
                return None
            found = self._tried(expression, partial(applied_if_concerned, rule, _pair(expression), self))
            return None if found is None else _from(expression, found)
        return None

    def _unlowered_rule(self, call: ScalarFunction) -> UnloweredRule | None:
        """The rule for a call before its arguments are lowered; None without one, or where the dialect has the function."""
        declaration = call.declaration
        rule = self._rules.unlowered.get(declaration.function) or calls.UNLOWERED.get(declaration.function)
        if rule is None or self.e.dialect.allows_call("scalar", declaration, call.arguments, call.options):
            return None
        return rule

    def _unlowered_cast_rule(self, cast: Cast) -> UnloweredCastRule | None:
        """The rule for a cast before its input is lowered; None without one, or where the dialect has the cast."""
        source, target = cast.input.type, cast.type
        rule = self._rules.unlowered_casts.get((source.kind, target.kind))
        return None if rule is None or self.e.dialect.allows_cast(source, target, cast.throws) else rule

    def _before(self, expression: Expression) -> Sequence[Expression]:
        """The expressions below that are lowered first; lambdas are not where the call's rule lowers them itself."""
        children = expression.children()
        if not children:
            return children
        if isinstance(expression, Lambda):
            return ()
        if self._rule_of_original(expression) is None:
            return children
        return [child for child in children if not isinstance(child, Lambda)]

    def _rule_of_original(self, expression: Expression) -> OriginalRule | None:
        if not isinstance(expression, ScalarFunction):
            return self._rules.originals.get(type(expression))
        return self._rules.originals.get(expression.declaration.function)

    def _operands(self, expression: Expression) -> list[Expression]:
        """What the expressions below have become."""
        children = expression.children()
        found = [self._done[child] for child in children]
        for child, each in zip(children, found, strict=True):
            if child.type.kind in INTERVALS and is_count(child, each) and not self._takes_counts(expression):
                raise self._no_interval(child.type, expression)
        return found

    def _takes_counts(self, expression: Expression) -> bool:
        """Whether an expression may be over the counts of intervals, in place of intervals."""
        if not isinstance(expression, ScalarFunction):
            return isinstance(expression, IfThen | SingularOrList | Shared)
        return expression.declaration.function in self._rules.counting

    def _uncounted(self, expression: Expression, found: Expression) -> Expression:
        """What an expression has become, unless that is the count of an interval, and the engine's columns hold none."""
        if found is expression or self.e.COLUMNS_OF_COUNTS or not is_count(expression, found):
            return found
        self.e.lowering.report(self.e, expression, self._no_interval(expression.type))
        return StandIn(types.nullable(expression.type))

    def _no_interval(self, kind: Type, user: Expression | None = None) -> Unsupported:
        """Why there may be no interval where its count is: the dialect has no type for it, or not what uses it."""
        dialect = self.e.dialect
        try:
            dialect.require_type(kind)
            if isinstance(user, ScalarFunction):
                dialect.require_function("scalar", user.declaration, user.arguments, user.options)
            dialect.require_type(kind, column=True)
        except Unsupported as problem:
            return problem
        return NotInDialect(f"the dialect {dialect.name} has no values of {kind}, which it counts")

    def lower_all(self, expressions: Sequence[Expression]) -> list[Expression]:
        return [self.lower(expression) for expression in expressions]

    def sort(self, sort: SortField) -> SortField:
        """A sort key in the dialect's forms."""
        return SortField(self.lower(sort.expression), sort.ascending, sort.nulls_first)

    def _tried(self, expression: Tried, rule: Callable[[Tried], Found]) -> Found | Expression:
        """What an expression becomes; what has no form is reported."""
        try:
            return rule(expression)
        except Unsupported as problem:
            if not isinstance(problem, BrokenRule) or not self._stumbled(expression):
                self.e.lowering.report(self.e, expression, problem)
        except UNEXPECTED as error:
            if not self._stumbled(expression):
                self.e.lowering.report(self.e, expression, unexpected(error, type(self.e)))
        return StandIn(types.nullable(expression.type))

    def _stumbled(self, expression: Expression) -> bool:
        """Whether a part of an expression is a stand-in, which rules may not know what to do with."""
        return any(isinstance(self._done.get(child), StandIn) for child in expression.children())

    def _lowered(self, expression: Expression) -> Expression:
        by_original = self._rule_of_original(expression)
        found = None if by_original is None else applied_if_concerned(by_original, _named(expression), self, expression)
        if found is not None:
            return found
        if isinstance(expression, ScalarFunction):
            return self._call(expression, self._operands(expression))
        if isinstance(expression, Lambda):
            return Lambda(expression.parameters, self.body(expression))
        children = self._operands(expression)
        if isinstance(expression, Cast):
            return self._cast(expression, children[0])
        if isinstance(expression, IfThen):
            return self._choice(expression, children)
        if isinstance(expression, SingularOrList):
            return self.e.or_list(children[0], tuple(children[1:]))
        found = self._retyped(expression, children)
        rule = self._rules.kinds.get(type(expression))
        if rule is None or type(found) is not type(expression):
            return found
        return applied_in_type(rule, _named(found), found.type, self.e, found)

    def _retyped(self, expression: Expression, children: Sequence[Expression]) -> Expression:
        """The expression over lowered parts, whose types may differ in nullability from what they were."""
        if isinstance(expression, FieldReference):
            return self._reference(expression)
        if isinstance(expression, Literal):
            return literal_without_length(self.e.dialect, expression)
        if isinstance(expression, Subquery):
            relation = self.e.lowering.subquery(expression.relation)
            expression = expression if relation is expression.relation else expression.with_relation(relation)
        return expression.with_children(children)

    def _reference(self, reference: FieldReference) -> Expression:
        if reference.outer:
            return reference
        if reference.parameter is not None or self._results is not None:
            return part_of(self.root(reference), reference)
        if reference.path:
            return reference
        kind = self.e.columns[reference.ordinal]
        return reference if kind == reference.type else FieldReference(reference.ordinal, kind)

    def root(self, reference: FieldReference) -> Expression:
        """The column, or the lambda's parameter, that a reference is into."""
        if reference.parameter is not None:
            around = len(self._lambdas) - 1 - reference.parameter
            if around < 0:
                raise LookupError("a parameter of a lambda that is not around it")
            further_in = sum(each.stays for each in self._lambdas[around + 1 :])
            return self._lambdas[around].meaning(reference.ordinal, further_in)
        if self._results is not None:
            return self._results[reference.ordinal]
        return FieldReference(reference.ordinal, self.e.columns[reference.ordinal])

    def body(self, function: Lambda, meaning: Meaning | None = None, *, stays: bool = True) -> Expression:
        """The lowered body of a lambda.

        `meaning` tells what takes the place of its parameters; without it they stay parameters. `stays`: whether the body
        is to be in a lambda again.
        """
        around = Around(meaning or partial(_parameter, function.parameters), stays)
        return ExpressionLowering(self.e, self._results, (*self._lambdas, around)).lower(function.body)

    @property
    def in_lambda(self) -> bool:
        """Whether what is lowered is in a lambda."""
        return any(each.stays for each in self._lambdas)

    def _call(self, call: ScalarFunction, children: Sequence[Expression]) -> Expression:
        if tuple(children) != call.children():
            call = redeclared(self.e, call, put_back(call.arguments, children))
        return lowered_call(self.e, call)

    def _cast(self, cast: Cast, input: Expression) -> Expression:
        target = without_length(self.e.dialect, cast.type)
        if target is not cast.type and cast.type.kind in TEXT_OF_LENGTH:
            require_fitting(cast)
            return lowered_cast(self.e, Cast(input, target, cast.throws, cast.checks))
        if input is cast.input:
            return lowered_cast(self.e, cast)
        target = cast.type
        if isinstance(input, Cast) and not isinstance(cast.input, Cast) and _changes_nothing(input, target):
            input = input.input
            target = types.with_nullable(target, input.type.nullable or not cast.throws)
        return lowered_cast(self.e, Cast(input, target, cast.throws, cast.checks))

    def _choice(self, choice: IfThen, children: Sequence[Expression]) -> Expression:
        kinds = {part.type for part in (*children[1::2], children[-1])}
        if len(kinds) == 1 and all(new is old for new, old in zip(children, choice.children(), strict=True)):
            return self.e.chosen(choice.children())
        return self.e.chosen(children)


def _from(expression: Expression, found: Expression) -> Expression:
    """What an expression has become, which came from where that did."""
    if found is not expression:
        found.came_from(expression.origin)
    return found


def redeclared(e: LoweringBuilder, call: ScalarFunction, arguments: tuple[Expression | str, ...]) -> ScalarFunction:
    """A canonical call over other arguments, of types that may differ in nullability."""
    old = call.declaration
    shapes = tuple([a if isinstance(a, str) else a.type for a in arguments])
    before = tuple([a if isinstance(a, str) else a.type for a in call.arguments])
    declaration = old
    if _counted(before, shapes):
        # What takes anything takes counts as it does intervals; the rule for any other function knows what it gets.
        declaration = registry.resolve("scalar", old.alias, old.name, shapes) or old
    elif shapes != before:
        arguments = _alike_as_before(e, before, arguments)
        declaration = e.resolve("scalar", old.function, arguments)
        result = without_length(e.dialect, old.result)
        declaration = registry.stated(declaration, types.with_nullable(result, _any_null(arguments)))
    found = ScalarFunction(declaration, arguments, call.options, call.raising)
    found.came_from(call.origin)
    return found


def _alike_as_before(
    e: LoweringBuilder, before: Sequence[str | Type], arguments: tuple[Expression | str, ...]
) -> tuple[Expression | str, ...]:
    """The arguments; those that were of one nested type are so again, if it is another one now."""
    found = list(arguments)
    for kind in dict.fromkeys(each for each in before if not isinstance(each, str) and each.parameters):
        places = [n for n, each in enumerate(before) if each == kind]
        values = [each for n in places if isinstance(each := arguments[n], Expression)]
        if len({value.type for value in values}) > 1 and all(
            types.equal_but_nullability(value.type, kind) for value in values
        ):
            for n, value in zip(places, e.alike(values), strict=True):
                found[n] = value
    return tuple(found)


def _counted(before: Sequence[str | Type], shapes: Sequence[str | Type]) -> bool:
    """Whether arguments were intervals and are counts now."""
    return any(
        not isinstance(old, str) and not isinstance(new, str) and is_counted(old, new)
        for old, new in zip(before, shapes, strict=True)
    )


def is_count(expression: Expression, found: Expression) -> bool:
    """Whether an interval has become a count."""
    return is_counted(expression.type, found.type)


def is_counted(old: Type, new: Type) -> bool:
    """Whether a type of intervals has become one of counts."""
    return old.kind in INTERVALS and new.kind not in INTERVALS


def over_lowered(
    e: LoweringBuilder,
    old: Declaration,
    before: Sequence[Expression],
    after: Sequence[Expression],
    arguments: Arguments,
) -> Declaration:
    """The declaration of an aggregate or window function whose parts are lowered.

    What takes anything takes counts as it does intervals; the rule for any other function sees the declaration that it had.
    """
    if not any(is_count(was, now) for was, now in zip(before, after, strict=True)):
        if old.users:  # it takes what it is given
            return old
        return e.resolve(old.kind, old.function, arguments)
    if old.function not in e.lowering.rules.counting:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no {old.name} of intervals, which it counts",
            "Cast the intervals to numbers, as in cast(x AS BIGINT).",
        )
    shapes = tuple([a if isinstance(a, str) else a.type for a in arguments])
    found = registry.resolve(old.kind, old.alias, old.name, shapes)
    return found if found is not None and found.compound == old.compound else old


def _any_null(arguments: Sequence[Expression | str]) -> bool:
    return any(isinstance(argument, Expression) and argument.type.nullable for argument in arguments)


def lowered_call(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A canonical call whose arguments are lowered, in the dialect's forms."""
    declaration, rules = call.declaration, e.lowering.rules
    name = declaration.function
    options = e.dialect.options_of("scalar", declaration, call.options)
    if options != call.options:
        call = ScalarFunction(declaration, call.arguments, options, call.raising)
    if e.dialect.allows_call("scalar", declaration, call.arguments, call.options):
        guard = rules.guards.get(name)
        stated = e.stated(call)
        if guard is None or not e.has_defect(guard.defect):
            return stated
        return applied_in_type(guard.rule, name, call.type, e, stated)
    rule = rules.calls.get(name)
    return e.general(call) if rule is None else applied_in_type(rule, name, call.type, e, call)


def _changes_nothing(cast: Cast, target: Type) -> bool:
    """Whether a cast to another type gives the same without this cast below it, which a rule may have made."""
    if cast.checks or not types.widens(cast.input.type, cast.type):
        return False
    kinds = {cast.input.type.kind, cast.type.kind, target.kind}
    return kinds == {"decimal"} or types.equal_but_nullability(cast.input.type, target)


def lowered_cast(e: LoweringBuilder, cast: Cast) -> Expression:
    """A canonical cast whose input is lowered, in the dialect's forms."""
    source, target = cast.input.type, cast.type
    if types.equal_but_nullability(source, target):
        return e.as_type(cast.input, target)
    e.dialect.require_type(target)
    if e.dialect.allows_cast(source, target, cast.throws):
        return e.cast(cast.input, target, cast.throws)
    rule = e.lowering.rules.casts.get((source.kind, target.kind))
    if rule is None and (value := constant_date(cast)) is not None:
        return value
    if rule is None:
        raise NotInDialect(f"the dialect {e.dialect.name} has no exact cast of {source} to {target}")
    return applied_in_type(rule, _pair(cast), target, e, cast)


def _pair(cast: Cast) -> str:
    """What a rule for casts is for, as it is told."""
    return f"casts of {cast.input.type.kind} to {cast.type.kind}"


def _named(expression: Expression) -> str:
    """What a rule for expressions is for, as it is told."""
    return expression.declaration.function if isinstance(expression, ScalarFunction) else type(expression).__name__
