"""Casts: what fails throws in ANSI mode and gives null in TRY mode; in LEGACY mode, integers wrap around.

The canonical form is a cast. Where the dialect's own cast isn't exact (`exact` in its CAST expression), a form from
`functions/number_cast.py` or `functions/time_cast.py` takes its place.
"""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Expression, FieldReference
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, eval_mode
from ..catalyst.tree import DataType
from ..errors import NotInDialect, Unsupported
from ..functions import user_error
from ..functions.number_cast import FORMS
from ..functions.time_cast import time_cast
from .builder import ExpressionBuilder, Rule
from .lambda_ import transformed


def cast(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Cast, by the types it is between and by its own evaluation mode. An error is raised in any type."""
    if node["child"].name == "RaiseError":
        return user_error.in_place(e, node["child"], node.type)
    child = e.emit(node["child"])
    target = e.type_of(node, child.type.nullable)
    time = time_cast(e, node, child, target)
    if time is not None:
        return time
    if types.equal_but_nullability(child.type, target):
        return child
    mode = eval_mode(node)
    if child.type.kind == "list" and target.kind in ("list", "string"):
        require_plain_texts(e, target)
        return e.first(lambda: canonical(e, child, target, mode), lambda: of_elements(e, node, child, target))
    form = FORMS.get((child.type.kind, target.kind), _no_form)
    return e.first(lambda: canonical(e, child, target, mode), lambda: form(e, child, target, mode))


def canonical(e: ExpressionBuilder, child: Expression, target: Type, mode: str) -> Expression:
    """The standard cast, or our own function where LEGACY mode has a result that no cast has."""
    kinds = (child.type.kind, target.kind)
    never_fails = types.widens(child.type, target) or kinds in NEVER_FAIL
    if mode == LEGACY and not never_fails and target.kind in INTEGERS and kinds[0] in (*INTEGERS, *FLOATS, "decimal"):
        return e.call(f"spark:wrap_{target.kind}", child)
    if kinds[0] in INTEGERS and kinds[1] == "binary":
        return e.call("spark:to_bytes", child)
    if mode == LEGACY and kinds == ("decimal", "string") and child.type.parameters[1] > SCIENTIFIC:
        return e.call("spark:to_scientific", child)
    throws = mode == ANSI or never_fails
    if not e.dialect.allows_cast(child.type, target, throws):
        raise NotInDialect(f"the dialect {e.dialect.name} has no exact cast of {child.type} to {target}")
    if kinds[0] in FLOATS and kinds[1] == "decimal" and throws:
        # NaN and the infinities are null in every mode.
        value = e.share(child)
        return e.if_then(e.call("comparison:is_finite", value), e.cast(value, target), e.null(target))
    return e.cast(child, target, throws)


NEVER_FAIL = {
    *((source, target) for source in ("boolean", *INTEGERS, *FLOATS) for target in ("boolean", "string", *FLOATS)),
    *(("boolean", target) for target in INTEGERS),
    *(("decimal", target) for target in ("boolean", "string", *FLOATS)),
    ("binary", "string"),
    ("string", "binary"),
}
"""Casts that give every value a result."""


SCIENTIFIC = 6
"""Decimals of more digits behind the point may be written with an exponent in LEGACY mode."""


def of_elements(e: ExpressionBuilder, node: tree.Expression, list: Expression, target: Type) -> Expression:
    """A list as one of other elements, each cast by itself, or as text: `[1, null]`."""
    kind = node["child"].type.parameters[0]
    if target.kind == "list":
        return _transformed(e, node, list, kind, node.type.parameters[0])
    texts = list if kind.name == "string" else _transformed(e, node, list, kind, node.type)
    joined = e.call("datafusion:array_to_string", texts, e.text(", "), e.text("null"))
    return e.call("string:concat", e.text("["), joined, e.text("]"), null_handling="ACCEPT_NULLS")


def _transformed(
    e: ExpressionBuilder, node: tree.Expression, list: Expression, source: DataType, target: DataType
) -> Expression:
    element = list.type.parameters[0]
    inner = e.branch()
    inner.lambdas.append({})
    variable = tree.Expression(node["child"].cls, (), type=source, nullable=element.nullable)
    inner.let(variable, FieldReference(0, element, parameter=0))
    values = node.replace(child=variable).values
    body = cast(inner, tree.Expression(node.cls, values, type=target, nullable=True))
    return transformed(e, list, element, body)


def require_plain_texts(e: ExpressionBuilder, target: Type) -> None:
    """Refuse collections as text in the form of Spark before 3.1."""
    setting = "spark.sql.legacy.castComplexTypesToString.enabled"
    if target.kind == "string" and e.context.configuration.get(setting, "").upper() == "TRUE":
        raise Unsupported(f"the setting {setting}=true gives collections another text", "Set it to false.")


def _no_form(e: ExpressionBuilder, child: Expression, target: Type, mode: str) -> Expression:
    raise NotInDialect(f"the dialect {e.dialect.name} has no exact cast of {child.type} to {target}")


RULES: dict[str, Rule] = {"Cast": cast}
