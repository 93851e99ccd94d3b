"""Functions that a plan names without saying what file they are from, as DataFusion's producer does.

Such a name is the standard function that takes the arguments, if there is exactly one; some are called by another name, or
with other arguments, than the specification has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..algebra.expression import Expression, Literal
from ..algebra.types import I32, STRING, Type
from ..errors import Unsupported
from ..extensions import registry
from ..extensions.registry import Declaration

Arguments = tuple[Expression | str, ...]


_GENERAL = "comparison"
"""The file whose comparisons take values of any type; those of dates in another file mean the same."""


class Spelling(NamedTuple):
    """What a name stands for: a standard function, and its arguments made of those given."""

    name: str
    arguments: Callable[[Arguments], Arguments]


def spelled(name: str, arguments: Arguments) -> tuple[str, Arguments]:
    """The standard name and arguments of a call by another name. Raises Unsupported where they would mean another value."""
    spelling = _SPELLINGS.get(name)
    return (name, arguments) if spelling is None else (spelling.name, spelling.arguments(arguments))


def resolved(kinds: Sequence[str], name: str, shapes: tuple[Type | str, ...]) -> Declaration | None:
    """The one standard function of a name that takes such arguments; None where there is none.

    Raises Unsupported where there are several.
    """
    for kind in kinds:
        candidates = [registry.resolve(kind, alias, name, shapes) for alias in registry.STANDARD]
        known = [declaration for declaration in candidates if declaration is not None]
        general = [declaration for declaration in known if declaration.alias == _GENERAL]
        known = general or known
        if len(known) > 1:
            files = ", ".join(declaration.urn for declaration in known)
            raise Unsupported(f"the plan does not say which {name} it calls: there is one in each of {files}")
        if known:
            return known[0]
    return None


def is_known(kinds: Sequence[str], name: str) -> bool:
    """Whether there is a standard function of a name."""
    return any(registry.implementations(kind, alias, name) for kind in kinds for alias in registry.STANDARD)


# ---- other spellings


def _as_they_are(arguments: Arguments) -> Arguments:
    return arguments


def _like(arguments: Arguments) -> Arguments:
    """A pattern without a character that escapes others, of which the standard function knows none."""
    if len(arguments) < 3:
        return arguments
    text, pattern, escape = arguments
    if not isinstance(escape, Literal) or escape.value is not None:
        raise Unsupported("a LIKE with a character that escapes others is not read")
    if not isinstance(pattern, Literal) or "\\" in str(pattern.value):
        raise Unsupported("a LIKE by a pattern that is no literal, or has a backslash, is not read")
    return text, pattern


def _date_part(arguments: Arguments) -> Arguments:
    part, value = arguments
    if not isinstance(part, Literal) or str(part.value).upper() not in _PARTS:
        raise Unsupported("date_part is read for the literal parts " + ", ".join(_PARTS))
    return str(part.value).upper(), *_PARTS[str(part.value).upper()], value


_PARTS: dict[str, tuple[str, ...]] = {"YEAR": (), "QUARTER": ("ONE",), "MONTH": ("ONE",), "DAY": ("ONE",)}
"""Parts of dates, and what else `extract` wants to know of them."""


def _substring(arguments: Arguments) -> Arguments:
    """Positions are of 32 bits in the standard function."""
    text, *numbers = arguments
    return text, *[_narrow(number) for number in numbers]


def _narrow(number: Expression | str) -> Expression:
    if not isinstance(number, Literal) or number.value is None or not 0 < number.value < 2**31:
        raise Unsupported("substr is read for literal positions from 1 on")
    return Literal(number.value, I32)


def _trimmed(arguments: Arguments) -> Arguments:
    """Blanks, unless the call says what else to take away."""
    return arguments if len(arguments) > 1 else (*arguments, Literal(" ", STRING))


_SPELLINGS: dict[str, Spelling] = {
    "like": Spelling("like", _like),
    "date_part": Spelling("extract", _date_part),
    "substr": Spelling("substring", _substring),
    "substring": Spelling("substring", _substring),
    "character_length": Spelling("char_length", _as_they_are),
    "btrim": Spelling("trim", _trimmed),
    "ltrim": Spelling("ltrim", _trimmed),
    "rtrim": Spelling("rtrim", _trimmed),
    "is_not_distinct_from": Spelling("is_not_distinct_from", _as_they_are),
}
"""Names of DataFusion's that are no standard names, or are called with other arguments."""
