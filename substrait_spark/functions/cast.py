"""Casts: what fails throws in ANSI mode and gives null in TRY mode; in LEGACY mode, integers wrap around.

A plain cast means the same in every place: it throws, or it is null where the other throws. What LEGACY mode does otherwise
is a function of ours. A list, a map or a struct is cast by its parts: in one cast where that is one of each part, else
part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Cast, Expression, FieldReference, IfThen, Lambda, Nested, ScalarFunction
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, eval_mode
from ..catalyst.tree import DataType
from ..errors import Unsupported
from ..expr.lambda_ import transformed
from ..expr.nested import field_of
from . import collation, geospatial, user_error, variant
from .time_cast import time_cast

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder, Rule


def cast(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Cast, by the types it is between and by its own evaluation mode. An error is raised in any type."""
    if node["child"].name == "RaiseError":
        return user_error.in_place(e, node["child"], node.type)
    return _cast(e, node, e.emit(node["child"]))


def _cast(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    if node["child"].type.name == "void":
        return _null(e, value, e.type_of(node, True))
    target = e.type_of(node, value.type.nullable)
    if collation.KIND in (value.type.kind, target.kind):
        return _collated(e, node, value, target)
    if variant.KIND in (value.type.kind, target.kind) and value.type.kind != target.kind:
        return (variant.cast_from if value.type.kind == variant.KIND else variant.cast_to)(e, node, value)
    if target.kind in geospatial.KINDS:
        return geospatial.cast(e, value, target)
    time = time_cast(e, node, value, target)
    if time is not None:
        return time
    if types.equal_but_nullability(value.type, target):
        return value
    if value.type.kind in BY_PARTS:
        _require_plain_texts(e, target)
        return BY_PARTS[value.type.kind](e, node, value, target)
    return _converted(e, value, target, eval_mode(node))


def _null(e: ExpressionBuilder, value: Expression, target: Type) -> Expression:
    """The NULL of a type that a NULL without a type becomes, which may raise first."""
    if not value.raises:
        return e.null(target)
    if isinstance(value, IfThen):
        clauses = [part for condition, branch in value.clauses for part in (condition, _null(e, branch, target))]
        return e.if_then(*clauses, _null(e, value.otherwise, target))
    if isinstance(value, ScalarFunction) and value.declaration.function == "spark:raise_error":
        return e.call("spark:raise_error", *value.arguments[:-1], e.null(target))
    raise Unsupported(
        "a NULL without a type, which may be an error, is cast to another type",
        "Cast the NULL to its type where it is made.",
    )


def _collated(e: ExpressionBuilder, node: tree.Expression, value: Expression, target: Type) -> Expression:
    """A cast of or to a collated string: of or to its text."""
    if types.equal_but_nullability(value.type, target):
        return value
    if value.type.kind == collation.KIND:
        return _part(e, node, collation.STRING, node.type, collation.text_of(e, value))
    text = _part(e, node, node["child"].type, collation.STRING, value)
    return collation.collated(e, text, target)


# ---- numbers, booleans, text and binary


def _converted(e: ExpressionBuilder, value: Expression, target: Type, mode: str) -> Expression:
    kinds = (value.type.kind, target.kind)
    never_fails = types.widens(value.type, target) or kinds in NEVER_FAIL
    if mode == LEGACY and not never_fails and target.kind in INTEGERS:
        read = "whole" if kinds[0] == "string" else "wrap"
        return e.call(f"spark:{read}_{target.kind}", value)
    if kinds[0] in INTEGERS and kinds[1] == "binary":
        return e.call("spark:to_bytes", value)
    if mode == LEGACY and kinds == ("decimal", "string") and value.type.parameters[1] > SCIENTIFIC:
        return e.call("spark:to_scientific", value)
    if mode == ANSI and kinds[0] in FLOATS and kinds[1] == "decimal":
        # NaN and the infinities are null in every mode.
        value = e.share(value)
        return e.if_then(e.call("comparison:is_finite", value), e.cast(value, target), e.null(target))
    return e.cast(value, target, mode == ANSI or never_fails)


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


# ---- lists, maps and structs


def _list(e: ExpressionBuilder, node: tree.Expression, value: Expression, target: Type) -> Expression:
    wanted = node.type if target.kind == "string" else node.type.parameters[0]
    element: Type = value.type.parameters[0]
    variable = FieldReference(0, element, parameter=0)
    body = _inside(e, node, node["child"].type.parameters[0], wanted, variable)
    if _are_casts([body], [variable]):
        return e.cast(value, target, _throws([body]))
    return _assembled(e, transformed(e, value, element, body), target)


def _map(e: ExpressionBuilder, node: tree.Expression, value: Expression, target: Type) -> Expression:
    source = node["child"].type.parameters
    wanted = (node.type, node.type) if target.kind == "string" else node.type.parameters
    variables = [FieldReference(n, kind, parameter=0) for n, kind in enumerate(value.type.parameters)]
    bodies = [_inside(e, node, *kinds) for kinds in zip(source[:2], wanted[:2], variables, strict=True)]
    if not _are_casts(bodies[:1], variables[:1]):
        raise Unsupported(
            f"no function casts the keys of {value.type} to those of {target}",
            "Take the map apart with map_entries, and cast keys and values by themselves.",
        )
    if _are_casts(bodies, variables):
        return e.cast(value, target, _throws(bodies))
    function = Lambda(value.type.parameters, bodies[1])
    return _assembled(e, e.call("spark:transform_values", value, function), target, _throws(bodies[:1]))


def _struct(e: ExpressionBuilder, node: tree.Expression, value: Expression, target: Type) -> Expression:
    def parts(struct: Expression) -> tuple[Sequence[Expression], Sequence[Expression]]:
        fields = [field_of(struct, n) for n in range(len(source.parameters))]
        return fields, [
            _part(e, node, field.type, kind, inside)
            for field, kind, inside in zip(source.parameters, wanted, fields, strict=True)
        ]

    source: DataType = node["child"].type
    text = target.kind == "string"
    wanted = [node.type] * len(source.parameters) if text else [field.type for field in node.type.parameters]
    fields, bodies = parts(value)
    if _are_casts(bodies, fields):
        return e.cast(value, target, _throws(bodies))
    shared = e.share(value)
    _, bodies = parts(shared)
    kinds = [body.type for body in bodies] if text else target.parameters
    values = tuple([e.as_type(body, kind) for body, kind in zip(bodies, kinds, strict=True)])
    built = _assembled(e, Nested(types.of("struct", *kinds, nullable=False), values), target)
    return e.if_then(e.is_not_null(shared), built, e.null(built.type)) if shared.type.nullable else built


BY_PARTS = {"list": _list, "map": _map, "struct": _struct}
"""By the kind of what is cast."""


def _inside(
    e: ExpressionBuilder, node: tree.Expression, source: DataType, target: DataType, variable: Expression
) -> Expression:
    """The cast of a part, in a lambda of which it is a parameter."""
    inner = e.branch()
    inner.lambdas.append({})
    return _part(inner, node, source, target, variable)


def _part(
    e: ExpressionBuilder, node: tree.Expression, source: DataType, target: DataType, value: Expression
) -> Expression:
    """The cast of a part, in the mode and the time zone of the whole."""
    child = tree.Expression(node["child"].cls, (), type=source, nullable=value.type.nullable)
    e.let(child, value)
    part = tree.Expression(node.cls, node.replace(child=child).values, type=target, nullable=True)
    return _cast(e, part, value)


def _are_casts(bodies: Sequence[Expression], parts: Sequence[Expression]) -> bool:
    """Whether parts become no more than casts of them."""
    return all(
        body is part or (isinstance(body, Cast) and body.input is part)
        for body, part in zip(bodies, parts, strict=True)
    )


def _throws(bodies: Sequence[Expression]) -> bool:
    """Whether no cast of a part is null for what fails."""
    return all(body.throws for body in bodies if isinstance(body, Cast))


def _assembled(e: ExpressionBuilder, parts: Expression, target: Type, throws: bool = True) -> Expression:
    """What is made of parts that are cast already, as a value of the target type."""
    return e.cast(parts, types.with_nullable(target, parts.type.nullable), throws)


def _require_plain_texts(e: ExpressionBuilder, target: Type) -> None:
    """Refuse collections as text in the form of Spark before 3.1."""
    setting = "spark.sql.legacy.castComplexTypesToString.enabled"
    if target.kind == "string" and e.context.configuration.get(setting, "").upper() == "TRUE":
        raise Unsupported(f"the setting {setting}=true gives collections another text", "Set it to false.")


RULES: dict[str, Rule] = {"Cast": cast}
