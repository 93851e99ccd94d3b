"""The difference of two plans, by relation: which one changed, where it is, and what in it."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from ..algebra.limits import text_of
from ..errors.quotation import identifier, last_part
from .alignment import PLACES, Pair, align
from .columns import Item
from .document import Column, Document, Part, Relation, Tree
from .identity import Columns, Token, items, pair_up
from .layout import line, line_text
from .parts import column_text
from .text import Reference, pieces, plain

COMPARED = 20_000
"""Up to how many characters of two plans' lines are compared for similar ones, which takes the most time of all."""

_TRIVIAL = ("", "]", ")")
"""What closes a part that has no options."""


def difference(old: Document, new: Document) -> str:
    """What has to change in one plan to make it the other; nothing where they mean the same."""
    blocks = [*_header(old, new)]
    for before, after in itertools.zip_longest(old.trees, new.trees):
        blocks += _tree(before, after)
    return text_of(_text(blocks or _lines(old, new))) + ("\n" if blocks else "")


def _text(blocks: Sequence[Sequence[str]]) -> Iterator[str]:
    for index, block in enumerate(blocks):
        yield "\n\n" if index else ""
        yield "\n".join(block)


def _header(old: Document, new: Document) -> Iterator[list[str]]:
    changes = [*_replaced([*map(plain, old.header)], [*map(plain, new.header)])]
    gone, come = dict(old.declared - new.declared), dict(new.declared - old.declared)
    for name in sorted(gone.keys() & come.keys()):
        changes += [f"  - {name} of {gone[name]}", f"  + {name} of {come[name]}"]
    if changes:
        yield ["plan", *changes]


def _replaced(olds: Sequence[str], news: Sequence[str], label: str = "") -> Iterator[str]:
    """A line for each entry of two sequences that the other doesn't have."""
    space = " " if label else ""
    for i, j in pair_up(olds, news):
        if i is not None and j is not None and olds[i] == news[j]:
            continue
        if i is not None:
            yield f"  - {label}{space}{olds[i]}"
        if j is not None:
            yield f"  + {label}{space}{news[j]}"


# ---- trees


def _tree(old: Tree | None, new: Tree | None) -> Iterator[list[str]]:
    if old is None or new is None or old.relation is None or new.relation is None:
        present = [(mark, tree) for mark, tree in (("-", old), ("+", new)) if tree is not None]
        if [_whole(tree) for _, tree in present[:1]] != [_whole(tree) for _, tree in present[1:]]:
            yield ["relations", *(f"  {mark} {text}" for mark, tree in present for text in _whole(tree))]
        return
    title = [*_replaced([_title(old)], [_title(new)])]
    if title:
        yield ["output", *title]
    yield from _Trees(old.relation, new.relation, new.title).blocks()


def _title(tree: Tree) -> str:
    names = "" if tree.names is None else f" [{', '.join(map(identifier, tree.names))}]"
    detached = "".join(f" detached {number} = {plain(text)}" for number, text in enumerate(tree.detached))
    return f"{tree.title}{names}{detached}{plain(tree.rest)}"


def _whole(tree: Tree) -> list[str]:
    return [_title(tree), *("  " * (level + 1) + mark + line(inner) for level, mark, inner in tree.relations())]


def _mark(pair: Pair) -> str:
    """Which of the plans has a relation: `-` for the old one, `+` for the new one, nothing for both."""
    return "-" if pair.new is None else "+" if pair.old is None else ""


