"""YAML text: read, refused where it nests deeper than the reader bears, and checked against a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from importlib.abc import Traversable

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MOST_LEVELS = 50
"""How deep files may nest: the C library reads by recursion, and a deeper stack ends the process."""


def parsed(text: str) -> Any:
    """The content of a file that comes with the package."""
    return yaml.load(text, LOADER)


def parsed_of_users(text: str) -> Any:
    """The content of a file of a user's. Raises ValueError where it is no YAML, or nests too deep."""
    try:
        depth = 0
        for event in yaml.parse(text, LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MOST_LEVELS:
                raise ValueError(f"it nests more than {MOST_LEVELS} levels deep")
        return parsed(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def schema_error(document: Any, schema: Traversable) -> str | None:
    """What is wrong with a document by a JSON schema in YAML, and where; None where it is valid."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(parsed(schema.read_text("utf-8")))
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return None if error is None else f"{error.message} (at {'/'.join(map(str, error.absolute_path)) or 'the top'})"
