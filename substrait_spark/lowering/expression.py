"""Lowering the expressions of one relation, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
from ..algebra.types import Type
from ..dialects.rewrite import Conversion, Rewrite
from ..errors import UNEXPECTED, NotInDialect, Unsupported
from ..extensions import registry
from .driver import applied, if_concerned, in_type, require_type, rewritten
from .general import GENERAL
from .legality import require_form
from .refusal_text import no_cast
from .text_length import KINDS as TEXT_OF_LENGTH
from .text_length import literal_without_length, require_fitting, without_length

if TYPE_CHECKING:
    from ..extensions.registry import Declaration
    from .builder import LoweringBuilder

Arguments = Sequence["Expression | str"]

Made = TypeVar("Made")


Meaning = Callable[[int, int], Expression]
"""Gives the lowered expression that a lambda's parameter stands for, by its ordinal and the number of lambdas in between."""


Refusal = tuple[Expression, Exception]
"""An expression, and what was raised where its form was looked for."""


class Undecided(StandIn):
    """Takes the place of an expression without a form, until what is around it has one for both, or there is none."""

    __slots__ = ("problems",)

    def __init__(self, type: Type, problems: Sequence[Refusal]) -> None:
        super().__init__(type)
        self.problems = tuple(problems)


class Around(NamedTuple):
    """A lambda that the lowered expression is in: what its parameters stand for, and whether it stays a lambda."""

    meaning: Meaning
    stays: bool


def _parameter(kinds: Sequence[Type], ordinal: int, steps: int) -> Expression:
    return FieldReference(ordinal, kinds[ordinal], parameter=steps)


