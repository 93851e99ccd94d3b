"""Spark's expressions as expressions by themselves: each is a column that selects from rows of the schema.

A DataFrame that selects the column from `WHERE false` has the expression as Spark's analysis settles it. Its plan is read over
the columns of that alone, and emitted and lowered as any plan is; what then computes the column is the expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.expression import AggregateFunction, Expression
from ..algebra.relation import BaseSchema, Relation
from ..algebra.traversal import inputs_first
from ..catalyst import reader, tree
from ..catalyst.document import decode
from ..catalyst.types import field_names
from ..context import Context, Settings
from ..conversion import DETACHED_IN_DIALECT, problems_of, relation_of, reported
from ..dialects import Dialect
from ..errors import Problem, SeveralUnsupported, Unsupported
from ..extensions import registry
from ..lowering.lowering import Lowering
from ..rel import aggregate, project
from ..rel.builder import Handler, RelationBuilder
from ..rel.columns import local
from ..rel.output import Output, ids_of
from ..rewrites import rewrite
from ..user_functions.declared import UserFunctions
from .message import Referred, Schema
from .value import require_no_variable, value_of

SELECTED = "false"
"""The condition of what expressions select from, which the reader takes for its columns alone."""


def settings_of(dialect: Dialect, detach: bool, functions: UserFunctions) -> Settings:
    """How expressions are read. Raises ValueError for a dialect and expressions that are stored apart."""
    if detach and not dialect.is_canonical:
        raise ValueError(DETACHED_IN_DIALECT)
    return Settings(dialect, "auto", 0, stage=reader.OVER_SCHEMA, detach=detach, functions=functions)


def schema_of(frame: reader.Planned, settings: Settings) -> tuple[Schema | None, Sequence[Problem]]:
    """The columns that are there to select from, or None and what stands in the way."""
    registry.load_all()
    context = Context(settings)

    def made() -> Schema:
        relation, _ = relation_of(context, rewrite(decode(reader.read(frame, settings))), HANDLERS)
        if not isinstance(relation, BaseSchema):
            raise Unsupported("its columns are not known")
        return Schema(relation.names, relation.schema)

    context.enter("the schema")
    schema = reported(context, made)
    return schema, problems_of(frame, settings, context.problems)


def referred(
    frame: reader.Planned, settings: Settings, name: str, schema: Schema
) -> tuple[Referred | None, Sequence[Problem]]:
    """An expression under its name, or None and what stands in its way."""
    registry.load_all()
    context = Context(settings, gateway=frame.sparkSession._sc._gateway)

    def made() -> Referred | None:
        document = decode(reader.read(frame, settings))
        if len(document.output) != 1:
            raise Unsupported(
                f"it gives {len(document.output)} columns, and an expression by itself gives one",
                "Give each column as an expression of its own.",
            )
        _require_one_relation(document)
        relation, _ = relation_of(context, rewrite(document), HANDLERS)
        names = field_names(name, document.output[0].type)
        value = _value(context, relation, document, names, schema)
        return None if value is None else Referred(names, value, tuple(context.uses))

    context.enter(f"expression {name!r}")
    expression = reported(context, made)
    return expression, problems_of(frame, settings, context.problems)


def _value(
    context: Context, relation: Relation, document: tree.Document, names: Sequence[str], schema: Schema
) -> Expression | AggregateFunction | None:
    """What computes the one column of a canonical relation, in the dialect's forms."""
    if context.problems:
        return None
    _require_columns_of(schema, relation)
    require_no_variable(relation)
    if not context.settings.dialect.is_canonical:
        lowering = Lowering(context.settings.dialect, context.report_at)
        relation = lowering.lower(relation, document.output, names)
    return None if context.problems else value_of(relation, context.settings.detach)


def _require_columns_of(schema: Schema, relation: Relation) -> None:
    """Refuse expressions over columns that the schema lacks, such as the names of files."""
    for each in inputs_first(relation):
        if isinstance(each, BaseSchema) and (each.names, each.schema) != (schema.names, schema.types):
            beyond = [name for name in each.names if name not in schema.names]
            raise Unsupported(
                f"it refers to columns that are not in the schema: {', '.join(beyond)}",
                "Select them in the DataFrame that the expression is over.",
            )


# ---- what it may be made of


def _schema(r: RelationBuilder, node: tree.Plan) -> Output:
    """LocalRelation: the columns of the schema, all of them."""
    columns = local(r, node["output"])
    relation = BaseSchema(
        [name for each in node["output"] for name in field_names(each["name"], each.type)], columns.types
    )
    relation.origins = tuple(node["output"])
    return Output(relation, ids_of(node["output"]))


HANDLERS: Mapping[str, Handler] = {**aggregate.HANDLERS, **project.HANDLERS, "LocalRelation": _schema}
"""Handlers by Catalyst class, of the plans that an expression by itself has."""

OTHER_ROWS = (
    "an expression by itself is computed of the columns of one row of the schema, a measure of those of all rows"
)


def _require_one_relation(document: tree.Document) -> None:
    """Refuse an expression that needs more than one row of the schema: a query in it, the rows around, several rows."""
    queries = [node for node in document.nodes if isinstance(node, tree.Expression) and _has_query(node)]
    others = [node for node in document.nodes if isinstance(node, tree.Plan) and node.name not in HANDLERS]
    if elsewhere := queries or others:
        hint = "Convert a DataFrame that selects it."
        raise SeveralUnsupported(
            [Unsupported(f"{node.name} computes something else: {OTHER_ROWS}", hint, node) for node in elsewhere]
        )


def _has_query(node: tree.Node) -> bool:
    return any(isinstance(child, tree.Plan) for child in node.children())
