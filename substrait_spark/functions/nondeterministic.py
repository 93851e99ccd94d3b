"""Functions whose value is another for each row, whatever the row holds: drawn at random, or numbers of rows.

A plan carries the seed that Spark's plan has: the one that the query gives, or one that Spark drew for the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from .table import Plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def drawn(name: str, seed: str, *arguments: str) -> Rule:
    """A function of the arguments in some fields, and of the seed in another."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        given = e.emit_all([node[argument] for argument in arguments])
        start = e.i64(seed_of(node, node[seed]))

        def refused() -> Expression:
            reason = f"{node.name} gives random values, which the dialect {e.dialect.name} has no function for"
            raise NotInDialect(reason, "Compute this column before the exported part of the query, and save it.")

        return e.first(lambda: e.call(f"spark:{name}", *given, start), refused)

    return emit


def seed_of(node: tree.Expression, seed: object) -> int:
    """The seed, which Spark keeps as a number or as a literal; a null counts as 0."""
    if isinstance(seed, tree.Expression) and seed.name == "Literal":
        seed = 0 if seed["value"] is None else seed["value"]
    if not isinstance(seed, int):
        raise Unsupported(
            f"{node.name} doesn't tell the seed that its values are drawn from", "Give it a literal as its seed."
        )
    return seed


def row_number(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MonotonicallyIncreasingID."""
    return e.call("spark:monotonically_increasing_id")


SCALAR: dict[str, Plain | Rule] = {
    "MonotonicallyIncreasingID": row_number,
    "Rand": drawn("rand", "child"),
    "RandStr": drawn("randstr", "seedExpression", "length"),
    "Randn": drawn("randn", "child"),
    "Shuffle": drawn("shuffle", "randomSeed", "child"),
    "Uuid": drawn("uuid", "randomSeed"),
}
"""Functions by Catalyst class."""
