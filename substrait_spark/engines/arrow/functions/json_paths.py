"""What is asked of JSON without a schema: paths, fields, keys and lengths."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from ..function import PythonFunction
from .jackson import OF_PATHS, SURROGATE, MalformedJson, Object, quoted, quoted_as_bytes, value, well_formed, written
from .rows import of_rows

# ---- paths

KEY, SUBSCRIPT, WILDCARD = "key", "subscript", "wildcard"

Path = tuple[Any, ...]
"""Steps: KEY and a name, SUBSCRIPT and an index or WILDCARD; a WILDCARD alone is a step that finds nothing."""

SPACE = r"[ \t\n\x0b\f\r]*"
STEP = re.compile(
    rf"(?P<wildcard>{SPACE}(?:\.\*|\['\*'\]))"
    rf"|\.{SPACE}(?P<name>[^.\[]+)|{SPACE}\['{SPACE}(?P<quoted>[^'?]+){SPACE}'\]"
    rf"|\[{SPACE}(?:(?P<any>\*)|(?P<index>[0-9]+))\]"
)
END = re.compile(rf"{SPACE}\Z")


@lru_cache(maxsize=1000)
def steps(path: str) -> Path | None:
    """The steps of a path; None for what is no path."""
    if not path.startswith("$"):
        return None
    found: list[Any] = []
    at = 1
    while not END.match(path, at):
        step = STEP.match(path, at)
        if step is None:
            return None
        at = step.end()
        if step["wildcard"]:
            found.append(WILDCARD)
        elif step["any"]:
            found += [SUBSCRIPT, WILDCARD]
        elif step["index"]:
            found += [SUBSCRIPT, int(step["index"])]
        else:
            found += [KEY, step["name"] or step["quoted"]]
    return tuple(found)


Quoted = Callable[[str], str]


class Style(Enum):
    """How what is found is written: a string without quotes, any value as JSON, or the elements of lists by themselves."""

    RAW = 1
    QUOTED = 2
    FLAT = 3


def found_by(root: Any, path: Path, style: Style, out: list[str], as_string: Quoted = quoted_as_bytes) -> bool:
    """Write what a path finds in a value, as Hive has it; whether it finds anything."""
    if not path:
        return _written_to(root, style, out, as_string)
    if isinstance(root, Object):
        if path[0] is not KEY:
            return False
        named = (field for name, field in root if name == path[1] and field is not None)
        return any(found_by(field, path[2:], style, out, as_string) for field in named)
    if not isinstance(root, list) or path[0] is not SUBSCRIPT:
        return False
    if path[1] is WILDCARD:
        return _of_all(root, path, style, out, as_string)
    if path[1] >= len(root):
        return False
    several = path[2:4] == (SUBSCRIPT, WILDCARD)
    return found_by(root[path[1]], path[2:], Style.QUOTED if several else style, out, as_string)


def _written_to(root: Any, style: Style, out: list[str], as_string: Quoted) -> bool:
    if type(root) is str and style is Style.RAW:
        out.append(root)
        return True
    if type(root) is list and style is Style.FLAT:
        leaves = _leaves(root)
        out += [written(leaf, as_string) for leaf in leaves]
        return bool(leaves)
    out.append(written(root, as_string))
    return True


def _leaves(elements: list[Any]) -> list[Any]:
    """The elements, those of lists in their place; any depth is no matter."""
    found = []
    stack = elements[::-1]
    while stack:
        element = stack.pop()
        if type(element) is list:
            stack += element[::-1]
        else:
            found.append(element)
    return found


def _of_all(elements: list[Any], path: Path, style: Style, out: list[str], as_string: Quoted) -> bool:
    twice = path[2:4] == (SUBSCRIPT, WILDCARD)
    if not twice and style is not Style.QUOTED:
        return _of_some(elements, path[2:], Style.FLAT if style is Style.FLAT else Style.QUOTED, out)
    rest, style = (path[4:], Style.FLAT) if twice else (path[2:], style)
    inner: list[str] = []
    found = sum([found_by(element, rest, style, inner, as_string) for element in elements]) > 0
    out.append(f"[{','.join(inner)}]")
    return found


def _of_some(elements: list[Any], rest: Path, style: Style, out: list[str]) -> bool:
    """A list of what is found, or that alone where one element has something; it is kept as characters meanwhile."""
    inner: list[str] = []
    number = sum([found_by(element, rest, style, inner, quoted) for element in elements])
    if number:
        out.append(",".join(inner) if number == 1 else f"[{','.join(inner)}]")
    return number > 0


# ---- functions


def _of_value(function: Callable[..., Any]) -> PythonFunction:
    """A function of the value that a text stands for, null where it stands for none."""

    def of_text(text: str, *others: Any) -> Any:
        try:
            root = value(text, OF_PATHS)
        except (MalformedJson, EOFError):
            return None
        return function(root, *others)

    return of_rows(of_text)


def _get_json_object(root: Any, path: str) -> str | None:
    found = steps(path)
    out: list[str] = []
    if found is None or not found_by(root, found, Style.RAW, out):
        return None
    text = "".join(out)
    return None if SURROGATE.search(text) else text


def _field(root: Any, name: str) -> str | None:
    if _is_object(root) and any(type(field) is str and SURROGATE.search(field) for _, field in root):
        raise ValueError("[UNSUPPORTED_FORMAT] half a character: whether a field is null hangs on which are asked for")
    fields = [field for other, field in root if other == name and field is not None] if _is_object(root) else []
    return None if not fields else fields[-1] if type(fields[-1]) is str else written(fields[-1], quoted_as_bytes)


def _is_object(root: Any) -> bool:
    return isinstance(root, Object)


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_get_json_object": _of_value(_get_json_object),
    "spark_json_array_length": _of_value(lambda root: len(root) if type(root) is list else None),
    "spark_json_object_keys": _of_value(
        lambda root: [well_formed(name) for name, _ in root] if _is_object(root) else None
    ),
    "spark_json_tuple": _of_value(_field),
}
