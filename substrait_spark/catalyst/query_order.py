"""The order that a query asks of its rows, as the analyzer leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .plan_classes import Does, that_do
from .row_order import ORDER_KEEPING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LIMITS = that_do(Does.CUTS)


class Ordering(NamedTuple):
    """Which output columns a query orders by, and whether a limit, or an offset, may then cut through rows that tie."""

    columns: tuple[int, ...]
    limited: bool = False
    skipping: bool = False
    complete: bool = True
    """Whether these columns tell which rows tie, since the query orders by nothing else."""


def ordering(df: DataFrame) -> Ordering:
    """The order of a query's result, up to the first key that isn't one of its columns."""
    node: Any = df._jdf.queryExecution().analyzed()
    output = [node.output().apply(index).exprId().id() for index in range(node.output().size())]
    limited = skipping = False
    while node.nodeName() != "Sort":
        limited = limited or node.nodeName() in LIMITS
        skipping = skipping or node.nodeName() == "Offset"
        if node.nodeName() == "WithCTE":
            node = node.plan()
        elif node.nodeName() in ORDER_KEEPING:
            node = node.children().apply(0)
        else:
            return Ordering((), limited, skipping, complete=False)
    if not getattr(node, "global")():  # SORT BY: of the rows of each partition, which plans don't have
        return Ordering((), limited, skipping, complete=False)
    keys: list[int] = []
    for index in range(node.order().size()):
        key = node.order().apply(index).child()
        if key.nodeName() != "AttributeReference" or key.exprId().id() not in output:
            return Ordering(tuple(keys), limited, skipping, complete=False)
        keys.append(output.index(key.exprId().id()))
    return Ordering(tuple(keys), limited, skipping)
