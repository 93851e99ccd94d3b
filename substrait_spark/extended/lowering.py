"""Lowering an extended expression, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

from ..algebra.relation import BaseSchema, NamedTable, Relation
from ..algebra.traversal import inputs_first, transformed
from ..dialects.dialect import Dialect
from ..errors import Problem, Unsupported
from ..extensions import registry
from ..lowering.plan import lowered_root, problem_of, undeclared_functions, with_concessions
from ..plan.concessions import uses_in
from ..reading.encodings import unknown_fields
from ..reading.plan import ReadPlan, read_plan
from ..user_functions.declared import NO_FUNCTIONS, UserFunctions
from .message import Referred, Schema, build
from .plans import URIS, plan_of
from .value import require_no_variable, value_of


def lower_expressions(
    message: ExtendedExpression, dialect: Dialect, functions: UserFunctions = NO_FUNCTIONS
) -> tuple[ExtendedExpression | None, Sequence[Problem]]:
    """The message in the dialect's forms, or None and what stands in its way."""
    registry.load_all()
    plan = plan_of(message)
    if undeclared := undeclared_functions(plan, functions):
        return None, [undeclared]
    if unknown := _unknown_fields(message):
        return None, [
            problem_of("", None, Unsupported(f"Substrait 0.106 has no field {unknown[0]} of ExtendedExpression"))
        ]
    if not message.referred_expr:
        return None, [problem_of("", None, Unsupported("it has no expression"))]
    detach = dialect.is_canonical and bool(message.detached_expressions)  # as it was
    lowered: list[Referred] = []
    problems: list[Problem] = []
    for n, reference in enumerate(message.referred_expr):
        read, used = with_concessions(read_plan(_only(plan, n), functions.nondeterministic), dialect)
        schema, referred, obstacles = _lowered(read, dialect, detach)
        name = f"expression {reference.output_names[0]!r}" if reference.output_names else f"expression {n}"
        problems += [replace(each, path=name) for each in obstacles]
        uses = [use._replace(place=f"{name} / {use.place}") for use in used]
        lowered += [] if referred is None else [referred._replace(uses=uses)]
    if problems or schema is None:
        return None, problems
    try:
        return build(schema, lowered, detach, uses_in(message)), ()
    except Unsupported as problem:
        return None, [problem_of("", None, problem)]


def _unknown_fields(message: ExtendedExpression) -> list[int]:
    """The fields of the message and of its references that neither this release knows, nor an older one."""
    unknown = unknown_fields(message).keys() - {URIS}
    return sorted(unknown.union(*map(unknown_fields, message.referred_expr)))


def _only(plan: Plan, n: int) -> Plan:
    """The plan with one of its roots."""
    one = Plan()
    one.CopyFrom(plan)
    del one.relations[:]
    one.relations.add().CopyFrom(plan.relations[n])
    return one


def _lowered(
    read: ReadPlan, dialect: Dialect, detach: bool
) -> tuple[Schema | None, Referred | None, Sequence[Problem]]:
    """The schema, and an expression in the dialect's forms."""
    if read.root is None or read.problems:
        return None, None, lowered_root(read, dialect)[2]
    root = transformed(read.root, _over_schema)
    try:
        require_no_variable(root)
        lowered, names, problems = lowered_root(read._replace(root=root), dialect)
        if lowered is None:
            return None, None, problems
        leaf = next(each for each in inputs_first(lowered) if isinstance(each, BaseSchema))
        return Schema(leaf.names, leaf.schema), Referred(names, value_of(lowered, detach)), ()
    except Unsupported as problem:
        return None, None, [problem_of("", problem.about, problem)]


def _over_schema(relation: Relation) -> Relation:
    """The schema in the place of the table that has it."""
    if not isinstance(relation, NamedTable):
        return relation
    schema = BaseSchema(relation.names, relation.schema)
    schema.place = relation.place
    return schema