class ExpressionLowering:
    """Lowers the expressions of one relation; what can't be is reported, and a stand-in takes its place.

    `results`: the expression that each column stands for, where the relation that computes the columns isn't built yet (`PendingColumns`):
    these then take the place of references to the columns.
    """

    def __init__(
        self, e: LoweringBuilder, results: Sequence[Expression] | None = None, lambdas: tuple[Around, ...] = ()
    ) -> None:
        self.e = e
        self._results = results
        self._lambdas = lambdas
        self._rewrites = e.rewrites
        self._done: dict[Expression, Expression] = {}
        self._at_work = 0
        """How many forms are being tried, each inside the one before."""
        self._columns = None if results is not None or self._rewrites.are_about(FieldReference) else e.columns
        """The types of the columns, where references to these stay references; None where they are replaced or rewritten."""

    def lower(self, root: Expression) -> Expression:
        """The expression in the dialect's forms, in its type but for nullability."""
        lowered = rebuilt(root, self._done, self._by_itself, self._before, self._over_parts)
        return self._settled(lowered) if isinstance(lowered, Undecided) else lowered

    def _settled(self, undecided: Undecided) -> Expression:
        """What takes the place of an expression without a form, where nothing around it may have one for both."""
        if self._at_work or self._lambdas:
            raise undecided.problems[0][1]
        for expression, problem in undecided.problems:
            self.e.lowering.failed(expression, problem)
        return StandIn(undecided.type)

    def _over_parts(self, expression: Expression) -> Expression:
        if self._rewrites.refused and (problems := self._undecided(expression)):
            return self._refused(expression, problems)
        lowered = self._tried(expression, self._with_whole_values)
        return StandIn(types.nullable(expression.type)) if lowered is None else _from(expression, lowered)

    def _undecided(self, expression: Expression) -> list[Refusal]:
        """Why there is no form of parts of an expression, which may have one with them."""
        parts = [self._done.get(child) for child in expression.children()]
        return [problem for part in parts if isinstance(part, Undecided) for problem in part.problems]

    def _by_itself(self, expression: Expression) -> Expression | None:
        """A column; or an expression by a rewrite that sees the original, and has the parts lowered itself; else None."""
        if self._columns is not None and is_column(expression):
            kind = self._columns[expression.ordinal]
            return (
                expression if kind is expression.type else _from(expression, FieldReference(expression.ordinal, kind))
            )
        rewrites = self._of_original(expression)
        return None if not rewrites else self._by_original(expression, rewrites)

    def _of_original(self, expression: Expression) -> Sequence[Rewrite]:
        """The rewrites that see an expression before its parts are lowered."""
        rewrites, dialect = self._rewrites, self.e.dialect
        if isinstance(expression, ScalarFunction):
            name = expression.declaration.function
            missing, others = rewrites.missing_original.get(name), rewrites.original.get(name, ())
            if (missing is None and not others) or dialect.allows_call(
                "scalar", expression.declaration, expression.arguments, expression.options
            ):
                return others
        elif isinstance(expression, Cast):
            pair = (expression.input.type.kind, expression.type.kind)
            missing, others = rewrites.missing_original.get(pair), rewrites.original.get(pair, ())
            if (missing is None and not others) or dialect.allows_cast(
                expression.input.type, expression.type, expression.throws
            ):
                return others
        else:
            return rewrites.original.get(type(expression), ())
        return () if missing is None else (missing,)

    def _by_original(self, expression: Expression, rewrites: Sequence[Rewrite]) -> Expression | None:
        """The result of the first rewrite that is for this expression, whose parts are not lowered yet; None where none is."""

        def tried(original: Expression) -> Expression | None:
            for rewrite in rewrites:
                given = if_concerned(rewrite, self, original)
                if given is not None:
                    require_type(rewrite, given, original.type, self._rewrites)
                    return given
            return None

        given = self._tried(expression, tried)
        return None if given is None else _from(expression, given)

    def _before(self, expression: Expression) -> Sequence[Expression]:
        """The expressions below that are lowered first; but for lambdas of a call whose rewrite lowers them itself."""
        children = expression.children()
        if not children:
            return children
        if isinstance(expression, Lambda):
            return ()
        if not self._of_both(expression):
            return children
        return [child for child in children if not isinstance(child, Lambda)]

    def _of_both(self, expression: Expression) -> Sequence[Rewrite]:
        target = expression.declaration.function if isinstance(expression, ScalarFunction) else type(expression)
        return self._rewrites.both.get(target, ())

    def _operands(self, expression: Expression) -> list[Expression]:
        """The lowered expressions of the parts."""
        children = expression.children()
        lowered = [self._done[child] for child in children]
        if self._rewrites.conversions:
            for child, each in zip(children, lowered, strict=True):
                if self.is_converted(child.type, each.type) and not self._takes_converted(expression, child.type):
                    raise self._no_value(child.type, expression)
        return lowered

    def is_converted(self, old: Type, new: Type) -> bool:
        """Whether an engine has values of this type as those of another (`Conversion`)."""
        return old.kind != new.kind and old.kind in self._rewrites.conversions

    def _takes_converted(self, expression: Expression, kind: Type) -> bool:
        """Whether an expression may be over the converted values of a type."""
        if isinstance(expression, Cast):
            return (expression.input.type.kind, expression.type.kind) in self._rewrites.missing
        if not isinstance(expression, ScalarFunction):
            return isinstance(expression, IfThen | SingularOrList | Shared)
        return expression.declaration.function in self._rewrites.conversions[kind.kind].takes

    def _no_value(self, kind: Type, user: Expression) -> Unsupported:
        """Why there may be no value of a type that is converted: the dialect has no such type, or not what uses it."""
        dialect = self.e.dialect
        try:
            dialect.require_type(kind)
            if isinstance(user, ScalarFunction):
                dialect.require_function("scalar", user.declaration, user.arguments, user.options)
            dialect.require_type(kind, column=True)
        except Unsupported as problem:
            return problem
        conversion = self._rewrites.conversions[kind.kind]
        return NotInDialect(f"the dialect {dialect.name} has {kind} as {conversion.becomes} only", conversion.hint)

    def lower_all(self, expressions: Sequence[Expression]) -> list[Expression]:
        return [self.lower(expression) for expression in expressions]

    def sort(self, sort: SortField) -> SortField:
        """A sort key in the dialect's forms."""
        lowered: SortField = self.e.rewritten(sort.by(self.lower(sort.expression)))
        return lowered

    def _tried(self, expression: Expression, lowered: Callable[[Expression], Expression | None]) -> Expression | None:
        """What a function makes of an expression. What it raises is reported, and a stand-in takes the expression's place."""
        if self._rewrites.refused:
            return self._tried_last(expression, lowered)
        try:
            return lowered(expression)
        except (Unsupported, *UNEXPECTED) as error:
            self.e.lowering.failed(expression, error, map(self._done.get, expression.children()))
        return StandIn(types.nullable(expression.type))

    def _tried_last(
        self, expression: Expression, lowered: Callable[[Expression], Expression | None]
    ) -> Expression | None:
        """`_tried`, where there are rewrites of what has no form: of what they don't take, it is still open who reports it."""
        try:
            with self._raising():
                form = lowered(expression)
                if form is not None:
                    require_form(self.e.dialect, form)
        except (Unsupported, *UNEXPECTED) as error:
            return self._refused(expression, [(expression, error)])
        is_deep = form is not None and form.height > self.e.lowering.deepest
        return self._taken(expression) or form if is_deep else form

    def _refused(self, expression: Expression, problems: Sequence[Refusal]) -> Expression:
        """What a rewrite makes of an expression that the dialect lacks, or what tells why there is no form."""
        lacking = all(isinstance(problem, NotInDialect) for _, problem in problems)
        taken = self._taken(expression) if lacking else None
        return taken or Undecided(types.nullable(expression.type), problems)

    def _taken(self, expression: Expression) -> Expression | None:
        """What a rewrite of what has no form makes of an expression; None where none takes it."""
        if self._lambdas:  # what is in a lambda is handed over with the call that the lambda is for
            return None
        with suppress(Unsupported), self._raising():  # the first reason says more
            for rewrite in self._rewrites.refused.get(Expression, ()):
                given = if_concerned(rewrite, self, expression)
                if given is not None:
                    require_type(rewrite, given, expression.type, self._rewrites)
                    return given
        return None

    def or_refused(self, form: Callable[[], Made], kinds: Any, refused: Sequence[Rewrite], *original: Any) -> Made:
        """A form; where there is none, what the first rewrite of what has no form gives of the original. `kinds` are its classes."""
        with self._raising():
            try:
                return form()
            except NotInDialect:
                for rewrite in refused:
                    given: Made | None = applied(rewrite, kinds, self, *original)
                    if given is not None:
                        return given
                raise

    @contextmanager
    def _raising(self) -> Iterator[None]:
        """While this is entered, what has no form is raised by `lower`, and not reported."""
        self._at_work += 1
        try:
            yield
        finally:
            self._at_work -= 1

    def _with_whole_values(self, expression: Expression) -> Expression:
        """The lowered expression. Raises NotInDialect for one whose parts are converted values: functions take them for what they are."""
        lowered, kind = self._lowered(expression), expression.type
        if kind.parameters and kind is not lowered.type and self._rewrites.conversions:
            nested = types.holds(kind, tuple(self._rewrites.conversions)) and not self.is_converted(kind, lowered.type)
            if nested and not types.equal_but_nullability(kind, lowered.type):
                self.e.dialect.require_type(kind)
        return lowered

    def _lowered(self, expression: Expression) -> Expression:
        by_both = self._of_both(expression)
        lowered = self._by_original(expression, by_both) if by_both else None
        if lowered is not None:
            return lowered
        if isinstance(expression, ScalarFunction):
            return self._call(expression, self._operands(expression))
        if isinstance(expression, Lambda):
            return Lambda(expression.parameters, self.body(expression))
        children = self._operands(expression)
        if isinstance(expression, Cast):
            return self._cast(expression, children[0])
        lowered = self._retyped(expression, children)
        about = type(lowered) is type(expression) and type(lowered) in self._rewrites.lowered
        return rewritten(self.e, lowered) if about else lowered

    def _retyped(self, expression: Expression, children: Sequence[Expression]) -> Expression:
        """The expression over lowered parts, whose types may differ in nullability from what they were."""
        if isinstance(expression, FieldReference):
            return self._reference(expression)
        if isinstance(expression, Literal):
            conversion = self._rewrites.conversions.get(expression.type.kind)
            if conversion is not None:
                return converted_literal(conversion, expression)
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
        if cast.type.kind in self._rewrites.conversions or self.is_converted(cast.input.type, input.type):
            return self._converting_cast(cast, input)
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

    def _converting_cast(self, cast: Cast, input: Expression) -> Expression:
        """A cast of or to a type that is converted, by the rewrite for the types that the cast was between."""
        missing = self._rewrites.missing.get((cast.input.type.kind, cast.type.kind))
        if missing is None:
            raise no_cast(self.e.dialect, cast)
        return in_type(missing, cast.type, self.e, Cast(input, cast.type, cast.throws, cast.checks))


