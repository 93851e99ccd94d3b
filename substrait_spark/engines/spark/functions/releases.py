"""Functions that are others in older releases of Spark: their plans are refused there, so that no rows are wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.types import FLOATS
from ....catalyst.versions import running
from ....errors import Unsupported
from ....functions.structured_text import SORTED
from ..calls import AggregateCall, Call

_SMALL = 1 << 29
"""Numbers of at most so much have sums that fit into 32 bits."""


class Other(NamedTuple):
    """Before which release a function is another, what it does there, and for which calls, if not for all."""

    release: tuple[int, int]
    does: str
    concerns: Callable[[Call], bool] = lambda call: True


def _is_far(call: Call) -> bool:
    """Whether a part of binary values may begin far before them."""
    position, length = (_number(call, n) for n in (1, 2))
    if call.types[0].kind != "binary" or (position is not None and position >= 1):
        return False
    return position is None or length is None or min(position, length) < -_SMALL


def _is_long(call: Call) -> bool:
    """Whether the position and the length of an overlay may be large together."""
    numbers = [_number(call, n) for n in (2, 3)]
    return any(number is None or abs(number) > _SMALL for number in numbers)


def _number(call: Call, index: int) -> int | None:
    argument = call.expressions[index]
    return argument.value if isinstance(argument, Literal) else None


def _holds_floats(call: Call) -> bool:
    return types.holds(call.types[0], FLOATS)


def _counts_maps(call: Call) -> bool:
    """Whether a call counts different maps whose entries nothing has sorted, as Spark 4.3 does by itself."""
    if not isinstance(call, AggregateCall) or not call.function.distinct:
        return False
    return any(types.holds(each.type, ("map",)) and not _is_sorted(each) for each in call.expressions)


def _is_sorted(value: Expression) -> bool:
    return isinstance(value, ScalarFunction) and value.declaration.name == "map_sort"


def _sorts_keys(call: Call) -> bool:
    """Whether an option asks for sorted keys: options are pairs of texts behind a value, its type and a time zone."""
    return any(call.constant(n).lower() == SORTED for n in range(3, len(call.values), 2))


SETS = ("array_distinct", "array_except", "array_intersect", "array_union", "arrays_overlap")
"""Functions that take lists for sets."""

OTHERS: Mapping[str, Other] = {
    "aggregate_generic:count": Other((4, 3), "counts maps with entries in another order as others", _counts_maps),
    "arithmetic:acosh": Other((4, 2), "loses digits"),
    "arithmetic:asinh": Other((4, 2), "loses digits"),
    **{f"spark:{name}": Other((4, 2), "may take -0.0 for another element than 0.0", _holds_floats) for name in SETS},
    "spark:collect_set": Other((4, 2), "has each NaN in a set", _holds_floats),
    "spark:overlay": Other((4, 2), "adds a position and a length in 32 bits", _is_long),
    "spark:regexp_instr": Other((4, 0), "counts some characters as two"),
    "spark:spark_substring": Other((4, 0), "begins elsewhere far before binary values", _is_far),
    "spark:to_json": Other((4, 2), "ignores the option sortKeys", _sorts_keys),
}
"""By function. docs/spark-versions.md tells more of them."""


def require_same(call: Call) -> None:
    """Refuse a call that the Spark which runs here answers otherwise."""
    other = OTHERS.get(call.key)
    if other is not None and running() < other.release and other.concerns(call):
        raise Unsupported(
            f"{call.key} is not run by this Spark, which {other.does}",
            f"Run the plan in Spark {other.release[0]}.{other.release[1]} or later.",
        )
