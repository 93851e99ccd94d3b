"""What is wrong with a YAML document by a schema, as the beginning of a sentence that says what there may be."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .yaml_text import SHOWN, parsed, value_text

if TYPE_CHECKING:
    from importlib.abc import Traversable

MOST_ERRORS = 20
"""How many of a document's errors are looked at, to tell the most helpful one."""


def schema_error(document: Any, schema: Traversable) -> str | None:
    """What is wrong with a document by a JSON schema in YAML, and where; None where it is valid."""
    from jsonschema.exceptions import best_match

    errors = _validator(schema.read_text("utf-8")).iter_errors(document)
    error = best_match(itertools.islice(errors, MOST_ERRORS))
    if error is None:
        return None
    error = _of_the_alternative(error)
    return f"{_told(error)} (at {'/'.join(map(str, error.absolute_path)) or 'the top'})"


@cache
def _validator(schema: str) -> Any:
    """What validates by a schema, whose text takes longer to parse than documents to be looked at."""
    import jsonschema

    return jsonschema.Draft202012Validator(parsed(schema))


def _of_the_alternative(error: Any) -> Any:
    """For a mapping that is like none of several forms, what is wrong by the form whose name it has."""
    while error.validator == "oneOf" and isinstance(error.instance, dict):
        forms: dict[Any, list[Any]] = {}
        for each in error.context:
            forms.setdefault(each.schema_path[0], []).append(each)
        meant = [
            form
            for form in forms.values()
            if not any(each.validator in ("const", "enum") and len(each.path) < 2 for each in form)
        ]
        if len(meant) != 1:
            break
        error = meant[0][0]
    return error


def _told(error: Any) -> str:
    """What is wrong, as the beginning of a sentence."""
    value = value_text(error.instance)
    if error.validator in ("enum", "oneOf") and isinstance(error.instance, str):
        known = error.validator_value if error.validator == "enum" else _choices(error.validator_value)
        return f"{value} is not known; {likely(error.instance, known)}"
    if error.validator == "oneOf":
        return _told_of_alternatives(error, value)
    if error.validator == "type":
        return f"{value} is no {KINDS.get(error.validator_value, error.validator_value)}"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", ()))
        unknown = [key for key in error.instance if key not in known]
        return f"{value_text(unknown[0])} is not known; {likely(str(unknown[0]), known)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"there is no {missing!r}"
    if error.validator == "uniqueItems":
        return "something is listed twice"
    if error.validator == "minItems":
        return "nothing is listed"
    return str(error.message).replace(repr(error.instance), value)[: 4 * SHOWN]


def _told_of_alternatives(error: Any, value: str) -> str:
    """What is wrong with an entry that has none of several forms, and whose name, if it has one, none of these forms has."""
    named = [each for each in error.context if each.validator == "const"]
    if named:
        return f"{value_text(named[0].instance)} is not known; {likely(str(named[0].instance), [e.validator_value for e in named])}"
    missing = [each.validator_value[0] for each in error.context if each.validator == "required"]
    if missing:
        return f"there is no {missing[0]!r} in {value}"
    return f"{value} is neither a name nor a mapping"


KINDS = {"array": "list", "boolean": "true or false", "integer": "whole number", "object": "mapping", "string": "text"}
"""The schema language's names of types, as problems call them."""


def _choices(forms: Sequence[Any]) -> list[str]:
    """The texts that are among several forms."""
    return [choice for form in forms for choice in form.get("enum", ())]


def likely(given: str, known: Sequence[Any]) -> str:
    """What may be in place of a name that is not known: one that is like it, or else all."""
    names = list(map(str, known))
    near = nearest(given, names)
    return f"is {near} meant?" if near else f"there may be {', '.join(names) or 'none'}"


def nearest(given: str, known: Sequence[str]) -> str | None:
    """The name that is most like one that is not known, if there is any."""
    by_lower_case = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given[:SHOWN].lower(), by_lower_case, 1)
    return by_lower_case[near[0]] if near else None
