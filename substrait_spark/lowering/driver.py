"""Runs rewrites. What one raises, or gives that is no form, is told by the rewrite's name, file and line.

Rewrites come from outside, so none of this is taken for granted of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..algebra import types
from ..algebra.expression import Expression, StandIn
from ..algebra.relation import Relation
from ..algebra.types import Type
from ..dialects.rewrite import Rewrite, Rewrites
from ..errors import BrokenRewrite, Unsupported, kind_of
from .forms import BECOMES

if TYPE_CHECKING:
    from .builder import LoweringBuilder

Kind = TypeVar("Kind")

OR_NONE: Any = (Expression, type(None))


def rewritten(e: LoweringBuilder, form: Any) -> Any:
    """The result of the rewrites of an expression, a relation or a form over lowered parts: one runs after the other,
    until one gives something of another class."""
    kind = type(form)
    for rewrite in e.rewrites.lowered.get(kind, ()):
        if isinstance(form, Expression):
            form = in_type(rewrite, form.type, e, form)
        else:
            form = applied(rewrite, _kinds(form), e, form)
        if type(form) is not kind:
            break
    return form


def _kinds(form: Any) -> Any:
    """The classes of what a rewrite may give for a relation or a form."""
    if isinstance(form, Relation):
        return Relation
    wanted = BECOMES.get(type(form))
    return type(form) if wanted is None else (wanted, type(form))


def built(e: LoweringBuilder, rewrites: tuple[Rewrite, ...], node: Expression) -> Expression:
    """The result of the rewrites that see an expression once it is built in the dialect's forms."""
    kind = type(node)
    for rewrite in rewrites:
        node = in_type(rewrite, node.type, e, node)
        if type(node) is not kind:
            break
    return node


def applied(rewrite: Rewrite, kind: type[Kind], *arguments: Any) -> Kind:
    """What a rewrite gives, which must be of a kind. Raises BrokenRewrite where it isn't, or the rewrite fails."""
    try:
        given = rewrite.apply(*arguments)
    except (Unsupported, RecursionError):
        raise
    except Exception as error:  # whatever the code of the rewrite raises
        raise _broken(rewrite, f"raised {type(error).__name__}: {error}", error) from error
    if not isinstance(given, kind):
        raise _no_such(rewrite, given, kind)
    return given


def if_concerned(rewrite: Rewrite, *arguments: Any) -> Expression | None:
    """The expression that a rewrite gives; None where it says that it is not for this one."""
    expression: Expression | None = applied(rewrite, OR_NONE, *arguments)
    return expression


def in_type(rewrite: Rewrite, wanted: Type, e: LoweringBuilder, *arguments: Any) -> Expression:
    """The expression that a rewrite gives, which must be of a type, nullability aside."""
    expression = applied(rewrite, Expression, e, *arguments)
    if expression.type is not wanted:
        require_type(rewrite, expression, wanted, e.rewrites)
    return expression


def require_type(rewrite: Rewrite, expression: Expression, wanted: Type, rewrites: Rewrites) -> None:
    """Raise BrokenRewrite for an expression of another type than is wanted, nullability aside; converted values may be."""
    if types.equal_but_nullability(expression.type, wanted) or isinstance(expression, StandIn):
        return
    if not rewrites.conversions or not types.holds(wanted, tuple(rewrites.conversions)):
        reason = f"gave an expression of type {expression.type} where one of type {wanted} is wanted, as by e.cast"
        raise _broken(rewrite, reason)


def _no_such(rewrite: Rewrite, given: Any, kind: Any) -> BrokenRewrite:
    first, *others = [each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,))]
    article = "an" if first[0] in "AEIOU" else "a"
    others = [name.replace("NoneType", "None") for name in others]
    return _broken(rewrite, f"gave {kind_of(given)} where {' or '.join([f'{article} {first}', *others])} is wanted")


def _broken(rewrite: Rewrite, what: str, error: Exception | None = None) -> BrokenRewrite:
    return broken_rewrite(rewrite.apply, rewrite.of, what, error)


def broken_rewrite(apply: Callable[..., Any], of: str, what: str, error: Exception | None = None) -> BrokenRewrite:
    """The error for a rewrite that breaks the rules for rewrites."""
    while isinstance(apply, partial):
        apply = apply.func
    name = getattr(apply, "__qualname__", None) or kind_of(apply)
    code = getattr(apply, "__code__", None)
    place = "" if code is None else f" ({code.co_filename}, line {_line(code, error)})"
    return BrokenRewrite(f"the rewrite {name} for {of}{place} {what}", error)


def _line(code: Any, error: Exception | None) -> int:
    """Where in a rewrite's file an error came from; where the rewrite begins, if there is none."""
    line: int = code.co_firstlineno
    trace = None if error is None else error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
