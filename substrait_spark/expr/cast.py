"""Casts: what fails throws in ANSI mode and gives null in TRY mode; LEGACY mode differs by types."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Expression
from ..algebra.types import FLOATS, INTEGERS
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, eval_mode
from ..errors import Unsupported
from ..functions.time_cast import time_cast
from .builder import ExpressionBuilder, Rule


def cast(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Cast, by the types it is between and by its own evaluation mode."""
    child = e.emit(node["child"])
    target = e.type_of(node, child.type.nullable)
    mode = eval_mode(node)
    time = time_cast(e, node, child, target)
    if time is not None:
        return time
    if types.equal_but_nullability(child.type, target):
        return child
    if mode == LEGACY and child.type.kind in (*INTEGERS, *FLOATS) and target.kind in INTEGERS:
        if INTEGERS.index(target.kind) < _rank(child.type.kind):
            raise Unsupported("a LEGACY cast to a smaller integer wraps around")
    return e.cast(child, target, throws=mode == ANSI or _never_fails(child.type, target))


def _rank(kind: str) -> int:
    return INTEGERS.index(kind) if kind in INTEGERS else len(INTEGERS)


def _never_fails(source: types.Type, target: types.Type) -> bool:
    return types.widens(source, target) or target.kind in ("string", "fp32", "fp64") and source.kind != "string"


RULES: dict[str, Rule] = {"Cast": cast}
