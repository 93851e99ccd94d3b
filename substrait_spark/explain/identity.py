"""Which columns of two plans are the same ones, wherever they stand: an expression that refers to the same columns in
other places is the same expression."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ..algebra.trampoline import Steps, run
from .columns import Item, Origin
from .document import Part, Relation
from .text import Reference, Text, pieces

Token = Hashable
"""What stands for a column in both plans."""

Tokens = tuple[Token, ...]


class Scope(NamedTuple):
    """The columns that a relation's expressions can refer to."""

    tokens: Tokens
    outer: Scope | None


class Columns:
    """The tokens of every relation's columns in one plan."""

    def __init__(self, partner: Mapping[int, Relation], other: Columns | None = None) -> None:
        self._partner = partner
        self._other = other
        self._lent: dict[int, Tokens] = {}
        self.output: dict[int, Tokens] = {}
        self.scopes: dict[int, Scope] = {}
        self._numbers = itertools.count()

    def add(self, root: Relation) -> None:
        """Find the tokens in a tree."""
        run(self._settle(root, None))

    def _settle(self, relation: Relation, outer: Scope | None) -> Steps[None]:
        scope = Scope((), outer)
        for input in relation.inputs:
            yield self._settle(input, outer)
            scope = Scope((*scope.tokens, *self.output[id(input)]), outer)
            if relation.anchor is not None:
                self._lent.setdefault(relation.anchor, scope.tokens)
        self.scopes[id(relation)] = scope
        for query in relation.queries:
            yield self._settle(query, scope)
        self.output[id(relation)] = tuple(self._output(relation))

    def _output(self, relation: Relation) -> Iterable[Token]:
        same = self._same_items(relation)
        for source in relation.sources:
            if isinstance(source, Origin):
                yield self._at(self.output[id(relation.inputs[source.input])], source.ordinal)
            else:
                yield same.get(source) or (id(relation), source)

    def _same_items(self, relation: Relation) -> Mapping[Item, Token]:
        """By column that a relation makes, the token of the same column in the other plan, where it has that."""
        partner = self._partner.get(id(relation))
        if self._other is None or partner is None:
            return {}
        tokens: dict[Item, Token] = {}
        own = {item for item in relation.sources if isinstance(item, Item)}
        for label in {item.part for item in own}:
            for old, new in self._pairs(label, partner, relation):
                tokens[Item(label, new)] = (id(partner), Item(label, old))
        told = {part.label for part in relation.parts if part.items}
        for item in own:
            if item.part not in told and item.part != "schema":
                tokens[item] = (id(partner), item)
        return tokens

    def _pairs(self, label: str, old: Relation, new: Relation) -> list[tuple[int, int]]:
        """Which items of a part are the same ones, or stand for each other."""
        if label == "schema":
            return _by_name(old, new)
        olds = [(self._other or self).canonical(old, item, part) for part, item in items(old, label)]
        news = [self.canonical(new, item, part) for part, item in items(new, label)]
        return [(i, j) for i, j in pair_up(olds, news) if i is not None and j is not None]

    def canonical(self, relation: Relation, text: Text, part: Part) -> tuple[Hashable, ...]:
        """A text whose references are the tokens of the columns that they mean."""
        scope = self.scopes[id(relation)]
        if part.over_output:
            scope = Scope(self.output.get(id(relation), ()), scope.outer)
        return tuple(piece if isinstance(piece, str) else self._meant(piece, scope) for piece in _merged(text))

    def _meant(self, reference: Reference, scope: Scope) -> Token:
        if reference.anchor is not None:
            return self._at(self._lent.get(reference.anchor, ()), reference.ordinal)
        around: Scope | None = scope
        for _ in range(min(reference.steps_out, len(self.scopes))):
            around = around.outer if around is not None else None
        return self._at(around.tokens if around is not None else (), reference.ordinal)

    def _at(self, tokens: Tokens, ordinal: int) -> Token:
        return tokens[ordinal] if 0 <= ordinal < len(tokens) else ("beyond", ordinal)


def _merged(text: Text) -> list[str | Reference]:
    """A text's pieces, with strings that follow each other joined."""
    merged: list[str | Reference] = []
    for piece in pieces(text):
        if merged and isinstance(piece, str) and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def items(relation: Relation, label: str) -> list[tuple[Part, Text]]:
    """The items of a relation's parts of a label."""
    return [(part, item) for part in relation.parts if part.label == label for item in part.items]


def _by_name(old: Relation, new: Relation) -> list[tuple[int, int]]:
    """The columns of two reads that have the same name, and are the same of those with that name."""
    olds = {key: number for number, key in _named(old).items()}
    return [(olds[key], number) for number, key in _named(new).items() if key in olds]


def _named(read: Relation) -> dict[int, tuple[str | None, int]]:
    named, seen = {}, Counter[str | None]()
    for source, column in zip(read.sources, read.columns or (), strict=False):
        if isinstance(source, Item):
            named[source.number] = (column.name, seen[column.name])
            seen[column.name] += 1
    return named


COMPARED = 1000
"""Up to how many entries two sequences are compared each with each; longer ones from both ends, and then by place."""


def pair_up(olds: Sequence[Hashable], news: Sequence[Hashable]) -> list[tuple[int | None, int | None]]:
    """Which entries of two sequences are the same, or take the place of each other; None where there is none."""
    pairs: list[tuple[int | None, int | None]] = []
    for i, i_end, j, j_end in _stretches(olds, news):
        pairs += itertools.zip_longest(range(i, i_end), range(j, j_end))
    return pairs


def _stretches(olds: Sequence[Hashable], news: Sequence[Hashable]) -> Iterator[tuple[int, int, int, int]]:
    """Where stretches of two sequences that are the same, or take the place of each other, begin and end."""
    if len(olds) + len(news) <= COMPARED:
        for _, i, i_end, j, j_end in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
            yield i, i_end, j, j_end
        return
    shorter = min(len(olds), len(news))
    start = next((place for place in range(shorter) if olds[place] != news[place]), shorter)
    same = (count for count in range(shorter - start) if olds[-1 - count] != news[-1 - count])
    rest = next(same, shorter - start)
    yield 0, start, 0, start
    yield start, len(olds) - rest, start, len(news) - rest
    yield len(olds) - rest, len(olds), len(news) - rest, len(news)
