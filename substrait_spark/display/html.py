"""Plans as HTML: a tree to fold, where a click on a relation's columns shows its expressions in full.

All of it works without the script, which notebooks that nobody trusts leave out: that adds what folds and finds. It is the
same for all plans, and what a plan holds is text wherever it stands.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterator
from functools import cache
from html import escape

from ..algebra.limits import text_of
from ..errors.quotation import identifier, shortened
from ..explain.document import Document, Part, Relation, Tree
from ..explain.text import Reference, Text, joined, pieces, plain
from .figures import Figures, counted, family, figures
from .node_summary import ambiguous, full, named, reference_text, summary
from .outline import OPEN, Entry, Outline, outline
from .overview import link, overview

_COLUMNS = 120
"""How many characters of a relation's columns show while it is closed, and of a root's names."""
_TABLES = 600
"""How many characters of the names of tables the overview shows."""

_INDENT, _INDENTS = 10, 12
"""How many pixels a branch stands to the right, and how many do; those below stand as far, in the narrowest of notebooks too."""

_LITERALS = re.compile(r"""(?P<string>'(?:\\.|[^'\\])*')|"(?:\\.|[^"\\])*"|(?P<type>::[\w!?]+(?:<[^<>]*>)?)""")
"""Strings and the types of literals; names in quotes, in which there are none."""


@cache
def _file(name: str) -> str:
    return (importlib.resources.files(__package__) / name).read_text("utf-8")


def script() -> str:
    """The view's script."""
    return f"<script>{_file('view.js')}</script>"


def html(document: Document, size: int) -> str:
    """A plan of so many bytes as one `div`."""
    return text_of(_view(document, size))


def _view(document: Document, size: int) -> Iterator[str]:
    shown, counts = outline(document), figures(document)
    yield f'<div class="substrait-plan"><style>{_file("view.css")}</style>'
    yield from _about(document, counts, size)
    yield from _map(shown, counts)
    for tree, roots in zip(document.trees, shown.roots, strict=True):
        yield from _tree(shown, tree, roots)
    yield f"{script()}</div>"


def _about(document: Document, counts: Figures, size: int) -> Iterator[str]:
    """What the plan says of itself, and its figures."""
    told = [
        counted(sum(counts.kinds.values()), "relation"),
        counted(counts.levels, "level"),
        f"{counted(counts.functions, 'function')} of {counted(counts.extensions, 'extension')}",
        counted(size, "byte"),
    ]
    yield "<details class='about'><summary>"
    yield escape(f"Substrait plan, {plain(document.header[0])} · {' · '.join(told)}")
    yield "</summary>"
    for line in (*document.header[1:], *document.extensions):
        yield f"<p>{_code(line)}</p>"
    yield "</details>"


def _map(shown: Outline, counts: Figures) -> Iterator[str]:
    """The tree as a map, open where the plan is too large to be seen whole."""
    if not shown.entries:
        return
    kinds = (f"<span class='{family(kind)}'>{escape(kind)} {number}</span>" for kind, number in counts.kinds.items())
    yield f"<details class='overview'{'' if len(shown.entries) <= OPEN else ' open'}><summary>Overview</summary>"
    yield f"<p class='legend'>{' '.join(kinds)}</p>"
    yield from overview(shown)
    if counts.tables:
        reads = " · ".join(f"{name} ({number} times)" if number > 1 else name for name, number in counts.tables.items())
        yield f"<p>reads {escape(shortened(reads, _TABLES))}</p>"
    yield "</details>"


def _tree(shown: Outline, tree: Tree, roots: list[Entry]) -> Iterator[str]:
    names = "" if tree.names is None else ", ".join(map(identifier, tree.names))
    brief = f"<span title='{escape(names, quote=True)}'>{escape(shortened(names, _COLUMNS))}</span>"
    yield f"<p class='root'><b>{escape(tree.title)}</b> {brief}{_code(tree.rest)}</p>"
    for number, expression in enumerate(tree.detached):
        yield f"<p>detached {number} = {_code(expression)}</p>"
    stack: list[str | tuple[int, Entry]] = [(0, entry) for entry in reversed(roots)]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
            continue
        indent, entry = top
        yield from _entry(shown, entry)
        if entry.below:
            branches = len(entry.below) > 1
            yield _inputs(branches=branches, indent=indent)
            stack.append("</div></details>")
            stack.extend((indent + branches, inner) for inner in reversed(entry.below))
        elif entry.same_as is None:
            yield "</details>"


