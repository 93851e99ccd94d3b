"""Applying the rules of an engine. What one raises, or gives that is no form, is told by the rule's name, file and line.

Rules come from outside, so none of this is taken for granted of them.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from ..algebra import types
from ..algebra.expression import Expression, StandIn
from ..algebra.types import INTERVALS, Type
from ..errors import BrokenRule, Unsupported, kind_of, unknown_form

Kind = TypeVar("Kind")

OURS = f"{__package__}.builder"
"""The module of the builder of engines that have none of their own."""


def applied(rule: Callable[..., Any], of: str, kind: type[Kind], *arguments: Any) -> Kind:
    """What a rule for a function, say, gives, which must be of a kind. Raises BrokenRule where it isn't, or the rule fails."""
    found = _given(rule, of, arguments)
    if not isinstance(found, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise broken_rule(rule, of, f"gave {kind_of(found)} where {article} {kind.__name__} is wanted")
    return found


def applied_if_concerned(rule: Callable[..., Any], of: str, *arguments: Any) -> Expression | None:
    """The expression that a rule gives, which may be about something else and then gives None."""
    found = _given(rule, of, arguments)
    if found is not None and not isinstance(found, Expression):
        raise broken_rule(rule, of, f"gave {kind_of(found)} where an Expression or None is wanted")
    return found


def applied_in_type(rule: Callable[..., Any], of: str, wanted: Type, *arguments: Any) -> Expression:
    """The expression that a rule gives, which must be of a type, nullability aside."""
    found = applied(rule, of, Expression, *arguments)
    if not _serves(found, wanted):
        reason = f"gave an expression of type {found.type} where one of type {wanted} is wanted, as by e.cast"
        raise broken_rule(rule, of, reason)
    return found


def _serves(found: Expression, wanted: Type) -> bool:
    if types.equal_but_nullability(found.type, wanted) or isinstance(found, StandIn):
        return True
    return types.holds(wanted, INTERVALS)  # whose counts may take their place


def _given(rule: Callable[..., Any], of: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return rule(*arguments)
    except (Unsupported, RecursionError):
        raise
    except Exception as error:  # whatever the code of the rule raises
        raise broken_rule(rule, of, f"raised {type(error).__name__}: {error}", error) from error


def broken_rule(rule: Callable[..., Any], of: str, what: str, error: Exception | None = None) -> BrokenRule:
    """What to say of a rule that does what none may."""
    while isinstance(rule, partial):
        rule = rule.func
    name = getattr(rule, "__qualname__", None) or kind_of(rule)
    code = getattr(rule, "__code__", None)
    place = "" if code is None else f" ({code.co_filename}, line {_line(code, error)})"
    return BrokenRule(f"the rule {name} for {of}{place} {what}")


def unexpected(error: Exception, builder: type) -> Unsupported:
    """What to say of an exception that is no rule's: the engine's builder fails, or a form is not known."""
    files = {method.__code__.co_filename for method in vars(builder).values() if hasattr(method, "__code__")}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if not frames or builder.__module__ == OURS:
        return unknown_form(error)
    place = f"{frames[-1].filename}, line {frames[-1].lineno}"
    problem = BrokenRule(f"the builder {builder.__qualname__} ({place}) raised {type(error).__name__}: {error}")
    problem.__cause__ = error
    return problem


def _line(code: Any, error: Exception | None) -> int:
    """Where in a rule's file an error came from; where the rule begins, if there is none."""
    line: int = code.co_firstlineno
    trace = None if error is None else error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
