"""The Plan message around a relation: version, extension declarations, root names."""

from __future__ import annotations

from collections.abc import Sequence

from substrait.plan_pb2 import ExecutionBehavior, Plan
from substrait.type_pb2 import Type as TypeMessage

from . import __version__
from .algebra import types
from .algebra.depth import deepest
from .algebra.message_walk import messages
from .algebra.references import shared_relations
from .algebra.relation import Relation
from .algebra.type_messages import URN
from .errors import Unsupported
from .extensions import Declaration

SUBSTRAIT_VERSION = (0, 106, 0)

PRODUCER = "substrait-spark"
"""What plans say of who has made them, before the version of this library."""

DEPTH_LIMIT = 100
"""How deep messages may nest below the plan: protobuf readers stop there, and so do all known consumers."""

_ROOT_LEVELS = 2
"""PlanRel and RelRoot, above the root relation."""

RELATION_DEPTH = DEPTH_LIMIT - _ROOT_LEVELS
"""How deep messages may nest in the root relation."""


class Declarations:
    """What a plan declares on first use: functions and URNs, by anchors from 1, and the types of extension messages."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._functions: dict[tuple[str, str], int] = {}
        self._urns: dict[str, int] = {}
        self._relations = 0
        self.enclosing: list[int] = []
        self.shared: dict[Relation, int] = {}

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
        """Declare the user-defined types that the plan has, and number them in the order of first use."""
        anchors: dict[int, int] = {}
        for message in messages(self._plan):
            if not isinstance(message, TypeMessage.UserDefined):
                continue
            name = types.USER_DEFINED[message.type_reference - 1]
            anchor = anchors.get(message.type_reference)
            if anchor is None:
                anchor = anchors[message.type_reference] = len(anchors) + 1
                entry = self._plan.extensions.add().extension_type
                entry.extension_urn_reference = self._urn(URN)
                entry.type_anchor = anchor
                entry.name = name
            message.type_reference = anchor

    def message(self, type_url: str) -> None:
        """Declare a type of messages, which are in the plan as Any."""
        if type_url not in self._plan.expected_type_urls:
            self._plan.expected_type_urls.append(type_url)

    def _urn(self, urn: str) -> int:
        anchor = self._urns.get(urn)
        if anchor is None:
            anchor = self._urns[urn] = len(self._urns) + 1
            self._plan.extension_urns.add(extension_urn_anchor=anchor, urn=urn)
        return anchor


def build(relation: Relation, names: Sequence[str]) -> Plan:
    """The plan of a root relation whose columns, depth-first, have these names.

    Raises `Unsupported` where its messages would nest too deep for protobuf readers.
    """
    shared = shared_relations(relation)
    for each in (*shared, relation):
        _require_room(each)
    plan = Plan()
    version = plan.version
    version.major_number, version.minor_number, version.patch_number = SUBSTRAIT_VERSION
    version.producer = f"{PRODUCER} {__version__}"
    mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    plan.execution_behavior.variable_eval_mode = mode
    declarations = Declarations(plan)
    for ordinal, each in enumerate(shared):
        each.write(plan.relations.add().rel, declarations)
        declarations.shared[each] = ordinal
    root = plan.relations.add().root
    relation.write(root.input, declarations)
    root.names.extend(names)
    if types.made:
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
