"""Laying out a plan: what it says of itself, then its relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from ..algebra.trampoline import Steps, in_turn, run
from ..algebra.types import field_count
from ..errors import SubstraitSparkError, kind_of
from ..errors.quotation import quoted
from ..extended.plans import is_extended_expression, plan_of
from ..plan.message import SUBSTRAIT_VERSION
from ..reading.encodings import up_to_date
from .columns import ColumnNames, Item
from .declarations import Declarations
from .derived import Derived
from .document import Document, Relation, Tree
from .expression_text import Scope
from .literal_text import LiteralText
from .parts import advanced, part_text
from .relation_text import RelationText
from .text import Text
from .type_text import TypeText
from .view import View


def document(plan: Plan | ExtendedExpression, *, verbose: bool = False) -> Document:
    """The plan, or the extended expression, laid out, with hints and the numbers of anchors where `verbose`.

    Raises SubstraitSparkError for what is neither.
    """
    if is_extended_expression(plan):
        return run(_extended(plan, verbose))
    if not isinstance(plan, Plan):
        raise SubstraitSparkError(
            f"Give a substrait.proto.Plan, not {kind_of(plan)}: df_to_substrait(df) makes one of a DataFrame,"
            " Plan.FromString(content) of bytes."
        )
    return run(_document(_in_current_encoding(plan), verbose))


def _in_current_encoding(plan: Plan) -> Plan:
    """A plan of an older release as today's; as it is where it doesn't say of which it is, or something in it is unknown."""
    version = plan.version
    if (
        not plan.HasField("version")
        or (version.major_number, version.minor_number, version.patch_number) >= SUBSTRAIT_VERSION
    ):
        return plan
    current, problems = up_to_date(plan)
    return plan if problems else current


def _document(plan: Plan, verbose: bool) -> Steps[Document]:
    declarations = Declarations(plan)
    derived = Derived(plan)
    names = ColumnNames()
    view = View(plan)
    header = yield _header(view, declarations)
    legend = declarations.legend(anchors=verbose)
    untold = (line for field in ("extension_urns", "extensions") for line in _untold(view.take_all(field)))
    extensions = (*legend, *untold)
    text = RelationText(declarations, derived, names, verbose=verbose)
    trees = yield in_turn(_tree(entry, text, names, derived) for entry in view.take_all("relations"))
    rest = view.untaken()
    return Document((*header, rest) if rest else header, extensions, declarations.names(), tuple(trees))


def _extended(message: Any, verbose: bool) -> Steps[Document]:
    """An extended expression: a tree of one part for each of its expressions and measures, over the schema in its header."""
    declarations = Declarations(message)
    plan = plan_of(message)
    derived, names, view = Derived(plan), ColumnNames(), View(message)
    text = RelationText(declarations, derived, names, verbose=verbose)
    header = yield _header(view, declarations)
    schema = yield text.schema(view.take("base_schema"), shown=True, columns=None)
    legend = declarations.legend(anchors=verbose)
    untold = [line for field in ("extension_urns", "extensions") for line in _untold(view.take_all(field))]
    references = zip(view.take_all("referred_expr"), plan.relations, strict=True)
    trees = yield in_turn(_referred(each, entry.root, text, names, derived) for each, entry in references)
    scope = Scope((), ())
    detached = yield text.expressions.all(view.take_all("detached_expressions"), scope)
    trees += [Tree("detached_expressions", None, detached, tuple(scope.queries), None, ())] if detached else []
    rest = view.untaken()
    shown = (*header, ("base_", part_text(schema)), *((rest,) if rest else ()))
    return Document(shown, (*legend, *untold), declarations.names(), tuple(trees), "extended expression")


def _referred(reference: Any, root: Any, text: RelationText, names: ColumnNames, derived: Derived) -> Steps[Tree]:
    """An expression or a measure, as the only part of what computes it in a plan."""
    view = View(reference)
    kind = view.chosen("expr_type")
    output_names = tuple(view.take_all("output_names"))
    view.take(kind or "")
    yield names.add_root(root.input, _top_names(output_names, derived.columns(root.input)))
    relation: Relation = yield text.of(root.input, None)
    parts = [part._replace(label="", opening="", closing="") for part in relation.parts[:1]] if kind else []
    sources = tuple(Item("", n) for n in range(len(parts)))
    shown = replace(relation, kind=(kind or "nothing").capitalize(), parts=tuple(parts), sources=sources, inputs=())
    return Tree("referred_expr", output_names, (), (), shown, view.untaken())


def _header(view: View, declarations: Declarations) -> Steps[tuple[Text, ...]]:
    types = TypeText(declarations)
    literals = LiteralText(declarations, types)
    lines: list[Text] = [_version(view.take("version"))]
    behavior = view.take("execution_behavior")
    if behavior is not None:
        inner = View(behavior)
        lines.append(
            (f"execution_behavior variable_eval_mode {inner.take_enum('variable_eval_mode')}", inner.untaken())
        )
    for alias in view.take_all("type_aliases"):
        inner = View(alias)
        type = inner.take("type")
        shown = (yield types.of(type)) if type is not None else "untyped"
        lines.append((f"alias@{inner.take('type_alias_anchor') or 0}: ", shown, inner.untaken()))
    for binding in view.take_all("parameter_bindings"):
        inner = View(binding)
        value = inner.take("value")
        shown = (yield literals.of(value)) if value is not None else "unset"
        lines.append((f"?{inner.take('parameter_anchor') or 0} = ", shown, inner.untaken()))
    urls = view.take_all("expected_type_urls")
    if urls:
        lines.append(f"expected_type_urls [{', '.join(map(quoted, urls))}]")
    lines += map(part_text, advanced(view, "advanced_extensions"))
    return tuple(lines)


def _version(message: Any) -> Text:
    if message is None:
        return "version unset"
    view = View(message)
    numbers = [str(view.take(f"{name}_number") or 0) for name in ("major", "minor", "patch")]
    shown = f"version {'.'.join(numbers)}"
    for field in ("git_hash", "producer"):
        value = view.take(field)
        shown += "" if value is None else f" {field} {quoted(value)}"
    return (shown, view.untaken())


def _untold(messages: Sequence[Any]) -> Iterator[Text]:
    """What is in declarations that the legend, which says all that the specification has, doesn't say."""
    for message in messages:
        view = View(message)
        for field in message.DESCRIPTOR.fields:
            value = view.take(field.name)
            if value is not None and field.message_type is not None:
                inner = View(value)
                for known in value.DESCRIPTOR.fields:
                    inner.take(known.name)
                if inner.untaken():
                    yield ("extension", inner.untaken())
        if view.untaken():
            yield ("extension", view.untaken())


def _tree(message: Any, text: RelationText, names: ColumnNames, derived: Derived) -> Steps[Tree]:
    view = View(message)
    kind = view.chosen("rel_type")
    value: Any = view.take(kind) if kind is not None else None
    rel, root_names, rest = value, None, []
    if kind == "root":
        inner = View(value)
        root_names = tuple(inner.take_all("names"))
        rel = inner.take("input")
        rest.append(inner.untaken())
    relation = None
    if rel is not None:
        yield names.add_root(rel, _top_names(root_names, derived.columns(rel)))
        relation = yield text.of(rel, None)
    scope = Scope((), ())
    detached = yield text.expressions.all(view.take_all("detached_expressions"), scope)
    rest.append(view.untaken())
    return Tree(kind or "empty_relation", root_names, detached, tuple(scope.queries), relation, tuple(rest))


def _top_names(names: Sequence[str] | None, types: Any) -> list[str] | None:
    """Of the root's depth-first names, those of the columns themselves."""
    if names is None or types is None or None in types:
        return None
    left, top = iter(names), []
    for type in types:
        top.append(next(left, ""))
        for _ in range(field_count(type)):
            next(left, None)
    return top
