"""The way of a canonical plan into a dialect's forms.

First general rewrites give what the dialect lacks another canonical form; then relations and their expressions are lowered,
inputs first; then passes move what the engine would evaluate at the wrong place; and then all is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..algebra import types
from ..algebra.builder import Traits
from ..algebra.depth import cut
from ..algebra.expression import Expression, FieldReference, StandIn, Traced
from ..algebra.feature import STAND_IN, SUBQUERY
from ..algebra.nondeterminism import drawn_more_often
from ..algebra.references import inlined
from ..algebra.relation import Place, Relation, VirtualTable
from ..algebra.sharing import share
from ..algebra.traversal import columns, inputs_first, relations_below, subquery_relations
from ..dialects.rewrite import PLAN, Rewrites
from ..errors import UNEXPECTED, BrokenRewrite, NotInDialect, Origin, Unsupported, unknown_form
from ..plan.message import RELATION_DEPTH
from .builder import LoweringBuilder
from .driver import applied, rewritten
from .emit import projected
from .forms import Root
from .general import REWRITES
from .legality import check, require_columns
from .pending_columns import PendingColumns
from .problems import Report, places
from .refusal_text import lacking_relations, without_other_form
from .relation import lowered_relation

if TYPE_CHECKING:
    from ..dialects.dialect import Dialect


Memory = TypeVar("Memory")
Made = TypeVar("Made")


DEEPEST = 40
"""How deep forms nest, where a plan is too deep as a whole, before a rewrite of what has no form may take them."""


def lower(
    dialect: Dialect,
    report: Report,
    root: Relation,
    outputs: Sequence[Origin] = (),
    names: Sequence[str] = (),
    traits: Traits | None = None,
) -> Relation:
    """A plan in the dialect's forms, as `Lowering.lower`: in other ones of what nests deep, where there are any and it is too deep."""
    lowering = Lowering(dialect, report, traits)
    lowered = lowering.lower(root, outputs, names)
    if lowered.height <= RELATION_DEPTH or lowering.has_problems or not lowering.rewrites.refused:
        return lowered
    return Lowering(dialect, report, traits, DEEPEST).lower(root, outputs, names)


