"""Errors that a query raises by itself: raise_error and assert_true. They have the type of what they stand in for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import FieldReference
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.tree import DataType, make
from ..errors import NotInDialect, Unsupported
from ..expr.nested import typed_null
from .datetime import raised
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

SHOWN = ("boolean", "date", "string", *INTEGERS, *FLOATS)
"""Types of columns that a raising expression can hold."""

CAST_TO = (*SHOWN, "decimal", "precision_timestamp", "precision_timestamp_tz")
"""Types that it can have."""

STRING = DataType("string")

CLASS = "USER_RAISED_EXCEPTION"
"""The class of errors with a message of the user's."""


def untyped(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RaiseError where nothing says which type it stands in for."""
    raise Unsupported(
        "raise_error and assert_true give a NULL that nothing gives a type",
        "Cast the result to a type, for example with CAST(assert_true(condition) AS BOOLEAN).",
    )


def null_test(function: str) -> Rule:
    """IsNull, IsNotNull: of an error no more than the error, which gives no value to look at."""
    test = plain(function)

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if node["child"].name == "RaiseError":
            return in_place(e, node["child"], node.type)
        return test.emit(e, node)

    return emit


def in_place(e: ExpressionBuilder, node: tree.Expression, type: DataType) -> Expression:
    """RaiseError in the place of a value of a type."""
    like = typed_null(e, type)
    kind, parameters = _parts(node)

    def own() -> Expression:
        return e.call("spark:raise_error", *e.emit_all([kind, parameters]), like)

    return e.first(own, lambda: _failing_cast(e, _message(kind, parameters), like.type))


def _parts(node: tree.Expression) -> tuple[tree.Expression, tree.Expression]:
    """The class of an error and its parameters; Spark 3.5 has only a message."""
    message = node.get("child")
    if message is None:
        return node["errorClass"], node["errorParms"]
    kind = make("Literal", STRING, False, value=CLASS)
    name = make("Literal", STRING, False, value="errorMessage")
    return kind, make("CreateMap", DataType("map", (STRING, STRING, True)), False, children=(name, message))


def _failing_cast(e: ExpressionBuilder, message: str | tree.Expression | None, type: Type) -> Expression:
    """A cast of text to a number. It holds a value of the row, so that no engine evaluates it ahead of time."""
    if message is None or type.kind not in CAST_TO:
        raise NotInDialect(f"the dialect {e.dialect.name} has no error of this class in the place of {type}")
    if isinstance(message, tree.Expression):
        return raised(e, CLASS, type, e.emit(message))
    witness = next((n for n, kind in enumerate(e.scope.types) if kind.kind in SHOWN), None)
    if witness is None:
        raise NotInDialect(f"the dialect {e.dialect.name} would raise the error before it has a row")
    return raised(e, f"{CLASS}: {message}", type, FieldReference(witness, e.scope.types[witness]))


def _message(kind: tree.Expression, parameters: tree.Expression) -> str | tree.Expression | None:
    """The message of an error of the user's, a text or an expression; None for errors of other classes."""
    if kind.name != "Literal" or kind["value"] != CLASS:
        return None
    if parameters.name == "CreateMap" and len(parameters["children"]) == 2:
        message: tree.Expression = parameters["children"][1]
        return str(message["value"]) if message.name == "Literal" else message
    return str(parameters["value"][1][0]) if parameters.name == "Literal" else None


SCALAR: dict[str, Plain | Rule] = {
    "IsNotNull": null_test("comparison:is_not_null"),
    "IsNull": null_test("comparison:is_null"),
    "RaiseError": untyped,
}