def converted_literal(conversion: Conversion, literal: Literal) -> Literal:
    """The literal in the type that values of its type become."""
    value = literal.value
    if value is not None and conversion.literal is not None:
        value = conversion.literal(value, literal.type)
    return Literal(value, conversion.becomes)


def _from(expression: Expression, lowered: Expression) -> Expression:
    """What an expression has become, which came from where that did."""
    if lowered is not expression:
        lowered.came_from(expression.origin)
    return lowered


def redeclared(e: LoweringBuilder, call: ScalarFunction, arguments: tuple[Expression | str, ...]) -> ScalarFunction:
    """A canonical call over other arguments, of types that may differ in nullability."""
    old = call.declaration
    shapes = tuple([a if isinstance(a, str) else a.type for a in arguments])
    before = tuple([a if isinstance(a, str) else a.type for a in call.arguments])
    declaration = old
    if any(not isinstance(old, str) and _is_converted(e, old, new) for old, new in zip(before, shapes, strict=True)):
        # What takes anything takes converted values, too; the rewrite of any other function knows what it gets.
        declaration = registry.resolve("scalar", old.alias, old.name, shapes) or old
    elif shapes != before:
        arguments = _alike_as_before(e, before, arguments)
        declaration = e.resolve("scalar", old.function, arguments)
        result = without_length(e.dialect, old.result)
        declaration = registry.stated(declaration, types.with_nullable(result, _any_null(arguments)))
    new_call = ScalarFunction(declaration, arguments, call.options, call.raising)
    new_call.came_from(call.origin)
    return new_call


