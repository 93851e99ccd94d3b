"""`early_casts`: DataFusion computes casts of constants as it plans, those that fail included.

    SELECT CASE WHEN x > 1 THEN cast('a' AS int) END FROM (VALUES (1)) t(x)   -- Cannot cast string 'a'

So a query fails by a cast in a branch that no row takes. Whatever else fails while it plans is left to be computed for the
rows that reach it: a call that raises does so in time, and a cast of a constant becomes one that gives null where it fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.expression import Cast, Expression, FieldReference, Lambda, ScalarFunction, Subquery
from ....algebra.types import Type
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Raised
from ....lowering.general.raise_error import raised

RAISING = "to_unixtime"
"""A function that raises, in time, with its text where that begins like no date."""


def _is_early(cast: Cast) -> bool:
    """Whether DataFusion computes a cast as it plans, and the cast may fail."""
    if types.equal_but_nullability(cast.input.type, cast.type) and not cast.checks:
        return False
    fails = cast.throws and (cast.checks or not _always_casts(cast.input.type, cast.type))
    return fails and not _is_error(cast.input) and _is_known(cast.input)


def _always_casts(source: Type, target: Type) -> bool:
    """Whether a cast never fails: DataFusion's text is always UTF-8, Spark's may be any bytes."""
    return source.kind != "binary" and types.always_casts(source, target)


def _is_error(expression: Expression) -> bool:
    """Whether an expression always raises, so that there is no value to cast."""
    while isinstance(expression, Cast):
        expression = expression.input
    return isinstance(expression, ScalarFunction) and expression.declaration.name == RAISING


def _is_known(expression: Expression) -> bool:
    """Whether an expression has the same value for all rows, and for all calls of a lambda around it."""
    stack = [(expression, 0)]
    while stack:
        part, lambdas = stack.pop()
        if isinstance(part, Subquery) or (isinstance(part, ScalarFunction) and not part.declaration.deterministic):
            return False
        if isinstance(part, FieldReference) and (part.parameter is None or part.parameter >= lambdas):
            return False
        stack += [(child, lambdas + isinstance(part, Lambda)) for child in part.children()]
    return True


def error(e: LoweringBuilder, form: Raised) -> Expression:
    """An expression that always raises, in time: of an integer type, cast to the one that is wanted."""
    return e.cast(e.call(f"datafusion:{RAISING}", e.error_text(form.message, form.witness)), form.type)


def late(e: LoweringBuilder, cast: Cast) -> Expression:
    """The cast, which raises only for rows that reach it."""
    if not _is_early(cast):
        return cast
    input = e.share(cast.input)
    value_or_null = e.share(Cast(input, types.nullable(cast.type), throws=False, checks=cast.checks))
    witness = input if _always_casts(input.type, types.STRING) else e.text(f"{input.type.kind} in {cast.type.kind}")
    problem = raised(e, "CAST_INVALID_INPUT", cast.type, witness)
    return e.if_then(e.and_(*_failed(e, input, value_or_null)), problem, e.as_type(value_or_null, cast.type))


def _failed(e: LoweringBuilder, input: Expression, value_or_null: Expression) -> Sequence[Expression]:
    """The conditions under which the cast has failed: it is null, and its input is not."""
    return [e.is_null(value_or_null), e.is_not_null(input)] if input.type.nullable else [e.is_null(value_or_null)]