def _inputs(*, branches: bool, indent: int) -> str:
    """The inputs of a relation, under it. They stand further to the right only where there are several, so that deep plans fit.

    How far is said here and not by the style, which notebooks that nobody trusts leave out as well.
    """
    if not branches:
        return "<div>"
    return f"<div class='inputs' style='margin-left:{_INDENT if indent < _INDENTS else 0}px'>"


def _entry(shown: Outline, entry: Entry) -> Iterator[str]:
    """A relation, whose element stays open for what is below it; of a subplan that is shown elsewhere, where."""
    relation, unclear = entry.relation, ambiguous(entry.relation)
    role = f"<i>{escape(entry.role)}</i> " if entry.role else ""
    kind = f"<b class='{family(relation.kind)}'>{escape(relation.kind)}</b>"
    brief = f"<code>{_colored(summary(relation))}</code>"
    title = escape(named(full(relation), unclear), quote=True)
    if entry.same_as is not None:
        to = f"<a href='#{link(shown, entry.same_as)}'>subplan {entry.same_as.subplan} again</a>"
        yield f"<p class='same' title='{title}'>{role}{kind} {to} {brief}</p>"
        return
    open = " open" if entry.is_open else ""
    mark = "" if entry.subplan is None else f" <span class='label'>subplan {entry.subplan}</span>"
    more = f" <span class='more'>+{entry.relations - 1:,}</span>" if entry.below else ""
    yield f"<details{open} class='relation' id='{link(shown, entry)}'><summary title='{title}'>"
    yield f"{role}{kind}{mark} {brief}{more}</summary>"
    yield f"<details class='inside'><summary>{_columns_line(relation)}</summary><div class='body'>"
    for part in relation.parts:
        yield from _part(part, unclear)
    yield from _columns_table(relation)
    yield "</div></details>"


def _columns_line(relation: Relation) -> str:
    if relation.columns is None:
        return "columns unknown"
    if relation.passes_columns:
        return "same columns"
    each = [f"{_name(column.name, place)} {plain(column.type)}" for place, column in enumerate(relation.columns)]
    return escape(shortened(" · ".join(each), _COLUMNS)) or "no columns"


def _name(name: str | None, place: int) -> str:
    return f"${place}" if name is None else identifier(name)


def _part(part: Part, unclear: frozenset[str | None]) -> Iterator[str]:
    yield f"<div class='part'><span class='label'>{escape(part.label)}</span><div>"
    word = part.opening.rstrip("(") if part.opening.endswith("(") else ""
    rows: tuple[Text, ...] = (joined(", ", part.items),) if part.label == "emit" else part.items
    for index, item in enumerate(rows):
        joint = f"<span class='label'>{escape(word)} </span>" if word and index else ""
        yield f"<div class='item'>{joint}{_code(item, unclear)}</div>"
    if part.closing not in ("", "]", ")"):
        yield f"<div class='item'>{_code(part.closing)}</div>"
    yield "</div></div>"


def _columns_table(relation: Relation) -> Iterator[str]:
    if not relation.columns:
        return
    yield "<table><tbody>"
    for place, column in enumerate(relation.columns):
        name = "" if column.name is None else identifier(column.name)
        yield f"<tr><td>${place}</td><td>{escape(name)}</td><td><code>{escape(plain(column.type))}</code></td></tr>"
    yield "</tbody></table>"


def _code(text: Text, unclear: frozenset[str | None] = frozenset()) -> str:
    code = "".join(
        _reference(piece, unclear) if isinstance(piece, Reference) else _colored(piece) for piece in pieces(text)
    )
    return f"<code>{code}</code>" if code else ""


def _reference(reference: Reference, unclear: frozenset[str | None]) -> str:
    whole = escape(str(reference), quote=True)
    return f"<span class='column' title='{whole}'>{escape(reference_text(reference, unclear))}</span>"


def _colored(text: str) -> str:
    """Text with its literals marked."""
    coloured, end = [], 0
    for match in _LITERALS.finditer(text):
        literal = escape(match.group())
        coloured.append(escape(text[end : match.start()]))
        coloured.append(f"<span class='{match.lastgroup}'>{literal}</span>" if match.lastgroup else literal)
        end = match.end()
    return "".join([*coloured, escape(text[end:])])