def _alike_as_before(
    e: LoweringBuilder, before: Sequence[str | Type], arguments: tuple[Expression | str, ...]
) -> tuple[Expression | str, ...]:
    """The arguments. Those that had the same nested type before they were lowered are brought into one type again."""
    alike = list(arguments)
    for kind in dict.fromkeys(each for each in before if not isinstance(each, str) and each.parameters):
        places = [n for n, each in enumerate(before) if each == kind]
        values = [each for n in places if isinstance(each := arguments[n], Expression)]
        if len({value.type for value in values}) > 1 and all(
            types.equal_but_nullability(value.type, kind) for value in values
        ):
            for n, value in zip(places, e.alike(values), strict=True):
                alike[n] = value
    return tuple(alike)


def _is_converted(e: LoweringBuilder, old: Type, new: Type | str) -> bool:
    return not isinstance(new, str) and old.kind != new.kind and old.kind in e.rewrites.conversions


def over_lowered(
    e: LoweringBuilder,
    old: Declaration,
    before: Sequence[Expression],
    after: Sequence[Expression],
    arguments: Arguments,
) -> Declaration:
    """The declaration of an aggregate or window function whose parts are lowered.

    What takes anything takes converted values, too; the rewrite of any other function sees the declaration that it had.
    """
    converted = [was.type for was, now in zip(before, after, strict=True) if _is_converted(e, was.type, now.type)]
    if not converted:
        if old.users:  # it takes what it is given
            return old
        return e.resolve(old.kind, old.function, arguments)
    for kind in converted:
        conversion = e.rewrites.conversions[kind.kind]
        if old.function not in conversion.takes:
            raise NotInDialect(
                f"the dialect {e.dialect.name} has no {old.name} of {types.required(kind)}, which it has as {conversion.becomes}",
                conversion.hint,
            )
    shapes = tuple([a if isinstance(a, str) else a.type for a in arguments])
    resolved = registry.resolve(old.kind, old.alias, old.name, shapes)
    return resolved if resolved is not None and resolved.compound == old.compound else old


def _any_null(arguments: Sequence[Expression | str]) -> bool:
    return any(isinstance(argument, Expression) and argument.type.nullable for argument in arguments)


def lowered_call(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A canonical call whose arguments are lowered, in the dialect's forms."""
    declaration = call.declaration
    name = declaration.function
    options = e.dialect.options_of("scalar", declaration, call.options)
    if options != call.options:
        call = ScalarFunction(declaration, call.arguments, options, call.raising)
    if not e.dialect.allows_call("scalar", declaration, call.arguments, call.options):
        missing = e.rewrites.missing.get(name)
        if missing is None:
            raise e.lacks(call)
        general = GENERAL.missing.get(name)
        return e.general(call) if missing is general else in_type(missing, call.type, e, call)
    lowered = e.built_call(call)
    for rewrite in e.rewrites.lowered.get(name, ()):
        if not isinstance(lowered, ScalarFunction) or lowered.declaration.function != name:
            break
        lowered = in_type(rewrite, call.type, e, lowered)
    return lowered


def _changes_nothing(cast: Cast, target: Type) -> bool:
    """Whether the cast below another cast can be left out; rewrites may make such pairs."""
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
    pair = (source.kind, target.kind)
    if e.dialect.allows_cast(source, target, cast.throws):
        lowered = e.cast(cast.input, target, cast.throws)
        for rewrite in e.rewrites.lowered.get(pair, ()):
            if isinstance(lowered, Cast):
                lowered = in_type(rewrite, target, e, lowered)
        return lowered
    missing = e.rewrites.missing.get(pair)
    if missing is None:
        raise no_cast(e.dialect, cast)
    return in_type(missing, target, e, cast)
