"""UnionLoop: WITH RECURSIVE, as an extension relation (https://github.com/apache/spark, UnionLoopExec).

Its step is repeated over the rows that it had last. Spark ends it with an error after so many levels, or so many rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.recursion import PreviousRows, Recursion, fits, misfit
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
    anchor = r.emit(node["anchor"], "anchor: ").relation
    made = _over(r, node, anchor, None)
    known = len(r.context.problems)
    # Functions of a plan may be null where Spark knows that its own aren't: then the rows that the step is over may be, too.
    while len(r.context.problems) == known and not fits(made):
        made = _over(r, node, anchor, made.types)
    if problem := misfit(made):
        r.context.report(node, Unsupported(f"WITH RECURSIVE can't be exported: {problem}", SAVED))
    return Output(made, tuple(node["outputAttrIds"]))


def _over(r: RelationBuilder, node: tree.Plan, anchor: Relation, kinds: Sequence[Type] | None) -> Recursion:
    """A recursion whose step is over rows of some types, or of those that Spark gives them."""
    with r.repeating(node["id"], kinds) as number:
        step = r.emit(node["recursion"], "recursion: ").relation
    if len(anchor.types) != len(step.types) or not all(map(types.equal_but_nullability, anchor.types, step.types)):
        raise Unsupported("the anchor and the step of the recursion have different types")
    levels = _limit(r, LEVELS) if node["maxDepth"] is None else _from_zero(node["maxDepth"])
    return Recursion((anchor, step), number, levels, _limit(r, ROWS), node["limit"])


def previous(r: RelationBuilder, node: tree.Plan) -> Output:
    """UnionLoopRef: what the level before has made."""
    if node["accumulated"]:
        raise Unsupported("WITH RECURSIVE can't be exported: its step is over the rows of all levels before", SAVED)
    columns = local(r, node["output"])
    number, kinds = r.repeated(node["loopId"])
    return Output(PreviousRows(number, columns.names, kinds or columns.types), ids_of(node["output"]))


def _limit(r: RelationBuilder, setting: str) -> int | None:
    return _from_zero(int(r.context.configuration[setting]))


def _from_zero(limit: int) -> int | None:
    """A limit of Spark's, where -1 is none."""
    return None if limit < 0 else limit


SAVED = "Save the result of the recursion as a table, and export the query on top of that."

HANDLERS = {"UnionLoop": repeated, "UnionLoopRef": previous}
