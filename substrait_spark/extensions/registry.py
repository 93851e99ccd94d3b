"""The functions that plans may name: the standard extension files, ours, those of engines, and how a call resolves to one.

Matching is exact, on the argument types that a call really has; nothing is coerced
(https://substrait.io/expressions/scalar_functions/).
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..algebra import types
from ..algebra.types import Type
from ..errors import UNEXPECTED
from .type_expressions import Bindings, Pattern, Program, matches, pattern, program
from .yaml_schema import schema_error
from .yaml_text import parsed, parsed_of_users

if TYPE_CHECKING:
    from importlib.abc import Traversable

STANDARD = (
    "aggregate_approx",
    "aggregate_generic",
    "arithmetic",
    "arithmetic_decimal",
    "boolean",
    "comparison",
    "datetime",
    "list",
    "logarithmic",
    "rounding",
    "rounding_decimal",
    "set",
    "string",
)
"""Aliases of the specification's extension files, `functions_<alias>.yaml`."""

OWN = ("spark", "spark_intervals")
"""The aliases of `extensions/functions_<alias>.yaml`: Spark's functions where no standard one says the same. Those of calendar
intervals are a file by themselves, since readers that are older than the type would refuse the whole file."""

CANONICAL = (*STANDARD, *OWN)
"""The aliases of the files whose functions canonical plans call."""

_ENGINES = importlib.resources.files("substrait_spark.engines")

ENGINES = tuple(sorted(each.name for each in _ENGINES.iterdir() if each.joinpath("functions.yaml").is_file()))
"""Aliases of the built-in engines' own functions, `engines/<alias>/functions.yaml`. Other files go by their URN."""

ALIASES = (*CANONICAL, *ENGINES)
"""The aliases of all files that come with the package and the specification."""

_users: set[str] = set()
"""The URNs of functions that callers have declared without a file."""

_registered: dict[str, str] = {}
"""By URN, the text of the extension files that dialects have brought."""

KINDS = {
    "scalar": "scalar_functions",
    "aggregate": "aggregate_functions",
    "window": "window_functions",
}


class EnumArgument(NamedTuple):
    """An argument that takes one of a few names."""

    options: tuple[str, ...]


class Implementation(NamedTuple):
    """One implementation of a function in an extension file."""

    urn: str
    name: str
    signature: str
    arguments: tuple[Pattern | EnumArgument, ...]
    variadic: bool
    minimum: int
    options: Mapping[str, tuple[str, ...]]
    nullability: str
    deterministic: bool
    result: Program


@dataclass(frozen=True)
class Declaration:
    """A function as a call names it: where it is from, its compound name, and the type it returns.

    One that is not deterministic may give another value each time, whatever its arguments are.
    """

    alias: str
    urn: str
    name: str
    signature: str
    result: Type
    deterministic: bool = True
    kind: str = "scalar"
    """`scalar`, `aggregate` or `window`."""
    users: bool = False
    """Whether it is a caller's own, which no file that is known declares: it takes what its call gives it."""

    @cached_property
    def function(self) -> str:
        """Its name as rules and rewrites write it: `alias:name`."""
        return f"{self.alias}:{self.name}"

    @cached_property
    def compound(self) -> str:
        return f"{self.name}:{self.signature}"


def source(alias: str) -> Traversable:
    """The extension file behind an alias of the specification's, our own and the built-in engines' files."""
    if alias in ENGINES:
        return _ENGINES / alias / "functions.yaml"
    if alias in OWN:
        return importlib.resources.files(__package__) / f"functions_{alias}.yaml"
    return importlib.resources.files("substrait_extensions.extensions") / f"functions_{alias}.yaml"


@cache
def load(alias: str) -> dict[str, Any]:
    """The content of an extension file. Raises LookupError for an alias that is none's."""
    content: dict[str, Any] = parsed(_text(alias))
    return content


def _text(alias: str) -> str:
    try:
        return _registered[alias] if alias in _registered else source(alias).read_text("utf-8")
    except FileNotFoundError:
        raise LookupError(f"no extension file has the alias {alias!r}") from None


def load_all() -> None:
    """Load every extension file."""
    for alias in ALIASES:
        load(alias)


def register(text: str) -> str:
    """Let plans name the functions of an extension file with this text; returns its URN.

    Raises ValueError where it is none, or where another text has the same URN.
    """
    content = parsed_of_users(text)
    schema = importlib.resources.files("substrait_extensions.extensions") / "simple_extensions_schema.yaml"
    error = schema_error(content, schema)
    if error is not None:
        raise ValueError(error)
    urn = str(content["urn"])
    for kind in KINDS.values():
        for function in content.get(kind) or ():
            for entry in function["impls"]:
                _validated(urn, function, entry)
    if urn in _built_in() or _registered.get(urn, text) != text:
        raise ValueError(f"another file has the URN {urn}, too, or this one had another content when it was first read")
    _registered[urn] = text
    return urn