class _Trees:
    """Two trees of relations that stand for each other."""

    def __init__(self, old: Relation, new: Relation, title: str) -> None:
        self._pairs = align(old, new)
        both = [(pair.old, pair.new) for pair in self._pairs if pair.old is not None and pair.new is not None]
        self._old = Columns({id(before): after for before, after in both})
        self._new = Columns({id(after): before for before, after in both}, self._old)
        self._old.add(old)
        self._new.add(new)
        self._paths = {**_paths(old, title), **_paths(new, title)}

    def blocks(self) -> Iterator[list[str]]:
        """For each relation that changed, its place and then what in it; relations that only one has, together."""
        for mark, group in itertools.groupby(self._pairs, _mark):
            pairs = list(group)
            if mark:
                yield from self._one_sided(
                    mark, [relation for pair in pairs for relation in pair if relation is not None]
                )
                continue
            for old, new in pairs:
                changes = [] if old is None or new is None else [*self._changes(old, new)]
                if new is not None and changes:
                    yield [self._heading(new), *changes]

    def _one_sided(self, mark: str, relations: Sequence[Relation]) -> Iterator[list[str]]:
        """Relations that only one of the plans has; those below each other in one block."""
        block: list[str] = []
        top = ""
        for relation in relations:
            path = self._paths[id(relation)]
            if not block or not path.startswith(f"{top} "):
                if block:
                    yield block
                top = path
                block = [f"{'removed' if mark == '-' else 'added'} at {path}"]
            block.append(f"  {mark} {'  ' * (path.count(' > ') - top.count(' > '))}{line(relation)}")
        yield block

    def _heading(self, relation: Relation) -> str:
        leaf = _leaf(relation)
        return f"{relation.kind}{f' over {leaf}' if leaf else ''} at {self._paths[id(relation)]}"

    def _changes(self, old: Relation, new: Relation) -> Iterator[str]:
        if old.kind != new.kind:
            yield from (f"  - {line(old)}", f"  + {line(new)}")
            return
        labels = dict.fromkeys(part.label for part in (*old.parts, *new.parts) if part.label not in PLACES)
        for label in labels:
            yield from self._part_changes(old, new, label)
        yield from self._column_changes(old, new)

    def _part_changes(self, old: Relation, new: Relation, label: str) -> Iterator[str]:
        olds, news = self._keyed(self._old, old, label), self._keyed(self._new, new, label)
        space = " " if label else ""
        for i, j in pair_up([key for key, _ in olds], [key for key, _ in news]):
            was, now = None if i is None else olds[i], None if j is None else news[j]
            # The same words about a column that was made otherwise: the change is where it is made.
            if was is not None and now is not None and (was[0] == now[0] or was[1] == now[1]):
                continue
            if was is not None:
                yield f"  - {label}{space}{was[1]}"
            if now is not None:
                yield f"  + {label}{space}{now[1]}"

    def _keyed(self, columns: Columns, relation: Relation, label: str) -> list[tuple[Hashable, str]]:
        """The items of a part, each with what it is compared by."""
        keyed: list[tuple[Hashable, str]] = [
            (columns.canonical(relation, item, part), plain(item)) for part, item in items(relation, label)
        ]
        return [*keyed, *((part.closing, part.closing.removeprefix(")")) for part in _closed(relation, label))]

    # ---- columns

    def _column_changes(self, old: Relation, new: Relation) -> Iterator[str]:
        """Columns that come or go at this relation, and types that change at it, not already at one below."""
        before, after = self._columns(self._old, old), self._columns(self._new, new)
        had, has = self._inputs(self._old, old), self._inputs(self._new, new)
        for token, column in before.items():
            if token not in after and (token in has if token in had else _is_named(token)):
                yield f"  - column {plain(column_text(column, 0))}"
        for token, column in after.items():
            if token not in before and (token in had if token in has else _is_named(token)):
                yield f"  + column {plain(column_text(column, 0))}"
        for token in (token for token in before if token in after):
            was, now = plain(before[token].type), plain(after[token].type)
            below = token in had and token in has and plain(had[token].type) != plain(has[token].type)
            if was != now and not below:
                yield f"  - column {plain(column_text(before[token], 0))}"
                yield f"  + column {plain(column_text(after[token], 0))}"
        yield from self._order_change(before, after, had, has)

    def _order_change(
        self,
        before: Mapping[Token, Column],
        after: Mapping[Token, Column],
        had: Mapping[Token, Column],
        has: Mapping[Token, Column],
    ) -> Iterator[str]:
        was, now = [token for token in before if token in after], [token for token in after if token in before]
        came, come = [token for token in had if token in has], [token for token in has if token in had]
        if was != now and came == come:
            yield f"  - order {', '.join(_name(before[token]) for token in was)}"
            yield f"  + order {', '.join(_name(after[token]) for token in now)}"

    def _columns(self, columns: Columns, relation: Relation) -> dict[Token, Column]:
        return dict(zip(columns.output[id(relation)], relation.columns or (), strict=False))

    def _inputs(self, columns: Columns, relation: Relation) -> dict[Token, Column]:
        columns_below: dict[Token, Column] = {}
        for input in relation.inputs:
            columns_below |= self._columns(columns, input)
        return columns_below


def _name(column: Column) -> str:
    return "unnamed" if column.name is None else identifier(column.name)


def _is_named(token: Token) -> bool:
    """Whether a column is a read's own: those have names, and no expression."""
    source = token[1] if isinstance(token, tuple) else None
    return isinstance(source, Item) and source.part == "schema"


def _closed(relation: Relation, label: str) -> list[Part]:
    return [part for part in relation.parts if part.label == label and part.closing not in _TRIVIAL]


# ---- places


def _paths(root: Relation, title: str) -> dict[int, str]:
    """Where each relation is: `root > Sort > Join left > Filter`."""
    paths: dict[int, str] = {}
    stack = [(root, title)]
    while stack:
        relation, above = stack.pop()
        path = f"{above} > {relation.kind}"
        paths[id(relation)] = path
        for number, query in enumerate(relation.queries, 1):
            stack.append((query, f"{path} #{number}"))
        for index, input in enumerate(relation.inputs):
            sides = ("left", "right") if len(relation.inputs) == 2 else tuple(map(str, range(len(relation.inputs))))
            stack.append((input, path if len(relation.inputs) == 1 else f"{path} {sides[index]}"))
    return paths


def _leaf(relation: Relation) -> str:
    """What the one leaf below a relation reads, where there is just one."""
    inner = relation
    while len(inner.inputs) == 1:
        inner = inner.inputs[0]
    if inner.inputs or not inner.parts or not inner.parts[0].items:
        return ""
    if inner.parts[0].label in ("rows", "extension_table"):
        return inner.parts[0].label
    return last_part(plain(inner.parts[0].items[0]))


# ---- what is left


def _lines(old: Document, new: Document) -> list[list[str]]:
    """The lines of both plans that differ, for plans in which no other difference was seen; numbers of anchors don't count."""
    olds, news = list(_every_line(old)), list(_every_line(new))
    if sum(map(len, (*olds, *news))) > COMPARED:
        changes = [*_replaced(olds, news)]
    else:
        changes = [f"  {text.rstrip()}" for text in difflib.ndiff(olds, news) if text.startswith(("- ", "+ "))]
    return [["plan", *changes]] if changes else []


def _every_line(document: Document) -> Iterable[str]:
    yield from map(plain, (*document.header, *document.extensions))
    for tree in document.trees:
        yield _title(tree)
        for level, mark, relation in tree.relations():
            parts = tuple(part for part in relation.parts if part.label != "anchor")
            text = line_text(dataclasses.replace(relation, parts=parts))
            yield "  " * level + mark + "".join(map(_without_anchor, pieces(text)))


def _without_anchor(piece: str | Reference) -> str:
    return str(piece if isinstance(piece, str) or piece.anchor is None else piece._replace(anchor=0))
