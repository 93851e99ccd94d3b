"""LEFT_SINGLE as a left join that raises where a row on the left has several matches, for dialects without the join type."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ...algebra import types
from ...algebra.builder import CallBuilder
from ...algebra.expression import FieldReference, Nested
from ...algebra.feature import JOIN
from ...algebra.frame import WHOLE, over
from ...algebra.join_columns import with_right_side_moved
from ...algebra.relation import ALL_ROWS, Fetch, Filter, Join, Relation, Window
from ...algebra.traversal import transformed

if TYPE_CHECKING:
    from ..lowering import Lowering

ERROR = "[SCALAR_SUBQUERY_TOO_MANY_ROWS] so many rows of a subquery used as an expression: "

PARAMETERS = types.of("map", types.STRING, types.STRING, nullable=False)


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each LEFT_SINGLE join as a left join that checks how many matches each row on the left has."""
    if lowering.dialect.allows_relation("JOIN", "join_types", "LEFT_SINGLE"):
        return root
    e = CallBuilder(lowering.traits)

    return transformed(
        root, lambda relation: _checked(e, relation) if _is_single(relation) else relation, _is_single, JOIN
    )


def _is_single(relation: Relation) -> TypeGuard[Join]:
    return isinstance(relation, Join) and relation.join_type == "LEFT_SINGLE"


def _checked(e: CallBuilder, join: Join) -> Relation:
    left, right = join.inputs
    width = len(left.types)
    numbered = Window(left, [e.window("arithmetic:row_number", frame=WHOLE)], (), ())
    condition = with_right_side_moved(join.condition, width, 1)
    joined = Join(numbered, right, "LEFT", condition)
    number = FieldReference(width, joined.types[width])
    counted = Window(joined, [over(e.aggregate("aggregate_generic:count"), WHOLE)], (number,), ())
    number_of_rows = FieldReference(len(joined.types), counted.types[-1])
    several = e.call("comparison:gt", number_of_rows, e.i64(1))
    message = e.call("string:concat", e.text(ERROR), e.cast(number_of_rows, types.STRING), null_handling="ACCEPT_NULLS")
    parameters = Nested(PARAMETERS, (e.text("errorMessage"), message))
    error = e.call("spark:raise_error", e.text("USER_RAISED_EXCEPTION"), parameters, e.null(types.I64))
    checked = e.if_then(several, e.call("comparison:gt", error, e.i64(0)), e.true())
    # Engines move no filter below a limit, so no filter above can hide the error.
    whole = Fetch(Filter(counted, checked), 0, ALL_ROWS)
    own = whole.select([*range(width), *range(width + 1, len(joined.types))])
    return own.emitting_as(join)