def _validated(urn: str, function: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
    try:
        _implementation(urn, function, entry)
    except UNEXPECTED as error:
        raise ValueError(
            f"the function {function['name']} has an argument or a return type that can't be read: {error}"
        ) from error


def note_users(urn: str) -> None:
    """Let plans name functions of a URN that no file stands behind: the caller declares them."""
    _users.add(urn)


def is_known(urn: str) -> bool:
    """Whether there is an extension file of a URN, or callers have declared functions of it without one."""
    return urn in _users or alias_of(urn) is not None


@cache
def _built_in() -> dict[str, str]:
    """The aliases of the files that come with the package and the specification, by URN."""
    return {urn(alias): alias for alias in ALIASES}


def alias_of(urn: str) -> str | None:
    """The alias of a file with this URN, as in calls by `alias:name`; None where no such file is known."""
    return built_in_alias(urn) or (urn if urn in _registered else None)


def built_in_alias(urn: str) -> str | None:
    """The alias of a file that comes with the package or the specification, by its URN; None of any other."""
    return _built_in().get(urn)


@cache
def taken_names() -> frozenset[str]:
    """The names of all functions in the files that come with the package and the specification, in lower case."""
    sections = [load(alias).get(kind) or () for alias in ALIASES for kind in KINDS.values()]
    return frozenset(str(function["name"]).lower() for section in sections for function in section)


def urn(alias: str) -> str:
    """The URN of an extension file: its line alone is read, because the URNs of all files are asked for, but few of the files."""
    line = re.search(r"^urn: ([\w.:-]+)$", _text(alias), re.MULTILINE)
    return line[1] if line else str(load(alias)["urn"])


@cache
def implementations(kind: str, alias: str, name: str) -> tuple[Implementation, ...]:
    """Every implementation of a function in one extension file, in the file's order."""
    document = load(alias)
    return tuple(
        _implementation(document["urn"], function, entry)
        for function in document.get(KINDS[kind]) or ()
        if function["name"] == name
        for entry in function["impls"]
    )


def _implementation(urn: str, function: Mapping[str, Any], entry: Mapping[str, Any]) -> Implementation:
    arguments = tuple(_argument(argument) for argument in entry.get("args") or ())
    signature = "_".join("req" if isinstance(argument, EnumArgument) else argument.short_name for argument in arguments)
    variadic = entry.get("variadic")
    return Implementation(
        urn,
        function["name"],
        signature,
        arguments,
        variadic is not None,
        int((variadic or {}).get("min", 0)),
        {key: tuple(map(str, option["values"])) for key, option in (entry.get("options") or {}).items()},
        entry.get("nullability", "MIRROR"),
        _is_deterministic(function, entry),
        program(str(entry["return"])),
    )


def _is_deterministic(function: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """By the specification's field; or by the function's metadata, because substrait-java loads no file with that field."""
    return bool((function.get("metadata") or {}).get("deterministic", entry.get("deterministic", True)))


def unread(urn: str, name: str) -> str | None:
    """For which values a scalar function of a built-in file raises though Spark has a result, by the function's metadata."""
    alias = built_in_alias(urn)
    functions = () if alias is None else load(alias).get(KINDS["scalar"]) or ()
    return next(
        (metadata.get("unread") for f in functions if f["name"] == name and (metadata := f.get("metadata"))), None
    )


def _argument(argument: Mapping[str, Any]) -> Pattern | EnumArgument:
    if "options" in argument:
        return EnumArgument(tuple(map(str, argument["options"])))
    return pattern(str(argument["value"]))


def stated(declaration: Declaration, result: Type | None) -> Declaration:
    """The declaration with the result type that a call states, where the extension file leaves that to the call."""
    if result is None or declaration.result.kind != "any":
        return declaration
    return replace(declaration, result=result)


@lru_cache(maxsize=65536)
def resolve(kind: str, alias: str, name: str, arguments: tuple[Type | str, ...]) -> Declaration | None:
    """The implementation that takes exactly these arguments (types, or names of enum values), if there is one."""
    for implementation in implementations(kind, alias, name):
        result = _result(implementation, arguments)
        if result is not None:
            urn, signature = implementation.urn, implementation.signature
            return Declaration(alias, urn, name, signature, result, implementation.deterministic, kind)
    return None


@lru_cache(maxsize=65536)
def resolved(kind: str, function: str, arguments: tuple[Type | str, ...]) -> Declaration | None:
    """`resolve` by the function as rules name it, `alias:name`."""
    alias, _, name = function.rpartition(":")
    return resolve(kind, alias, name, arguments)


def _result(implementation: Implementation, arguments: tuple[Type | str, ...]) -> Type | None:
    expected = implementation.arguments
    if implementation.variadic:
        fixed, repeated = len(expected) - 1, len(arguments) - len(expected) + 1
        if repeated < implementation.minimum:
            return None
        expected = expected[:-1] + expected[-1:] * repeated
        if fixed > len(arguments):
            return None
    if len(expected) != len(arguments):
        return None
    bindings: Bindings = {}
    for wanted, given in zip(expected, arguments, strict=True):
        if not _fits(wanted, given, bindings, implementation.nullability == "DISCRETE"):
            return None
    try:
        result = implementation.result.evaluate(bindings)
    except LookupError:  # the type hangs on an argument's value, which types alone do not tell
        return None
    if implementation.nullability == "MIRROR" and not result.nullable:
        mirrored = any(isinstance(given, Type) and given.nullable for given in arguments)
        return types.with_nullable(result, mirrored)
    return result


def _fits(wanted: Pattern | EnumArgument, given: Type | str, bindings: Bindings, discrete: bool) -> bool:
    if isinstance(wanted, EnumArgument):
        return isinstance(given, str) and given in wanted.options
    if isinstance(given, str):
        return False
    if discrete and not wanted.variable and wanted.nullable != given.nullable:
        return False
    return matches(wanted, given, bindings)


def options(kind: str, alias: str, name: str, signature: str) -> Mapping[str, tuple[str, ...]]:
    """The options that an implementation declares, and their values."""
    for implementation in implementations(kind, alias, name):
        if implementation.signature == signature:
            return implementation.options
    return {}
