"""Which relations of two trees are the same ones: the matching that explains the difference with the fewest changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.trampoline import Steps, run
from ..errors.quotation import identifier
from .document import Relation
from .parts import part_text
from .text import Reference, Text, pieces

EXHAUSTIVE = 100_000
"""Up to how many pairs of relations every matching is tried; above, relations are matched from the top down."""

_CHANGED, _OTHER_LEAF, _REPLACED = 1, 3, 6
"""What it costs that a relation has other parts, that a leaf has, and that a relation is of another kind."""


class Pair(NamedTuple):
    """A relation of one tree, of the other, or one of each that stand for each other."""

    old: Relation | None
    new: Relation | None


class _Whole(NamedTuple):
    """A tree that the other plan lacks."""

    relation: Relation
    is_old: bool


class _Match(NamedTuple):
    cost: int
    pairs: tuple[object, ...]
    """Pairs and whole trees, nested, so that nothing is copied on the way up."""


def align(old: Relation, new: Relation) -> list[Pair]:
    """Every relation of both trees, in pairs where they match. Ancestors match ancestors."""
    aligner = _Aligner(old, new)
    match = run(aligner.match(old, new))
    pairs: list[Pair] = []
    stack: list[object] = [match.pairs]
    while stack:
        top = stack.pop()
        if isinstance(top, Pair):
            pairs.append(top)
        elif isinstance(top, _Whole):
            pairs += [Pair(inner, None) if top.is_old else Pair(None, inner) for inner in _every(top.relation)]
        elif isinstance(top, tuple):
            stack.extend(reversed(top))
    return pairs


class _Aligner:
    def __init__(self, old: Relation, new: Relation) -> None:
        self._texts: dict[int, str] = {}
        self._digests: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._matches: dict[tuple[int, int], _Match] = {}
        sizes = self._measure(old) * self._measure(new)
        self._exhaustive = sizes <= EXHAUSTIVE

    def _measure(self, root: Relation) -> int:
        """Note each subtree's size, and a number that is the same for equal subtrees."""
        order, stack = [], [root]
        while stack:
            relation = stack.pop()
            order.append(relation)
            stack.extend(below for _, below in relation.below())
        for relation in reversed(order):
            below = [inner for _, inner in relation.below()]
            own = self._texts[id(relation)] = own_text(relation)
            self._digests[id(relation)] = hash((own, *(self._digests[id(inner)] for inner in below)))
            self._sizes[id(relation)] = 1 + sum(self._sizes[id(inner)] for inner in below)
        return self._sizes[id(root)]

    def match(self, old: Relation, new: Relation) -> Steps[_Match]:
        """The cheapest way to make one tree of the other."""
        key = (id(old), id(new))
        if key not in self._matches:
            self._matches[key] = yield self._best(old, new)
        return self._matches[key]

    def _best(self, old: Relation, new: Relation) -> Steps[_Match]:
        olds, news = [inner for _, inner in old.below()], [inner for _, inner in new.below()]
        below = yield self._forests(olds, news)
        best = _Match(below.cost + self._own(old, new), (Pair(old, new), below.pairs))
        equal = self._digests[id(old)] == self._digests[id(new)]
        if equal or best.cost == 0 or not self._exhaustive:
            return best
        whole = self._sizes[id(old)]
        for index, inner in enumerate(olds):
            lost = whole - self._sizes[id(inner)]
            if lost < best.cost:
                others = [other for place, other in enumerate(olds) if place != index]
                match = yield self.match(inner, new)
                pairs = (Pair(old, None), match.pairs, *map(_removed, others))
                best = min(best, _Match(match.cost + lost, pairs), key=_cost)
        whole = self._sizes[id(new)]
        for index, inner in enumerate(news):
            gained = whole - self._sizes[id(inner)]
            if gained < best.cost:
                others = [other for place, other in enumerate(news) if place != index]
                match = yield self.match(old, inner)
                pairs = (Pair(None, new), match.pairs, *map(_added, others))
                best = min(best, _Match(match.cost + gained, pairs), key=_cost)
        return best

    def _own(self, old: Relation, new: Relation) -> int:
        if old.kind != new.kind:
            return _REPLACED
        if self._texts[id(old)] == self._texts[id(new)]:
            return 0
        return _CHANGED if old.inputs else _OTHER_LEAF

    def _forests(self, olds: Sequence[Relation], news: Sequence[Relation]) -> Steps[_Match]:
        """The cheapest way to make one sequence of trees of another, in their order."""
        if not olds or not news:
            lost = sum(self._sizes[id(relation)] for relation in (*olds, *news))
            return _Match(lost, (*map(_removed, olds), *map(_added, news)))
        if len(olds) == len(news) and not self._exhaustive:
            matches = []
            for old, new in zip(olds, news, strict=True):
                matches.append((yield self.match(old, new)))
            return _Match(sum(match.cost for match in matches), tuple(match.pairs for match in matches))
        rows = [_Match(0, ())]
        for new in news:
            rows.append(_Match(rows[-1].cost + self._sizes[id(new)], (rows[-1].pairs, _added(new))))
        for old in olds:
            above, rows = rows, [_Match(rows[0].cost + self._sizes[id(old)], (rows[0].pairs, _removed(old)))]
            for place, new in enumerate(news):
                match = yield self.match(old, new)
                candidates = (
                    _Match(above[place].cost + match.cost, (above[place].pairs, match.pairs)),
                    _Match(above[place + 1].cost + self._sizes[id(old)], (above[place + 1].pairs, _removed(old))),
                    _Match(rows[place].cost + self._sizes[id(new)], (rows[place].pairs, _added(new))),
                )
                rows.append(min(candidates, key=_cost))
        return rows[-1]


def _cost(match: _Match) -> int:
    return match.cost


def _removed(relation: Relation) -> _Whole:
    return _Whole(relation, is_old=True)


def _added(relation: Relation) -> _Whole:
    return _Whole(relation, is_old=False)


def _every(root: Relation) -> list[Relation]:
    relations, stack = [], [root]
    while stack:
        relation = stack.pop()
        relations.append(relation)
        stack.extend(inner for _, inner in reversed(relation.below()))
    return relations


def own_text(relation: Relation) -> str:
    """A relation's parts with references by name, so that columns which only change their places don't matter."""
    shown: list[Text] = [relation.kind, *(part_text(part) for part in relation.parts if part.label not in PLACES)]
    return " ".join("".join(_by_name(piece) for piece in pieces(text)) for text in shown)


PLACES = ("emit", "anchor")
"""The parts that say nothing but places and numbers."""


def _by_name(piece: str | Reference) -> str:
    if isinstance(piece, str):
        return piece
    return f"${piece.ordinal}" if piece.name is None else f"${identifier(piece.name)}"
