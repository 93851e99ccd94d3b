"""The structural rules of a plan: what must hold for any plan, whatever the query."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.unknown_fields import UnknownFieldSet
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import ExecutionBehavior, Plan

from ..algebra.message_walk import depth, messages
from ..algebra.type_messages import declared_types
from ..algebra.types import Type, field_count
from ..errors import InvalidPlanError, Unsupported
from ..extended.plans import plan_of
from ..inference.complaints import Complaints
from ..inference.expressions import Types
from ..inference.functions import Functions
from ..inference.relations import Relations
from ..reading.detached import wrongly_detached
from ..reading.encodings import has_unknown_fields
from ..reading.literal import bound_literal

DEPTH_LIMIT = 100
"""How deep messages may nest below the plan: protobuf readers stop there."""


def structural_problems(plan: Plan | ExtendedExpression, *, allow_unknown_fields: bool = False) -> list[str]:
    """What is wrong with the structure of a plan or an extended expression, each with its place; empty if it is well-formed.

    The rules: anchors are declared once and used; functions are declared under compound names of the extension files,
    and every call fits its declaration in the number and types of arguments, in its options and in its result type;
    references stay within their input; conditions are boolean; branches and rows have one type, and so has each parameter, wherever it is and what is bound to it; the root's names are
    as many as its output type takes, depth-first; phases and window frames are set; messages nest no deeper than
    readers follow; and there are no fields that Substrait 0.106 doesn't have, unless `allow_unknown_fields`.

    Types are derived from the messages alone, by the specification and the extension files. What an extension relation
    yields is its own secret: expressions over it are checked as far as their types are known.
    """
    if isinstance(plan, ExtendedExpression):
        plan = plan_of(plan)
    nesting = depth(plan)
    if nesting > DEPTH_LIMIT:
        return [f"the plan nests {nesting} messages deep: readers stop at {DEPTH_LIMIT}"]
    complain = Complaints()
    if not allow_unknown_fields:
        _check_unknown_fields(plan, complain)
    _check_header(plan, complain)
    functions = Functions(plan, complain)
    relations = Relations(functions, complain)
    try:
        _check_relations(plan, relations, complain)
        _check_bindings(plan, relations.expressions.parameters, complain)
    except InvalidPlanError as error:
        complain(str(error))
        return complain.problems
    functions.finish()
    return complain.problems


def assert_well_formed(plan: Plan | ExtendedExpression, *, allow_unknown_fields: bool = False) -> None:
    """Raise AssertionError, with every problem, unless the plan or the extended expression keeps the structural rules."""
    problems = structural_problems(plan, allow_unknown_fields=allow_unknown_fields)
    if problems:
        raise AssertionError("The plan breaks structural rules:\n" + "\n".join(f"  - {p}" for p in problems))


def _check_unknown_fields(plan: Plan, complain: Complaints) -> None:
    if not has_unknown_fields(plan):
        return
    for message in messages(plan):
        unknown = UnknownFieldSet(message)
        for index in range(len(unknown)):
            complain(f"{message.DESCRIPTOR.full_name} has the unknown field {unknown[index].field_number}")


def _check_header(plan: Plan, complain: Complaints) -> None:
    if not plan.HasField("version"):
        complain("the plan has no version")
    if plan.execution_behavior.variable_eval_mode == ExecutionBehavior.VARIABLE_EVALUATION_MODE_UNSPECIFIED:
        complain("the plan doesn't state its execution behaviour")
    if not plan.relations:
        complain("the plan has no relation")


def _check_relations(plan: Plan, relations: Relations, complain: Complaints) -> None:
    for index, entry in enumerate(plan.relations):
        is_root = entry.WhichOneof("rel_type") == "root"
        with complain.at("root" if is_root else f"relations[{index}]"):
            for problem in wrongly_detached(entry):
                complain(problem)
            columns = relations.read_root(entry)
            if is_root and columns is not None:
                _check_names(len(entry.root.names), columns, complain)


def _check_bindings(plan: Plan, types: Mapping[int, Type], complain: Complaints) -> None:
    declared = declared_types(plan)
    bound: set[int] = set()
    for binding in plan.parameter_bindings:
        anchor = binding.parameter_anchor
        if anchor in bound:
            complain(f"the parameter {anchor} is bound twice")
        bound.add(anchor)
        if anchor in types:
            try:
                bound_literal(anchor, types[anchor], binding.value, declared)
            except Unsupported as problem:
                complain(problem.reason)


def _check_names(names: int, columns: Types, complain: Complaints) -> None:
    known = [column for column in columns if column is not None]
    expected = len(columns) + sum(map(field_count, known))
    if len(known) == len(columns) and names != expected:
        complain(f"{names} names for an output of {expected} fields, counted depth-first")
