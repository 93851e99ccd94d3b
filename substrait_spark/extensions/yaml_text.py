"""YAML text, refused where it is larger or nests deeper than a file of a user's may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MOST_LEVELS = 50
"""How deep files may nest: the C library reads by recursion, and a deeper stack ends the process."""

MOST_CHARACTERS = 1_000_000
"""How long a file of a user's may be; the longest that comes with the package has 200,000 characters."""

MOST_VALUES = 50_000
"""How many values it may have, each alias counted as all that it stands for."""

_TOO_DEEP = f"it nests more than {MOST_LEVELS} levels deep ({{line}})"

SHOWN = 60
"""How many characters of a value problems show."""


def parsed(text: str) -> Any:
    """The content of a file that comes with the package."""
    return yaml.load(text, LOADER)


def parsed_of_users(text: str) -> Any:
    """The content of a file of a user's. Raises ValueError, with the line, where it is no YAML that files may have."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it has more than {MOST_CHARACTERS:,} characters")
    try:
        _check_size(yaml.parse(text, LOADER))
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ValueError(_told_of_yaml(error)) from error


def _check_size(events: Iterator[Any]) -> None:
    """Raise ValueError for what nests too deep, or would be too large once its aliases are what they stand for."""
    sizes: dict[str | None, int] = {}
    open_at: list[tuple[str | None, int]] = []
    size = 0
    for event in events:
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in [anchor for anchor, _ in open_at]:
                raise ValueError(f"the value of the anchor {event.anchor} has itself in it ({line})")
            size += sizes.get(event.anchor, 0)
        elif isinstance(event, yaml.ScalarEvent):
            size += 1
            sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_at.append((event.anchor, size))
            size += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_at.pop()
            sizes[anchor] = size - before
        _check_bounds(len(open_at), size, line)


def _check_bounds(levels: int, values: int, line: str) -> None:
    if levels > MOST_LEVELS:
        raise ValueError(_TOO_DEEP.format(line=line))
    if values > MOST_VALUES:
        raise ValueError(f"it has more than {MOST_VALUES:,} values ({line})")


class _Loader(LOADER):  # type: ignore[misc]
    """Reads plain values: dates are texts. A value that can't be read, or a key that is there twice, is told with its line."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, Any]]]] = {
        start: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]
        for start, resolvers in LOADER.yaml_implicit_resolvers.items()
    }

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            constructed = super().construct_object(node, deep)
            if isinstance(constructed, int) and not -(2**63) <= constructed < 2**63:
                raise OverflowError("more than 64 bits")
            return constructed
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            value = value_text(node.value) if isinstance(node, yaml.ScalarNode) else "a value"
            problem = f"{value} can't be read as {node.tag.removeprefix('tag:yaml.org,2002:')}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        known = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if isinstance(key, yaml.ScalarNode) and key.value in known:
                problem = f"the key {value_text(key.value)} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            known.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def _told_of_yaml(error: yaml.YAMLError) -> str:
    """What the reader says, in one line."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    # From PyYAML 6.0.4 on, the C library has a bound of its own, and reads ahead of the events that ours counts.
    if error.problem == "exceeded maximum nesting depth":  # type: ignore[attr-defined]
        return _TOO_DEEP.format(line=f"line {mark.line + 1}")
    said = ", ".join(part for part in (error.context, error.problem) if part)  # type: ignore[attr-defined]
    return f"{said} (line {mark.line + 1})"


def value_text(value: Any) -> str:
    """A value as problems show it: its beginning, if it is long."""
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[: SHOWN - 1] + "…")
    if isinstance(value, list | dict) and len(value) > 10:
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
