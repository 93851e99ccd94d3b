"""The way of a plan: read, rewrite, emit, lower, build."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from substrait.plan_pb2 import Plan

from . import plan_cache
from .algebra.common_subplans import with_common_subplans
from .algebra.depth import cut
from .algebra.nondeterminism import drawn_twice
from .algebra.relation import Relation
from .catalyst import reader
from .catalyst.document import decode
from .catalyst.tree import Document, Node
from .catalyst.types import field_names
from .catalyst.versions import release
from .context import READS, STAGES, SWITCHES, Context, PendingProblem, Settings, WriteRoot
from .dialects import Dialect
from .dialects.asked import asked_dialect
from .errors import UNEXPECTED, Origin, Problem, SubstraitSparkError, Unsupported, unknown_form
from .expr.ambiguous_in import ambiguous_in
from .functions import dispatch as expressions
from .lowering.concessions.rewriting import conceded
from .lowering.lowering import lower
from .lowering.older_forms import written_for
from .plan.concessions import note_uses
from .plan.message import RELATION_DEPTH, TOO_DEEP, build
from .plan.provenance import note_provenance
from .plan.type_aliases import declare_aliases
from .plan_cache import RecentPlans
from .rel import spilled_rows
from .rel.builder import Handler, RelationBuilder
from .rel.column_pruning import used_columns
from .rel.dispatch import HANDLERS
from .rel.hints import note_aliases
from .rewrites import numbered_rows, rewrite
from .user_functions.declared import NO_FUNCTIONS, UserFunctions

Made = TypeVar("Made")


def convert_as(
    df: reader.Planned, settings: Settings, write_root: WriteRoot | None = None
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan of a DataFrame, or of a query that ran, or None and what stands in its way.

    `write_root` makes of the query's relation one that writes it.
    """
    context = Context(settings, gateway=df.sparkSession._sc._gateway, write_root=write_root)
    plan = reported(context, lambda: _plan_of(context, reader.read(df, settings)))
    if not context.problems:
        if settings.writes:
            spilled_rows.write(context.spilled_rows)
        return plan, ()
    return None, problems_of(df, settings, context.problems)


def settings_of(
    *,
    dialect: str | Path | Dialect | None = None,
    local_data: str | Path | None = None,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
    **asked: Any,
) -> Settings:
    """What the caller asked for, if it can be asked for. Arguments as `df_to_substrait` has them, and fields of `Settings`.

    Raises ValueError for values that an argument doesn't take; DialectError for a dialect that is unknown or invalid.
    """
    given = UserFunctions(functions)
    settings = Settings(
        asked_dialect(dialect, given.named, accept),
        local_data=None if local_data is None else spilled_rows.folder(local_data),
        functions=given or NO_FUNCTIONS,
        **asked,
    )
    if settings.reads not in READS:
        raise ValueError(f"reads must be one of {', '.join(READS)}, not {settings.reads!r}")
    if not _is_count(settings.inline_limit):
        raise ValueError(f"inline_limit must be a number of rows from 0 to {2**31 - 1}, not {settings.inline_limit!r}")
    if settings.list_files is not None and not _is_count(settings.list_files):
        raise ValueError(
            f"list_files must be None or a number of files from 0 to {2**31 - 1}, not {settings.list_files!r}"
        )
    if settings.stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}, not {settings.stage!r}")
    for switch in SWITCHES:
        if not isinstance(getattr(settings, switch), bool):
            raise ValueError(f"{switch} must be True or False, not {getattr(settings, switch)!r}")
    if settings.detach and not settings.dialect.is_canonical:
        raise ValueError(DETACHED_IN_DIALECT)
    if settings.type_aliases and not settings.dialect.abilities.type_aliases:
        raise ValueError(f"type_aliases can't be True: the dialect {settings.dialect.name} reads no aliases of types")
    return settings


DETACHED_IN_DIALECT = "detach can be True only without a dialect: engines don't read expressions that are stored apart"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


RECENT = RecentPlans()


def _plan_of(context: Context, text: str) -> Plan:
    """The plan of a document's text, which may have been made before; problems go to the context."""
    if context.write_root is not None:  # of which the text tells nothing
        return emit_document(context, decode(text))
    key = plan_cache.key(text, context.settings)
    plan = RECENT.get(key)
    if plan is None:
        plan = emit_document(context, decode(text))
        if not context.problems and not context.spilled_rows:  # files beside it are written each time
            RECENT.put(key, plan)
    return plan


