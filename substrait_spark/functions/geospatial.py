"""GEOMETRY and GEOGRAPHY: user-defined types of ours, whose parameters name the reference system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

KINDS = ("u!geometry", "u!geography")


def _typed(function: str) -> Rule:
    """A function of ours whose last argument states the type of the result, which hangs on a number where it is a constant."""

    def call(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(function, *e.emit_all(node["arguments"]), e.null(e.type_of(node)))

    return call


def cast(e: ExpressionBuilder, value: Expression, target: types.Type) -> Expression:
    """A cast between shapes, which never fails."""
    if types.equal_but_nullability(value.type, target):
        return value
    return e.call("spark:st_cast", value, e.null(target))


_STATIC = "StaticInvoke(STUtils.{})"

SCALAR: dict[str, Plain | Rule] = {
    _STATIC.format("stGeogAsBinary"): plain("spark:st_asbinary"),
    _STATIC.format("stGeogFromWKB"): _typed("spark:st_geogfromwkb"),
    _STATIC.format("stGeogSetSrid"): _typed("spark:st_setsrid"),
    _STATIC.format("stGeogSrid"): plain("spark:st_srid"),
    _STATIC.format("stGeomAsBinary"): plain("spark:st_asbinary"),
    _STATIC.format("stGeomFromWKB"): _typed("spark:st_geomfromwkb"),
    _STATIC.format("stGeomSetSrid"): _typed("spark:st_setsrid"),
    _STATIC.format("stGeomSrid"): plain("spark:st_srid"),
}
