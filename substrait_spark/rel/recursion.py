"""UnionLoop: WITH RECURSIVE, as an extension relation (https://github.com/apache/spark, UnionLoopExec).

Its step is repeated over the rows that it had last. Spark ends it with an error after so many levels, or so many rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.recursion import NONE, PreviousRows, Recursion, fits, misfit
from ..algebra.relation import Relation
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from .builder import RelationBuilder
from .columns import local
from .output import Output, ids_of

LEVELS = "spark.sql.cteRecursionLevelLimit"
ROWS = "spark.sql.cteRecursionRowLimit"


def repeated(r: RelationBuilder, node: tree.Plan) -> Output:
    """UnionLoop: the rows of the anchor, then those of each level. Its columns have exprIds of their own."""
    known = len(r.context.problems)
    anchor = r.emit(node["anchor"], "anchor: ").relation
    kinds, made = None, _over(r, node, anchor, None)
    # Functions of a plan may be null where Spark knows that its own aren't: then the rows that the step is over may be, too.
    while len(r.context.problems) == known and not fits(made) and made.types != kinds:
        kinds, made = made.types, _over(r, node, anchor, made.types)
    if len(r.context.problems) == known and (problem := misfit(made)):
        r.context.report(node, Unsupported(f"WITH RECURSIVE can't be exported: {problem}", SAVED))
    return Output(made, tuple(node["outputAttrIds"]))


def _over(r: RelationBuilder, node: tree.Plan, anchor: Relation, kinds: Sequence[Type] | None) -> Recursion:
    """A recursion whose step is over rows of some types, or of those that Spark gives them."""
    with r.repeating(node["id"], kinds) as number:
        step = r.emit(node["recursion"], "recursion: ").relation
    levels = int(r.context.configuration[LEVELS]) if node["maxDepth"] is None else node["maxDepth"]
    limit = NONE if node["limit"] is None else node["limit"]
    return Recursion((anchor, step), number, levels, int(r.context.configuration[ROWS]), limit)


def previous(r: RelationBuilder, node: tree.Plan) -> Output:
    """UnionLoopRef: what the level before has made."""
    if node["accumulated"]:
        raise Unsupported("WITH RECURSIVE can't be exported: its step is over the rows of all levels before", SAVED)
    columns = local(r, node["output"])
    number, kinds = r.repeated(node["loopId"])
    return Output(PreviousRows(number, columns.names, kinds or columns.types), ids_of(node["output"]))


SAVED = "Save the result of the recursion as a table, and export the query on top of that."

HANDLERS = {"UnionLoop": repeated, "UnionLoopRef": previous}