def emit_text(context: Context, text: Callable[[], str]) -> Plan | None:
    """The plan of a document's text; None where there are problems, which go to the context."""
    return reported(context, lambda: emit_document(context, decode(text())))


def reported(context: Context, make: Callable[[], Made]) -> Made | None:
    """What is made; None where there are problems, which go to the context."""
    try:
        made = make()
    except Unsupported as problem:
        context.report(None, problem)
    except RecursionError:
        context.report(None, TOO_DEEP)
    except UNEXPECTED as error:
        if not context.problems:  # else these are why
            context.report(None, unknown_form(error))
    return None if context.problems else made


def emit_document(context: Context, document: Document) -> Plan:
    """The plan of a document as it was read; problems go to the context."""
    if document.streaming:
        raise Unsupported("it is a streaming DataFrame", "Export the batch query that reads the same source.")
    settings = context.settings
    rules = [*numbered_rows.rules(document, settings.inline_limit)] if settings.local_data is not None else []
    if settings.hints:
        rules.append(note_aliases(context))
        context.statistics = document.statistics
    relation, names = relation_of(context, rewrite(document, rules))
    if context.traits.draws and (problem := drawn_twice(relation)):
        context.report(None, problem)
    if settings.share_subplans and not context.traits.draws:
        relation = with_common_subplans(relation, lambda part: part if settings.detach else cut(part, RELATION_DEPTH))
    outputs: Sequence[Origin] = document.output
    if context.write_root is not None:
        relation, names, outputs = context.write_root(relation, names, document), [], ()
    lowered = relation if settings.detach else in_dialect(context, relation, outputs, names)
    if context.problems:
        return Plan()
    plan = written_for(settings.dialect, build(lowered, names, settings.detach))
    if settings.type_aliases:
        declare_aliases(plan)
    if settings.dialect.abilities.optimizations:
        note_uses(plan, context.uses)
    if settings.provenance:
        note_provenance(plan, document, settings.stage)
    return plan


def in_dialect(context: Context, relation: Relation, outputs: Sequence[Origin], names: Sequence[str]) -> Relation:
    """A canonical relation in the forms of the dialect that was asked for; problems go to the context."""
    dialect = context.settings.dialect
    if dialect.is_canonical:
        return cut(relation, RELATION_DEPTH)
    return lower(dialect, context.report_at, relation, outputs, names)


def relation_of(
    context: Context, document: Document, handlers: Mapping[str, Handler] = HANDLERS
) -> tuple[Relation, list[str]]:
    """The root relation of a rewritten document, and the depth-first names of its columns; problems go to the context."""
    context.release = release(document.spark)
    context.configuration = document.configuration
    context.root = document.root
    context.used = used_columns(document.root)
    context.ambiguous_in = ambiguous_in(document.root) if "InSubquery" in document.classes else {}
    context.shares_ctes = context.settings.dialect.is_canonical
    context.ctes = Counter(node["cteId"] for node in document.nodes if node.name == "CTERelationRef")
    relations = RelationBuilder(context, handlers, expressions)
    output = relations.emit(document.root)
    relation = relations.finished(output.select([attribute["exprId"] for attribute in document.output]).relation)
    if not context.problems:
        relation, uses = conceded(relation, context.settings.dialect, context.traits)
        context.uses += uses
    names = [
        name for column, type in zip(document.names, document.shown, strict=True) for name in field_names(column, type)
    ]
    return relation, names


def problems_of(df: reader.Planned, settings: Settings, pending: Sequence[PendingProblem]) -> list[Problem]:
    """The problems with Spark's own SQL text of each node."""
    nodes = [item.node if isinstance(item.node, Node) else None for item in pending]
    numbers = sorted({node.number for node in nodes if node is not None and node.number is not None})
    try:
        texts = dict(zip(numbers, reader.describe(df, settings, numbers), strict=True))
    except (SubstraitSparkError, Unsupported):
        texts = {}
    return [
        Problem(
            item.path or "the plan",
            item.node.name if item.node is not None else "DataFrame",
            (texts.get(node.number) if node is not None and node.number is not None else None)
            or (item.node.name if item.node is not None else ""),
            item.reason,
            item.hint,
            item.cause,
        )
        for item, node in zip(pending, nodes, strict=True)
    ]
