"""What a view shows of a plan's relations: subplans that occur again once, and of a large plan the upper part open."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..explain.document import Document, Relation, Tree
from ..explain.layout import line
from ..explain.text import Reference, pieces
from .node_summary import edge_label

OPEN = 30
"""How many relations a view shows when it opens."""


@dataclass(eq=False)
class Entry:
    """A relation where it stands."""

    relation: Relation
    role: str
    """What it is to the one above: `left`, `#1`, or nothing where it is all there is below."""
    level: int
    number: int = 0
    """Its place among the entries, from the top down."""
    below: list[Entry] = field(default_factory=list)
    relations: int = 1
    """How many relations there are in the plan from here on, this one among them."""
    subplan: int | None = None
    """The number by which other places refer to all that is from here on."""
    same_as: Entry | None = None
    """The entry that shows the same relations; there is then nothing below this one."""
    is_open: bool = False


@dataclass(eq=False)
class Outline:
    """A plan's entries from the top down, and for each of its trees the uppermost."""

    digest: str
    """A digest of each relation with all below it, equal for equal ones alone."""
    entries: list[Entry]
    roots: list[list[Entry]]


def outline(document: Document) -> Outline:
    """What is shown of a plan."""
    digests = _Digests(document)
    first: dict[str, Entry] = {}
    entries: list[Entry] = []
    roots = [_roots(tree) for tree in document.trees]
    stack = [entry for tree in reversed(roots) for entry in reversed(tree)]
    while stack:
        entry = stack.pop()
        entry.number = len(entries)
        entries.append(entry)
        digest = digests.of(entry.relation)
        entry.relations = digests.relations(entry.relation)
        if entry.relations > 1 and digests.is_closed(entry.relation):
            known = first.setdefault(digest, entry)
            entry.same_as = known if known is not entry else None
        if entry.same_as is None:
            entry.below = _below(entry)
            stack.extend(reversed(entry.below))
    _number_subplans(entries)
    _open(entries, [entry for tree in roots for entry in tree])
    return Outline(digests.of_all(roots), entries, roots)


def _roots(tree: Tree) -> list[Entry]:
    entries = [Entry(query, f"#{number}", 0) for number, query in enumerate(tree.queries, 1)]
    return entries if tree.relation is None else [*entries, Entry(tree.relation, "", 0)]


def _below(entry: Entry) -> list[Entry]:
    relation, level = entry.relation, entry.level + 1
    queries = [Entry(query, f"#{number}", level) for number, query in enumerate(relation.queries, 1)]
    below_queries = "input" if queries else ""
    inputs = [
        Entry(input, edge_label(relation, index) or below_queries, level) for index, input in enumerate(relation.inputs)
    ]
    return [*queries, *inputs]


def _number_subplans(entries: list[Entry]) -> None:
    meant = {id(entry.same_as) for entry in entries if entry.same_as is not None}
    for number, entry in enumerate((entry for entry in entries if id(entry) in meant), 1):
        entry.subplan = number


def _open(entries: list[Entry], roots: list[Entry]) -> None:
    """Open what fits, level by level; all of a plan that fits whole."""
    if len(entries) <= OPEN:
        for entry in entries:
            entry.is_open = True
        return
    shown, level = len(roots), roots
    while level:
        for entry in level:
            if entry.below and shown + len(entry.below) <= OPEN:
                entry.is_open = True
                shown += len(entry.below)
        level = [inner for entry in level if entry.is_open for inner in entry.below]


class _Digests:
    """Of every relation with all below it: a digest of its text, how many they are, and how far out they refer."""

    def __init__(self, document: Document) -> None:
        self._digests: dict[int, str] = {}
        self._relations: dict[int, int] = {}
        self._reaches: dict[int, int] = {}
        for tree in document.trees:
            for _, _, relation in reversed(list(tree.relations())):
                self._add(relation)

    def of(self, relation: Relation) -> str:
        return self._digests[id(relation)]

    def of_all(self, roots: list[list[Entry]]) -> str:
        return _digest(*(self.of(entry.relation) for tree in roots for entry in tree))

    def relations(self, relation: Relation) -> int:
        return self._relations[id(relation)]

    def is_closed(self, relation: Relation) -> bool:
        """Whether it refers to nothing outside: else the same text means something else in another place."""
        return self._reaches[id(relation)] <= 0

    def _add(self, relation: Relation) -> None:
        below = [inner for _, inner in relation.below()]
        self._digests[id(relation)] = _digest(
            line(relation), *(f"{mark}{self.of(at)}" for mark, at in relation.below())
        )
        self._relations[id(relation)] = 1 + sum(map(self.relations, below))
        self._reaches[id(relation)] = max(
            _reach(relation),
            *(self._reaches[id(input)] for input in relation.inputs),
            *(self._reaches[id(query)] - 1 for query in relation.queries),
            0,
        )


_ANYWHERE = 1_000_000
"""How far out a reference by an anchor may lead."""


def _reach(relation: Relation) -> int:
    """How many queries outwards a relation's own expressions refer at most."""
    return max((_ANYWHERE if at.anchor is not None else at.steps_out for at in _references(relation)), default=0)


def _references(relation: Relation) -> Iterator[Reference]:
    for part in relation.parts:
        yield from (piece for piece in pieces(part.items) if isinstance(piece, Reference))


def _digest(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
