"""Turning Catalyst plan nodes into Substrait relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..algebra import types
from ..algebra.depth import cut
from ..algebra.expression import FieldReference, StandIn
from ..algebra.feature import PREVIOUS_ROWS
from ..algebra.relation import Place, Reference, Relation, VirtualTable
from ..algebra.sharing import share
from ..algebra.traversal import refers_outwards
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.refusals import no_relation
from ..catalyst.types import to_substrait
from ..context import Context
from ..errors import UNEXPECTED, Unsupported, unknown_form
from ..expr.builder import Dispatch, ExpressionBuilder
from ..expr.scope import Scope
from ..plan.message import RELATION_DEPTH
from .hints import hinted
from .output import Output

Handler = Callable[["RelationBuilder", tree.Plan], Output]


class RelationBuilder:
    """Emits the relations of one plan. Problems are reported to the context; a stand-in takes their place."""

    def __init__(self, context: Context, handlers: Mapping[str, Handler], expressions: Dispatch) -> None:
        self.context = context
        self._handlers = handlers
        self._expressions = expressions
        self._enclosing: list[Scope] = []
        """What the queries around offer to a subquery, from the outside in."""
        self._definitions: dict[int, tree.Plan] = {}
        self._defined: dict[int, Relation] = {}
        self._repeated: dict[int, tuple[int, int, Sequence[Type] | None]] = {}
        """The recursions whose step is being emitted, by Spark's numbers: our number, how many queries are around, and the types of
        the rows that it is over, where they aren't those that Spark gives them."""

    def emit(self, node: tree.Plan, side: str = "") -> Output:
        """The relation of a plan node; `side` tells the children of one node apart in a problem's path."""
        self.context.enter(side + node.name)
        try:
            return self._emit_here(node)
        finally:
            self.context.leave()

    def _emit_here(self, node: tree.Plan) -> Output:
        handler = self._handlers.get(node.name)
        known = len(self.context.problems)
        try:
            if handler is None:
                raise no_relation(node, self.context.root)
            output = handler(self, node)
            is_new = output.relation.place is None
            if is_new:
                output.relation.place = Place(self.context.path, node)
            if self.context.settings.hints:
                return Output(hinted(self.context, node, output.relation, is_new), output.ids)
            return output
        except Unsupported as problem:
            self.context.report(node, problem)
        except UNEXPECTED as error:
            if len(self.context.problems) == known:  # else it stumbled over what stands in for a reported part
                self.context.report(node, unknown_form(error))
        return self._stand_in(node)

    def expressions(self, scope: Scope) -> ExpressionBuilder:
        """A builder for expressions over these columns."""
        return ExpressionBuilder(self.context, self, self._expressions, scope)

    def subquery(self, plan: tree.Plan, around: Scope) -> Relation:
        """The relation of a subquery's plan, which may refer to what is around it."""
        return self.finished(self.inside(plan, around, "subquery: ").relation)

    def inside(self, plan: tree.Plan, around: Scope, side: str) -> Output:
        """A plan that may refer to the columns of what is around it, as a query outwards."""
        self._enclosing.append(around)
        try:
            return self.emit(plan, side)
        finally:
            self._enclosing.pop()

    def outer_column(self, id: int, name: str) -> FieldReference:
        """A reference to the column of the nearest query around that has it."""
        for steps, scope in enumerate(reversed(self._enclosing), 1):
            column = scope.column(id)
            if column is not None:
                return FieldReference(column.ordinal, column.type, outer=steps)
        raise Unsupported(f"no query around this one has the column {name!r}")

    def define(self, id: int, plan: tree.Plan) -> None:
        """Note what a common table expression stands for."""
        self._definitions[id] = plan

    def defined(self, id: int) -> Relation:
        """The relation of a common table expression; a canonical plan that uses it several times refers to it."""
        if id not in self._defined:
            relation = self.emit(self._definitions[id], "CTE: ").relation
            if refers_outwards(relation) or relation.features & PREVIOUS_ROWS:
                return relation
            shares = self.context.shares_ctes and self.context.ctes[id] > 1
            self._defined[id] = Reference(cut(self.finished(relation), RELATION_DEPTH)) if shares else relation
        return self._defined[id]

    @contextmanager
    def repeating(self, id: int, kinds: Sequence[Type] | None) -> Iterator[int]:
        """While the step of a recursion is emitted: its number, which tells it from those around it."""
        self._repeated[id] = (len(self._repeated), len(self._enclosing), kinds)
        try:
            yield self._repeated[id][0]
        finally:
            del self._repeated[id]

    def repeated(self, id: int) -> tuple[int, Sequence[Type] | None]:
        """The number of the recursion that the present relation refers to, and the types of its rows where Spark's aren't right."""
        number, around, kinds = self._repeated.get(id, (0, -1, None))
        if around != len(self._enclosing):
            raise Unsupported("WITH RECURSIVE can't be exported: its step refers to its rows in a subquery")
        return number, kinds

    def finished(self, relation: Relation) -> Relation:
        """The relation with what is used several times computed once."""
        return share(relation) if self.context.traits.shares else relation

    def _stand_in(self, node: tree.Plan) -> Output:
        """Takes the place of what could not be emitted, so that the rest of the plan is still looked at."""
        outputs = [self.emit(child) for child in node.children() if isinstance(child, tree.Plan)]
        ids = [id for output in outputs for id in output.ids]
        kinds = [kind for output in outputs for kind in output.relation.types]
        for attribute in tree.own_columns(node):
            ids.append(attribute["exprId"])
            kinds.append(_stand_in_type(attribute))
        row = tuple(map(StandIn, kinds))
        return Output(VirtualTable([row], types.numbered(kinds), kinds), tuple(ids))


def _stand_in_type(attribute: tree.Expression) -> Type:
    try:
        return to_substrait(attribute.type, True)
    except Unsupported:
        return types.nullable(types.BOOLEAN)