class Lowering:
    """Lowers one plan. Problems go to `report`; what they are met in is given a stand-in, so that all are found."""

    def __init__(
        self, dialect: Dialect, report: Report, traits: Traits | None = None, deepest: int = RELATION_DEPTH
    ) -> None:
        self.dialect = dialect
        self.deepest = deepest
        """How deep forms of expressions nest that a rewrite of what has no form leaves as they are."""
        self.rewrites: Rewrites = dialect.rewrites_with(REWRITES)
        """The engine's rewrites, and general ones behind them."""
        self.traits = traits or Traits()
        self._report = report
        self._places: dict[Relation, Place] = {}
        self._done: dict[Relation, Relation] = {}
        self.pending: dict[Relation, PendingColumns] = {}
        """The columns of aggregates and windows, and of filters above them, by what these relations were."""
        self._rewritten: dict[Relation, Relation] = {}
        self._settled: dict[Relation, Relation] = {}
        self._here: Relation | None = None
        self._memories: dict[Any, Any] = {}
        self._canonical: Sequence[Relation] = ()
        self._replaced: dict[tuple[str, int], list[NotInDialect]] | None = None
        """By place, what of the canonical plan the dialect lacks and general rewrites have replaced: problems tell it by name."""
        self.root: Relation | None = None
        """The canonical plan, in which general rewrites have replaced what the dialect lacks."""
        self.has_subqueries = False
        """Whether the canonical plan has any."""
        self.names: tuple[str, ...] = ()
        """The depth-first names of its columns, as far as they are known."""
        self.has_problems = False
        """Whether there is a problem."""

    def lower(self, root: Relation, outputs: Sequence[Origin] = (), names: Sequence[str] = ()) -> Relation:
        """The plan in the dialect's forms.

        `outputs` are what its columns were made from, as far as that is known; `names` the depth-first names of these.
        """
        self.names = tuple(names)
        canonical, root = root, inlined(root)
        roots = [root]
        for each in roots:
            if each.features & SUBQUERY:
                roots.extend(query for relation in relations_below(each) for query in subquery_relations(relation))
        self.has_subqueries = len(roots) > 1
        self._canonical = roots
        for each in reversed(roots):
            self._rewritten[each] = self._rewrite(each)
        self.root = self.rewritten(root)
        for each in reversed(roots):
            if each not in self._settled:
                lowered = self._lower(self.rewritten(each))
                self._settled[each] = self._settle(self._named(lowered) if each is root else lowered)
        lowered_root = self._settled[root]
        self._here = None
        if not self.has_problems:
            require_columns(self, lowered_root, outputs)
        if self.traits.draws and (problem := drawn_more_often(lowered_root, canonical)):
            self.report_output(None, problem)
        return lowered_root

    def _rewrite(self, root: Relation) -> Relation:
        for rewrite in self.rewrites.original.get(PLAN, ()):
            root = self.tried(None, partial(applied, rewrite, Relation, self, root)) or root
        return root

    def _lower(self, root: Relation) -> Relation:
        self._places.update(places(root))
        for relation in inputs_first(root):
            self._here = relation
            self._done[relation] = self.tried(None, partial(lowered_relation, self, relation)) or stand_in(relation)
        return self._done[root]

    def _named(self, root: Relation) -> Relation:
        return self.tried(None, partial(self._with_names, root)) or root

    def _with_names(self, root: Relation) -> Relation:
        root = self._converted_back(root)
        named = rewritten(self.builder(root), Root(root, self.names)) if self.names else root
        return named.relation if isinstance(named, Root) else named

    def _converted_back(self, root: Relation) -> Relation:
        """The plan with values of their own types in the columns of its result, where others held converted ones."""
        conversions = self.rewrites.conversions
        wanted = self.root.types if self.root is not None else root.types
        if not any(
            kind.kind in conversions and kind.kind != now.kind for kind, now in zip(wanted, root.types, strict=True)
        ):
            return root
        e = self.builder(root)
        own: list[Expression] = []
        for n, (kind, now) in enumerate(zip(wanted, root.types, strict=True)):
            column = FieldReference(n, now)
            is_converted = kind.kind in conversions and kind.kind != now.kind
            own.append(conversions[kind.kind].back(e, column, kind) if is_converted else column)
        return columns(root, own)

    def _settle(self, root: Relation) -> Relation:
        if self.traits.shares:
            root = share(root)
        for rewrite in self.rewrites.lowered.get(PLAN, ()):
            self.at(root, root.place)
            root = self.tried(None, partial(applied, rewrite, Relation, self.builder(), root)) or root
        root = projected(self, cut(root, RELATION_DEPTH))
        check(self, root)
        return root

    def lowered(self, relation: Relation) -> Relation:
        """The lowered form of a relation below the present one."""
        return self._done[relation]

    def rewritten(self, relation: Relation) -> Relation:
        """The plan, or the relation of a subquery, as general rewrites left it."""
        return self._rewritten[relation]

    def subquery(self, relation: Relation) -> Relation:
        """The lowered form of a subquery's relation."""
        return self._settled[relation]

    def memory(self, kind: Callable[[Lowering], Memory]) -> Memory:
        """What an engine's rewrites keep while they lower this plan: one of a kind, made when it is first asked for."""
        if kind not in self._memories:
            self._memories[kind] = kind(self)
        return self._memories[kind]  # type: ignore[no-any-return]

    def builder(self, *inputs: Relation) -> LoweringBuilder:
        """A builder over the columns of relations."""
        return LoweringBuilder(self, inputs)

    def place_of(self, relation: Relation) -> Place | None:
        """Where a relation of the plan came from, as far as that is known."""
        return self._places.get(relation)

    def tried(self, part: Traced | None, form: Callable[[], Made], over: Iterable[Expression] = ()) -> Made | None:
        """What a part of a plan becomes; None where that is reported because there is no form.

        `over`: what it is made of. Where a stand-in is among that, rewrites may not know what to do with it, and nothing is
        reported of what they raise.
        """
        try:
            return form()
        except (Unsupported, *UNEXPECTED) as error:
            self.failed(part, error, over)
        return None

    def failed(self, part: Traced | None, error: Exception, over: Iterable[Expression | None] = ()) -> None:
        """Report an exception that was raised while a part of a plan got its form. `over`: what that part is made of."""
        problem = error if isinstance(error, Unsupported) else unknown_form(error)
        may_stumble = not isinstance(error, Unsupported) or isinstance(error, BrokenRewrite)
        if not (may_stumble and any(isinstance(each, StandIn) for each in over)):
            self.report(part, problem)

    def report(self, part: Traced | None, problem: Unsupported) -> None:
        """Report a problem of the relation that is being lowered, unless the problem comes of a stand-in."""
        if isinstance(part, Expression) and part.features & STAND_IN:
            return
        self._note_here(part.origin if part is not None else None, problem)

    def report_column(self, origin: Origin | None, problem: Unsupported) -> None:
        """Note a problem with a column of the read that is being lowered."""
        self._note_here(origin, problem)

    def report_output(self, origin: Origin | None, problem: Unsupported) -> None:
        """Note a problem with a column of the result."""
        self._note("", origin, problem)

    def _note_here(self, origin: Origin | None, problem: Unsupported) -> None:
        place = self._places.get(self._here) if self._here is not None else None
        if origin is None and place is not None and isinstance(problem, NotInDialect):
            problem = self._of_what_was_here(place, problem)
        self._note(place.path if place else "", origin or (place.origin if place else None), problem)

    def _of_what_was_here(self, place: Place, problem: NotInDialect) -> NotInDialect:
        """A problem of a relation that general rewrites made, told of what they replaced: that is what the query has."""
        if self._replaced is None:
            left = self._lacking(self._rewritten.values())
            self._replaced = {
                at: [each for reason, each in lacking.items() if reason not in left.get(at, ())]
                for at, lacking in self._lacking(self._canonical).items()
            }
        replaced = self._replaced.get((place.path, id(place.origin)))
        return without_other_form(self.dialect, replaced[0], [problem]) if replaced else problem

    def _lacking(self, roots: Iterable[Relation]) -> dict[tuple[str, int], dict[str, NotInDialect]]:
        """By place and reason, what the dialect lacks of some relations and those below."""
        lacking: dict[tuple[str, int], dict[str, NotInDialect]] = {}
        for root in roots:
            place_of = places(root)
            for relation in inputs_first(root):
                if relation in place_of:
                    path, origin = place_of[relation]
                    for each in lacking_relations(self.dialect, relation):
                        lacking.setdefault((path, id(origin)), {}).setdefault(each.reason, each)
        return lacking

    def _note(self, path: str, origin: Origin | None, problem: Unsupported) -> None:
        self.has_problems = True
        self._report(path, origin, problem)

    def at(self, relation: Relation, place: Place | None) -> None:
        """Go on with another relation, which a place is known of."""
        self._here = relation
        if place is not None:
            self._places[relation] = place


def stand_in(relation: Relation) -> Relation:
    """Takes the place of what could not be lowered, so that the rest of the plan is still looked at."""
    kinds = [types.nullable(kind) for kind in relation.types]
    return VirtualTable([tuple(map(StandIn, kinds))], types.numbered(kinds), kinds)
