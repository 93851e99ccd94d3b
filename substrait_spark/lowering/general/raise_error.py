"""raise_error, for engines without such a function: a cast to a number of the error's text, which is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.expression import Expression, FieldReference, Literal, Nested, ScalarFunction
from ...algebra.types import FLOATS, INTEGERS, Type
from ...dialects.rewrite import Sees, rewrites
from ...errors import NotInDialect

if TYPE_CHECKING:
    from ..builder import LoweringBuilder
    from ..expression import ExpressionLowering

SHOWN = ("boolean", "date", "string", *INTEGERS, *FLOATS)
"""Types of columns that a raising expression can hold."""

CAST_TO = (*SHOWN, "decimal", "precision_timestamp", "precision_timestamp_tz")
"""Types that it can have."""

CLASS = "USER_RAISED_EXCEPTION"
"""The class of errors with a message of the user's."""


def cast_of_text(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """raise_error of a message. It holds a value of the row, so that no engine evaluates it ahead of time."""
    e = lowering.e
    kind, parameters, like = call.children()
    message = _message(kind, parameters)
    if message is None or like.type.kind not in CAST_TO:
        raise NotInDialect(f"the dialect {e.dialect.name} has no error of this class in the place of {like.type}")
    if not isinstance(message, Literal):
        return raised(e, CLASS, like.type, lowering.lower(message))
    witness = next((n for n, kind in enumerate(e.columns) if kind.kind in SHOWN), None)
    if witness is None:
        raise NotInDialect(f"the dialect {e.dialect.name} would raise the error before it has a row")
    return raised(e, f"{CLASS}: {message.value}", like.type, FieldReference(witness, e.columns[witness]))


def _message(kind: Expression, parameters: Expression) -> Expression | None:
    """The message of an error of the user's; None for errors of other classes."""
    if not isinstance(kind, Literal) or kind.value != CLASS:
        return None
    if isinstance(parameters, Nested) and len(parameters.parts) == 2:
        return parameters.parts[1]
    if isinstance(parameters, Literal):
        _, (message,) = parameters.value
        return Literal(message, types.STRING)
    return None


def raised(e: LoweringBuilder, error: str, type: Type, witness: Expression) -> Expression:
    """What raises one of Spark's errors, in a type that text can't be cast to directly."""
    return raising(e, f"[{error}]", type, witness)


def raising(e: LoweringBuilder, message: str, type: Type, witness: Expression) -> Expression:
    """What raises an error with this message, in a type that text can't be cast to directly."""
    if type.kind == "date":
        return e.cast(e.raises(message, types.I32, witness), type)
    if type.kind.startswith("precision"):
        return e.cast(e.raises(message, types.I64, witness), type)
    return e.raises(message, type, witness)


REWRITES = rewrites({"spark:raise_error": cast_of_text}, sees=Sees.ORIGINAL)
