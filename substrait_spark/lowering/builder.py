"""Building in the forms of a dialect: what it lacks is refused, so that another form may be tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..algebra import types
from ..algebra.builder import CallBuilder, Options, given
from ..algebra.expression import AggregateFunction, Cast, Expression, IfThen, Literal, ScalarFunction, WindowCall
from ..algebra.frame import Frame
from ..algebra.relation import Relation
from ..algebra.types import Type
from ..errors import NotInDialect
from ..extensions import registry
from . import driver
from .forms import Alike, Conjunction, Key, Raised
from .general import GENERAL
from .legality import require_expression
from .refusal_text import without_other_form

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..dialects.dialect import Dialect
    from .lowering import Lowering

Form = TypeVar("Form")
Memory = TypeVar("Memory")


class LoweringBuilder(CallBuilder):
    """Builds the expressions of one relation, and relations over it, in the forms of a dialect.

    What it builds is final, but for rewrites that ask for what is `BUILT`; what is to go through the others, too, goes
    through `lowered` and `rewritten`.
    """

    def __init__(self, lowering: Lowering, inputs: Sequence[Relation] = ()) -> None:
        super().__init__(lowering.traits)
        self.lowering = lowering
        self.dialect: Dialect = lowering.dialect
        self.rewrites = lowering.rewrites
        """The engine's rewrites, and general ones behind them."""
        self.inputs = inputs
        """The lowered inputs of the relation, where it is known."""
        self._memories: dict[Any, Any] = {}
        self._columns: Sequence[Type] | None = None

    @property
    def columns(self) -> Sequence[Type]:
        """The types of the inputs' columns."""
        if self._columns is None:
            self._columns = [kind for input in self.inputs for kind in input.types]
        return self._columns

    def over(self, *inputs: Relation) -> Self:
        """A builder over the columns of other relations."""
        return type(self)(self.lowering, inputs)

    def resolve(self, kind: str, function: str, arguments: Sequence[Any]) -> registry.Declaration:
        """The declaration of a function, `alias:name`; aliases may be those that the dialect has for its dependencies."""
        if self.dialect.aliases:
            alias, _, name = function.rpartition(":")
            function = f"{self.dialect.aliases.get(alias, alias)}:{name}"
        return super().resolve(kind, function, arguments)

    def has_defect(self, name: str) -> bool:
        """Whether the engine gets something wrong that a rewrite is against."""
        return name in self.dialect.defects

    def memory(self, kind: Callable[[Self], Memory]) -> Memory:
        """What rewrites keep while they lower one relation: one of a kind, made when it is first asked for."""
        if kind not in self._memories:
            self._memories[kind] = kind(self)
        return self._memories[kind]  # type: ignore[no-any-return]

    def rewritten(self, form: Any) -> Any:
        """What becomes of an expression, a relation or a form of `lowering.forms` whose parts are lowered."""
        return driver.rewritten(self, form)

    def _built(self, node: Expression) -> Expression:
        """An expression that is built, as the engine may have it."""
        rewrites = self.rewrites.built.get(type(node))
        return node if rewrites is None else driver.built(self, rewrites, node)

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
            return self._native(function, arguments, options)
        except NotInDialect:
            general = GENERAL.missing.get(function)
            if general is None or self.rewrites.missing[function] is not general:
                raise
        declaration = self.resolve("scalar", function, arguments)
        return self.general(ScalarFunction(declaration, arguments, self.options_of(declaration, options)))

    def general(self, call: ScalarFunction) -> Expression:
        """What becomes of a call that the dialect lacks where the engine has no rewrite for it; refused where nothing does.

        For a rewrite that is about some calls of a function only.
        """
        general = GENERAL.missing.get(call.declaration.function)
        lacking = self.lacks(call)
        if general is None:
            raise lacking
        try:
            return driver.in_type(general, call.type, self, call)
        except NotInDialect as problem:
            if problem.lacking == lacking.lacking:
                raise
            raise without_other_form(self.dialect, lacking, [problem]) from None

    def options_of(self, declaration: registry.Declaration, options: Mapping[str, str | None]) -> Options:
        """The options that a call states: those that are given, and those that the dialect's function must have."""
        return self.dialect.options_of(declaration.kind, declaration, given(options))

    def native_call(self, function: str, *arguments: Expression | str, **options: str | None) -> Expression:
        """A call by `alias:name` of a function that the dialect has as it stands."""
        return self._native(function, arguments, options)

    def _native(
        self, function: str, arguments: tuple[Expression | str, ...], options: Mapping[str, str | None]
    ) -> Expression:
        declaration = self.resolve("scalar", function, arguments)
        return self.built_call(ScalarFunction(declaration, arguments, self.options_of(declaration, options)))

    def built_call(self, call: ScalarFunction) -> Expression:
        """A call that the dialect has as it stands, as the engine may have it."""
        rewrites = self.rewrites.built.get(call.declaration.function)
        if rewrites is not None:
            built = driver.built(self, rewrites, call)
            if built is not call:
                return built
        return self.native_form(call)

    def guarded(self, function: str, *arguments: Expression) -> Expression:
        """A call of a function that the dialect has as it stands, and what is against its defect where there is such."""
        self.native_call(function, *arguments)
        return self.lowered(function, *arguments)

    def _scalar(
        self, declaration: registry.Declaration, arguments: tuple[Expression | str, ...], options: Options
    ) -> ScalarFunction:
        return self.native_form(ScalarFunction(declaration, arguments, options))

    def lacks(self, call: ScalarFunction) -> NotInDialect:
        """Why there is no form of a call."""
        try:
            self.dialect.require_function("scalar", call.declaration, call.arguments, call.options)
        except NotInDialect as problem:
            return problem
        return NotInDialect(
            f"the dialect {self.dialect.name} has no function {call.declaration.compound}", self.dialect.hint
        )

    def native_form(self, call: ScalarFunction) -> ScalarFunction:
        """A call that the dialect has as it stands."""
        rewrites = self.rewrites.built.get(ScalarFunction)
        if rewrites is not None:
            for rewrite in rewrites:
                call = driver.applied(rewrite, ScalarFunction, self, call)
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

    def null(self, type: Type) -> Expression:
        """A null of a type."""
        return self._built(Literal(None, types.nullable(type)))

    def as_type(self, input: Expression, type: Type) -> Expression:
        """The same value in a type that differs in nullability only, where the dialect has the cast for it."""
        value = super().as_type(input, type)
        if value is not input and isinstance(value, Cast):
            value = self._built(value)
            require_expression(self.dialect, value)
        return value

    def cast(self, input: Expression, type: Type, throws: bool = True) -> Expression:
        """A cast as the engine has it, as nullable as its input must make it; none where there is nothing to do."""
        target = types.with_nullable(type, input.type.nullable or not throws)
        if types.equal_but_nullability(input.type, target):
            return self.as_type(input, target)
        self.dialect.require_type(target)
        return self._built(Cast(input, target, throws))

    def narrow(self, input: Expression, type: Type, throws: bool) -> Expression:
        """A checked cast of what an engine computes in a wider type than the call declares."""
        target = types.with_nullable(type, input.type.nullable or not throws)
        return self._built(Cast(input, target, throws, checks=True))

    def if_then(self, *parts: Expression) -> Expression:
        """`if_then(condition, value, …, otherwise)`, where the dialect has such expressions."""
        rewrites = self.rewrites.built.get(IfThen, ())
        value: Expression | None = None
        if rewrites:
            choice = IfThen(tuple(zip(parts[:-1:2], parts[1::2], strict=True)), parts[-1])
            made = driver.built(self, rewrites, choice)
            value = None if made is choice else made
        if value is None:
            value = super().if_then(*parts)
        require_expression(self.dialect, value)
        return value

    def alike(self, inputs: Sequence[Expression]) -> list[Expression]:
        """The same values, all in one type, as branches and list elements must be; types differ in nullability only."""
        return super().alike(self.rewritten(Alike(inputs)).values if Alike in self.rewrites.lowered else inputs)

    def raises(self, message: str, type: Type, witness: Expression) -> Expression:
        """An expression that raises when it is evaluated. `witness`: a value of the row."""
        return self.rewritten(Raised(message, type, witness))  # type: ignore[no-any-return]

    def error_text(self, message: str, witness: Expression) -> Expression:
        """What an error says: the message, and a value of the row."""
        shown = self.coalesce(self.cast(witness, types.STRING), self.literal("", types.STRING))
        return self.call(
            "string:concat", self.literal(message + " ", types.STRING), shown, null_handling="ACCEPT_NULLS"
        )

    def conjunction(self, operands: Sequence[Expression]) -> Expression:
        """The AND of a filter's conjuncts; later ones that may raise are evaluated where earlier hold."""
        return self.rewritten(Conjunction(operands))  # type: ignore[no-any-return]

    def connected(self, name: str, operands: Sequence[Expression]) -> Expression:
        """The `and` or `or` of operands, where later ones that may raise are evaluated only if the earlier leave it open."""
        return operands[0] if len(operands) == 1 else self.lowered(f"boolean:{name}", *operands)

    def key(self, value: Expression) -> Expression:
        """What to group or partition by for rows that have the same value."""
        return self.rewritten(Key(value))  # type: ignore[no-any-return]
