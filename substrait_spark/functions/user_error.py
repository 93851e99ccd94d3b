"""Errors that a query raises by itself: raise_error and assert_true.

Spark gives them no type. In a plan they have that of what they take the place of, such as the other branches of a CASE, or
else that of a NULL without a type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..catalyst.tree import DataType, make
from ..catalyst.types import to_substrait
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

STRING = DataType("string")

CLASS = "USER_RAISED_EXCEPTION"
"""The class of errors with a message of the user's."""


def untyped(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RaiseError where nothing says which type it stands in for."""
    return in_place(e, node, node.type)


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
    return e.call("spark:raise_error", *e.emit_all(_parts(node)), e.null(to_substrait(type, True)))


def _parts(node: tree.Expression) -> tuple[tree.Expression, tree.Expression]:
    """The class of an error and its parameters; Spark 3.5 has only a message."""
    message = node.get("child")
    if message is None:
        return node["errorClass"], node["errorParms"]
    kind = make("Literal", STRING, False, value=CLASS)
    name = make("Literal", STRING, False, value="errorMessage")
    return kind, make("CreateMap", DataType("map", (STRING, STRING, True)), False, children=(name, message))


SCALAR: dict[str, Plain | Rule] = {
    "IsNotNull": null_test("comparison:is_not_null"),
    "IsNull": null_test("comparison:is_null"),
    "RaiseError": untyped,
}
