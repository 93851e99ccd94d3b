"""Goes over a canonical plan, and puts the forms of the concessions that are accepted in the places of its calls."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.builder import CallBuilder, Traits
from ...algebra.depth import cut
from ...algebra.expression import AggregateFunction, Expression, FieldReference, ScalarFunction, Subquery, WindowCall
from ...algebra.references import shared_relations
from ...algebra.relation import Aggregate, Place, Reference, Relation, Window
from ...algebra.sharing import share
from ...algebra.traversal import columns, inputs_first, rebuilt, relations_below, subquery_relations
from ...dialects.dialect import Dialect
from ...plan.concessions import Use
from ...plan.message import RELATION_DEPTH
from ..problems import places
from . import decimals, overflow
from .forms import AggregateForm, Called, Form

SCALARS = {
    function: [form for table in (overflow.SCALARS, decimals.SCALARS) if (form := table.get(function)) is not None]
    for function in {**overflow.SCALARS, **decimals.SCALARS}
}

AGGREGATES = {**overflow.AGGREGATES, **decimals.AGGREGATES}


def conceded(root: Relation, dialect: Dialect, traits: Traits) -> tuple[Relation, Sequence[Use]]:
    """The plan with the forms of the concessions that the dialect accepts, and where these were used.

    What a dialect lists as it stands needs no concession.
    """
    if not dialect.accepted:
        return root, ()
    conceding = _Conceding(dialect, CallBuilder(traits))
    return conceding.of_plan(root), tuple(dict.fromkeys(conceding.uses))


OPERANDS = 2
"""How many arguments a place tells: a third is there for its type alone."""


class _Conceding:
    def __init__(self, dialect: Dialect, builder: CallBuilder) -> None:
        self.uses: list[Use] = []
        self._dialect = dialect
        self._e = builder
        self._done: dict[Relation, Relation] = {}
        self._here = ""

    def of_plan(self, root: Relation) -> Relation:
        """The root, after the relations that it refers to."""
        for each in (*shared_relations(root), root):
            place_of = _places(each)
            for relation in inputs_first(each, subqueries=True, known=self._done):
                place = place_of.get(relation) or relation.place
                self._here = place.path if place is not None else ""
                self._done[relation] = self._of(relation)
        return share(self._done[root])

    def _of(self, relation: Relation) -> Relation:
        """A relation whose inputs are done."""
        if isinstance(relation, Reference):
            return Reference(cut(share(self._done[relation.shared]), RELATION_DEPTH))
        inputs = tuple([self._done[input] for input in relation.inputs])
        before = relation.expressions()
        after = [self._expression(each) for each in before]
        if any(new is not old for new, old in zip(after, before, strict=True)):
            relation = relation.over(inputs, after)
        else:
            relation = relation.with_inputs(inputs)
        return self._with_calls(relation) if isinstance(relation, Aggregate | Window) else relation

    # ---- expressions

    def _expression(self, root: Expression) -> Expression:
        done: dict[Expression, Expression] = {}

        def over_parts(expression: Expression) -> Expression:
            new = expression.with_children([done[child] for child in expression.children()])
            if isinstance(new, Subquery):
                return new.with_relation(share(self._done[new.relation]))
            return self._scalar(new) if isinstance(new, ScalarFunction) else new

        return rebuilt(root, done, lambda _: None, lambda expression: expression.children(), over_parts)

    def _scalar(self, call: ScalarFunction) -> Expression:
        """What becomes of a call: by all concessions that are accepted, one after the other."""
        for rule in SCALARS.get(call.declaration.function, ()):
            if self._dialect.names_function("scalar", call.declaration, call.options):
                return call
            form: Form | None = rule(self._e, call)
            if form is not None and form.needs <= self._dialect.accepted:
                self._note(form.needs, call)
                value = self._e.as_type(form.value, call.type)
                value.came_from(call.origin)
                return value
        return call

    # ---- calls of aggregate functions

    def _with_calls(self, relation: Aggregate | Window) -> Relation:
        """A relation with other calls, and above it what makes their results those that there were."""
        before: Sequence[Called] = relation.functions()
        forms = [self._called(call) for call in before]
        if not any(forms):
            return relation
        pairs = list(zip(before, forms, strict=True))
        calls = [call if form is None else self._over(call, form) for call, form in pairs]
        made = _with(relation, calls)
        made.place, made.hint = relation.place, relation.hint
        own = [FieldReference(n, kind) for n, kind in enumerate(made.types)]
        results: list[Expression] = list(own)
        start = len(relation.inputs[0].types) if isinstance(relation, Window) else len(relation.groupings)
        for n, (call, form) in enumerate(pairs, start):
            if form is not None:
                results[n] = self._e.as_type(self._e.cast(own[n], call.type, form.throws), call.type)
        above = columns(made, [results[n] for n in relation.emitted])
        above.place = relation.place
        return above

    def _called(self, call: Called) -> AggregateForm | None:
        rule = AGGREGATES.get(call.declaration.function)
        if rule is None or self._dialect.names_function("aggregate", call.declaration, call.options):
            return None
        form = rule(self._e, call)
        if form is None or not form.needs <= self._dialect.accepted:
            return None
        self._note(form.needs, call)
        return form

    def _over(self, call: Called, form: AggregateForm) -> Called:
        declaration = self._e.resolve("aggregate", form.function, (form.argument,))
        made: Called
        if isinstance(call, WindowCall):
            made = WindowCall(declaration, (form.argument,), call.rows, call.lower, call.upper, form.options)
        else:
            made = AggregateFunction(
                declaration, (form.argument,), form.options, call.distinct, call.sorts, call.filter
            )
        made.came_from(call.origin)
        return made

    def _note(self, names: frozenset[str], call: ScalarFunction | Called) -> None:
        what = call.origin.name if call.origin is not None else call.declaration.name
        kinds = [str(each.type) for each in call.arguments[:OPERANDS] if isinstance(each, Expression)]
        place = f"{self._here or 'the plan'}: {what} of {', '.join(kinds)}"
        self.uses += [Use(name, place) for name in sorted(names)]


def _places(root: Relation) -> dict[Relation, Place]:
    """Where the relations of a plan came from, those of subqueries too."""
    place_of: dict[Relation, Place] = {}
    for query in (root, *[q for each in relations_below(root, subqueries=True) for q in subquery_relations(each)]):
        place_of.update(places(query))
    return place_of


def _with(relation: Aggregate | Window, calls: Sequence[Called]) -> Relation:
    """A relation with all of its own columns, and other calls."""
    (input,) = relation.inputs
    if isinstance(relation, Window):
        windows = [call for call in calls if isinstance(call, WindowCall)]
        return Window(input, windows, relation.partition, relation.sorts)
    measures = [call for call in calls if isinstance(call, AggregateFunction)]
    return Aggregate(input, relation.groupings, measures, relation.sets)
