"""`lambdas_over_no_rows`: of a batch without rows, DataFusion's `array_transform` makes one null, and what is computed of that alone is computed once.

    SELECT to_unixtime(concat('a', coalesce(cast(array_length(array_transform(l, x -> x)) AS varchar), ''))) FROM t   -- an error

A branch that raises is computed too where there are no rows. So the text of an error is made of the lambda's own list as well.
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, ScalarFunction
from ....algebra.feature import LAMBDA
from ....algebra.traversal import is_own, subexpressions
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Raised


def in_error(e: LoweringBuilder, form: Raised) -> Raised:
    """The error, whose text is of each row: with no characters more."""
    if not form.witness.features & LAMBDA:
        return form
    made = [part.children()[0] for part in subexpressions(form.witness) if _is_made_by_lambda(part)]
    list = next((each for each in reversed(made) if any(map(is_own, subexpressions(each)))), None)
    if list is None:
        return form
    length = e.cast(e.call("datafusion:array_length", list), types.STRING)
    nothing = e.coalesce(e.call("datafusion:substring", length, e.i32(1), e.i32(0)), e.text(""))
    text = e.cast(form.witness, types.STRING)
    return form._replace(witness=e.call("string:concat", text, nothing, null_handling="ACCEPT_NULLS"))


def _is_made_by_lambda(part: Expression) -> bool:
    return isinstance(part, ScalarFunction) and part.declaration.name == "array_transform"
