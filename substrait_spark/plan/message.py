"""The Plan message around a relation: version, extension declarations, root names."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import ExecutionBehavior, Plan, PlanRel
from substrait.type_pb2 import Type as TypeMessage

from .. import __version__
from ..algebra import types
from ..algebra.depth import deepest
from ..algebra.detachment import detached
from ..algebra.expression import Expression
from ..algebra.extension_messages import unpacked_with_expressions
from ..algebra.message_walk import messages
from ..algebra.references import shared_relations
from ..algebra.relation import Relation
from ..algebra.type_messages import URN
from ..errors import Unsupported
from ..extensions.registry import Declaration

SUBSTRAIT_VERSION = (0, 106, 0)

PRODUCER = "substrait-spark"
"""What plans say of who has made them, before the version of this library."""

DEPTH_LIMIT = 100
"""How deep messages may nest below the plan: protobuf readers stop there, and so do all known consumers."""

_ROOT_LEVELS = 2
"""PlanRel and RelRoot, above the root relation."""

RELATION_DEPTH = DEPTH_LIMIT - _ROOT_LEVELS
"""How deep messages may nest in the root relation."""


TOO_DEEP = Unsupported(
    f"it nests deeper than Python's stack has room for, and Substrait readers stop at {DEPTH_LIMIT} nested messages",
    "Split the query: write an intermediate result to a table and continue from there.",
)


class Declarations:
    """What a plan, or an extended expression, declares on first use: functions and URNs, by anchors from 1, and the types of extension messages."""

    def __init__(self, plan: Plan | ExtendedExpression) -> None:
        self._plan = plan
        self._functions: dict[tuple[str, str], int] = {}
        self._urns: dict[str, int] = {}
        self._relations = 0
        self.enclosing: list[int] = []
        self.shared: dict[Relation, int] = {}
        self._detached: list[tuple[Expression, list[int]]] = []

    def relation(self) -> int:
        """A new anchor of a relation."""
        self._relations += 1
        return self._relations

    def function(self, declaration: Declaration) -> int:
        """The anchor of a function, declared on first use."""
        key = (declaration.urn, declaration.compound)
        anchor = self._functions.get(key)
        if anchor is None:
            anchor = self._functions[key] = len(self._functions) + 1
            entry = self._plan.extensions.add().extension_function
            entry.extension_urn_reference = self._urn(declaration.urn)
            entry.function_anchor = anchor
            entry.name = declaration.compound
        return anchor

    def types(self) -> None:
        """Declare the user-defined types that the plan has by now; each has the anchor of its place in USER_DEFINED."""
        for anchor in sorted(_types_in(self._plan)) if types.made else ():
            entry = self._plan.extensions.add().extension_type
            entry.extension_urn_reference = self._urn(URN)
            entry.type_anchor = anchor
            entry.name = types.USER_DEFINED[anchor - 1]

    def message(self, type_url: str) -> None:
        """Declare a type of messages, which are in the plan as Any."""
        if type_url not in self._plan.expected_type_urls:
            self._plan.expected_type_urls.append(type_url)

    def detached(self, expression: Expression) -> int:
        """The number of an expression that is stored apart from the relation that is written."""
        self._detached.append((expression, list(self.enclosing)))
        return len(self._detached) - 1

    def write_detached(self, relation: PlanRel | ExtendedExpression) -> None:
        """Store the expressions that have got a number, with their relation or message, and those that get one while these are written."""
        for expression, enclosing in self._detached:
            self.enclosing = enclosing
            expression.write(relation.detached_expressions.add(), self)
        self._detached, self.enclosing = [], []

    def _urn(self, urn: str) -> int:
        anchor = self._urns.get(urn)
        if anchor is None:
            anchor = self._urns[urn] = len(self._urns) + 1
            self._plan.extension_urns.add(extension_urn_anchor=anchor, urn=urn)
        return anchor


def _types_in(plan: Plan | ExtendedExpression) -> set[int]:
    """The anchors of the user-defined types in a message, and in its extensions of ours."""
    anchors: set[int] = set()
    pending: list[Message] = [plan]
    while pending:
        for message in messages(pending.pop()):
            if isinstance(message, TypeMessage.UserDefined):
                anchors.add(message.type_reference)
            elif isinstance(message, Any):
                pending += filter(None, [unpacked_with_expressions(message)])
    return anchors


def build(relation: Relation, names: Sequence[str], detach: bool = False) -> Plan:
    """The plan of a root relation whose columns, depth-first, have these names.

    With `detach`, expressions that nest too deep for their place are stored apart. Raises `Unsupported` where its messages would nest too deep for protobuf readers.
    """
    shared = shared_relations(relation)
    flat = {each: detached(each, RELATION_DEPTH) if detach else each for each in (*shared, relation)}
    for each in flat.values():
        _require_room(each)
    plan = Plan()
    version = plan.version
    version.major_number, version.minor_number, version.patch_number = SUBSTRAIT_VERSION
    version.producer = f"{PRODUCER} {__version__}"
    mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    plan.execution_behavior.variable_eval_mode = mode
    declarations = Declarations(plan)
    for ordinal, each in enumerate(shared):
        entry = plan.relations.add()
        flat[each].write(entry.rel, declarations)
        declarations.write_detached(entry)
        declarations.shared[each] = ordinal
    entry = plan.relations.add()
    flat[relation].write(entry.root.input, declarations)
    entry.root.names.extend(names)
    declarations.write_detached(entry)
    declarations.types()
    return plan


def _require_room(relation: Relation) -> None:
    depth = _ROOT_LEVELS + relation.height
    if depth > DEPTH_LIMIT:
        raise Unsupported(
            f"the plan nests {depth} messages deep, and Substrait readers stop at {DEPTH_LIMIT}; the deepest are at "
            f"{deepest(relation)}",
            "Split the query: write an intermediate result to a table and continue from there.",
        )
