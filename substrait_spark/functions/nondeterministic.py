"""Functions whose value is another for each row, whatever the row holds: drawn at random, or numbers of rows.

A plan carries the seed that Spark's plan has: the one that the query gives, or one that Spark drew for the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..errors import Unsupported
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def seeded(name: str, seed: str, *arguments: str) -> Rule:
    """A function of the arguments in some fields, and of the seed in another."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        given = e.emit_all([node[argument] for argument in arguments])
        return e.call(f"spark:{name}", *given, e.i64(seed_of(node, node[seed])))

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


SCALAR: dict[str, Plain | Rule] = {
    "MonotonicallyIncreasingID": plain("spark:monotonically_increasing_id"),
    "Rand": seeded("rand", "child"),
    "RandStr": seeded("randstr", "seedExpression", "length"),
    "Randn": seeded("randn", "child"),
    "Shuffle": seeded("shuffle", "randomSeed", "child"),
    "Uuid": seeded("uuid", "randomSeed"),
}
"""Functions by Catalyst class."""
