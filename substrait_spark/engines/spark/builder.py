"""What all rules of this engine share: the document that they write, the plan's place they are at, and its problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...algebra.relation import Place, Relation
from ...algebra.types import Type
from ...errors import Origin, Problem, Unsupported
from ...reading.place import MessagePart
from .document import UTC, Document, Node, Part, singleton, some
from .types import spark_type

if TYPE_CHECKING:
    from ...user_functions.declared import UserFunctions
    from .reads import Tables

T = TypeVar("T")


class Columns(NamedTuple):
    """A plan of Catalyst, and the expressions over it that are a relation's columns."""

    plan: Node
    columns: list[Node]


class Builder:
    """Writes one document. What can't be written goes to `problems`, and a stand-in takes its place."""

    def __init__(self, tables: Tables, functions: UserFunctions, time_zone: str) -> None:
        self.document = Document()
        self.tables = tables
        self.functions = functions
        """Those that the caller gives."""
        self.time_zone = time_zone
        """The session's."""
        self.problems: list[Problem] = []
        self._place: Place | None = None
        self._made_for: dict[int, tuple[Place | None, Origin | None]] = {}
        """By number of a node that Spark may refuse: the place and the part of the plan that it was made for."""

    # ---- places and problems

    def at(self, relation: Relation) -> None:
        """Make this the relation that nodes and problems are noted for from here on."""
        self._place = relation.place or self._place

    def within(self, work: Callable[[], T]) -> T:
        """Do work that may be at other relations, and be back at this one."""
        place = self._place
        try:
            return work()
        finally:
            self._place = place

    def report(self, origin: Origin | None, problem: Unsupported) -> None:
        """Note a problem with a part of the relation that is at work, or with the relation itself."""
        self._report(self._place, origin, problem)

    def report_nodes(self, numbered: Sequence[tuple[int, str]]) -> None:
        """Report the reasons that Spark gave for nodes that it could not make."""
        for number, reason in numbered:
            made_for = [entry for node, entry in self._made_for.items() if node >= number]
            place, origin = made_for[0] if made_for else (None, None)
            self._report(place, origin, Unsupported(reason))

    def _report(self, place: Place | None, origin: Origin | None, problem: Unsupported) -> None:
        part = origin or (place.origin if place is not None else None)
        name = part.name if part is not None else "Plan"
        text = part.text if isinstance(part, MessagePart) else name
        path = place.path if place is not None else "the plan"
        described = Problem(path, name, text, problem.reason, problem.hint)
        if described not in self.problems:
            self.problems.append(described)

    def made(self, node: Node, origin: Origin | None) -> Node:
        """Note that a node, and those before it that belong to nothing yet, were made for this part of the plan."""
        self._made_for[node.number] = (self._place, origin)
        return node

    # ---- expressions

    def typed(self, node: Node, type: Type) -> Node:
        """The expression in a type of the plan."""
        return self.document.typed(node, spark_type(type))

    def cast(self, node: Node, type: Type, mode: str, zone: str = UTC) -> Node:
        """A cast in an evaluation mode of Spark's: ANSI, TRY or LEGACY."""
        return self.document.new("Cast", node, Part("type", spark_type(type)), some(zone), Part("mode", mode))

    def sort_order(self, node: Node, ascending: bool, nulls_first: bool) -> Node:
        direction = singleton("Ascending" if ascending else "Descending")
        nulls = singleton("NullsFirst" if nulls_first else "NullsLast")
        return self.document.new("SortOrder", node, direction, nulls, [])

    def choice(self, clauses: Sequence[tuple[Node, Node]], otherwise: Node | None) -> Node:
        """The value of the first condition that is true, and the value where none is, null without one."""
        branches = [Part("pair", list(clause)) for clause in clauses]
        return self.document.new("CaseWhen", branches, None if otherwise is None else Part("some", otherwise))

    # ---- plans

    def project(self, plan: Node, columns: Sequence[Node]) -> Columns:
        """A plan of exactly these columns, each with an id of its own.

        A column that comes again has a name that it never had: Spark's RemoveRedundantAliases takes away an alias of the
        same name, and a union of inputs that have a column twice is then unresolved.
        """
        seen: set[int] = set()
        named: list[Node] = []
        for ordinal, column in enumerate(columns):
            is_new = self.document.is_column(column) and column.number not in seen
            seen.add(column.number)
            named.append(column if is_new else self.document.alias(column, f"c{ordinal}_{column.number}"))
        return self.output(self.document.new("Project", named, plan), len(columns))

    def output(self, plan: Node, count: int) -> Columns:
        """A plan with its first columns."""
        return Columns(plan, self.document.columns(plan, count))
