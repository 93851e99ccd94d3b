"""Plans as HTML: a tree to fold, where a click on a relation's columns shows its expressions in full."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterator
from functools import cache
from html import escape

from ..bounds import text_of
from ..explain.document import Document, Part, Relation, Tree
from ..explain.text import Reference, Text, joined, pieces, plain
from ..quotation import identifier, shortened
from .gist import ambiguous, edge_label, full, gist, named, shown

_COLUMNS = 120
"""How many characters of a relation's columns show while it is closed, and of a root's names."""

_LITERALS = re.compile(r"""(?P<string>'(?:\\.|[^'\\])*')|"(?:\\.|[^"\\])*"|(?P<type>::[\w!?]+(?:<[^<>]*>)?)""")
"""Strings and the types of literals; names in quotes, in which there are none."""


@cache
def _style() -> str:
    return (importlib.resources.files(__package__) / "view.css").read_text("utf-8")


def html(document: Document) -> str:
    """A plan as one `div`."""
    return text_of(_view(document))


def _view(document: Document) -> Iterator[str]:
    yield f'<div class="substrait-plan"><style>{_style()}</style>'
    yield "<details class='about'><summary>"
    yield escape(f"Substrait plan, {plain(document.header[0])}")
    yield "</summary>"
    for line in (*document.header[1:], *document.extensions):
        yield f"<p>{_code(line)}</p>"
    yield "</details>"
    for tree in document.trees:
        yield from _tree(tree)
    yield "</div>"


def _tree(tree: Tree) -> Iterator[str]:
    names = "" if tree.names is None else ", ".join(map(identifier, tree.names))
    shown = f"<span title='{escape(names, quote=True)}'>{escape(shortened(names, _COLUMNS))}</span>"
    yield f"<p class='root'><b>{escape(tree.title)}</b> {shown}{_code(tree.rest)}</p>"
    for number, expression in enumerate(tree.detached):
        yield f"<p>detached {number} = {_code(expression)}</p>"
    roots = [(f"#{number}", query) for number, query in enumerate(tree.queries, 1)]
    if tree.relation is not None:
        roots.append(("", tree.relation))
    stack: list[str | tuple[str, Relation]] = [*reversed(roots)]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
            continue
        role, relation = top
        yield from _relation(role, relation)
        below = [(f"#{number}", query) for number, query in enumerate(relation.queries, 1)]
        below += [(edge_label(relation, index), input) for index, input in enumerate(relation.inputs)]
        if below:
            yield "<div class='inputs'>"
            stack.append("</div></details>")
            stack.extend(reversed(below))
        else:
            yield "</details>"


def _relation(role: str, relation: Relation) -> Iterator[str]:
    """A relation, whose element stays open for what is below it."""
    unclear = ambiguous(relation)
    yield f"<details open class='relation'><summary title='{escape(named(full(relation), unclear), quote=True)}'>"
    if role:
        yield f"<i>{escape(role)}</i> "
    yield f"<b>{escape(relation.kind)}</b> <code>{_colored(gist(relation))}</code></summary>"
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
    found = "".join(
        _reference(piece, unclear) if isinstance(piece, Reference) else _colored(piece) for piece in pieces(text)
    )
    return f"<code>{found}</code>" if found else ""


def _reference(reference: Reference, unclear: frozenset[str | None]) -> str:
    whole = escape(str(reference), quote=True)
    return f"<span class='column' title='{whole}'>{escape(shown(reference, unclear))}</span>"


def _colored(text: str) -> str:
    """Text with its literals marked."""
    found, end = [], 0
    for match in _LITERALS.finditer(text):
        literal = escape(match.group())
        found.append(escape(text[end : match.start()]))
        found.append(f"<span class='{match.lastgroup}'>{literal}</span>" if match.lastgroup else literal)
        end = match.end()
    return "".join([*found, escape(text[end:])])
