"""Dialect files: the specification's YAML form, and what is checked of one before anything else relies on it."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..algebra.types import SHORT_NAMES
from ..errors import DialectError, kind_of
from ..extensions import registry, yaml_schema, yaml_text
from ..extensions.yaml_schema import likely
from ..extensions.yaml_text import parsed_of_users
from . import discovery
from .concessions import accepted
from .declared import instead
from .dialect import CAST_OPTIONS, Abilities, Dialect
from .extending import extended
from .loading import Listed, are_rewrites, problems_of_guards, problems_of_rewrites, rewrites_of
from .rewrite import defects_of

METADATA = ("abilities", "accept", "defects", "extends", "extensions", "release", "rewrites", "without")
"""What the metadata of a dialect may say."""

FUNCTION_METADATA: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "scalar": {"raises": (True, False)},
    "aggregate": {"distinct": (False,), "sorts": (False,), "window": (False, "growing")},
    "window": {},
}
"""What the metadata of functions may say, with the values that it may have; `literals` is a list of positions."""

SEVERAL = ("EXTENSION_LEAF", "EXTENSION_MULTI", "EXTENSION_SINGLE", "USER_DEFINED")
"""What may be listed several times."""


def load(dialect: str | Path | Dialect | None, rewrites: Listed | None = None) -> Dialect:
    """The dialect by the name of a built-in one, or in a file; None is the canonical one.

    `rewrites` are the engine's, in place of those that the file names. To load rewrites that a file names is to run the code of
    that module. A dialect that is loaded already is taken as it is.

    Raises DialectError for an unknown name, and for a file that is no valid dialect file.
    """
    if dialect is None:
        return Dialect.canonical()
    if isinstance(dialect, Dialect):
        return dialect
    if not isinstance(dialect, str | Path):
        raise DialectError(f"A dialect is a name, the path of a YAML file or a loaded one, not {kind_of(dialect)}.")
    if rewrites is not None and not are_rewrites(rewrites):
        raise DialectError(f"The rewrites of a dialect are a list of them, not {kind_of(rewrites)}.")
    if isinstance(dialect, str) and dialect in discovery.built_in(discovery.DIALECT):
        return _built_in(dialect) if rewrites is None else _from_text(dialect, _text_of(dialect), None, rewrites)
    path = Path(dialect)
    if not _is_file(path):
        if isinstance(dialect, str) and dialect in (brought := discovery.brought(discovery.DIALECT)):
            return _brought(brought[dialect], rewrites)
        known = ", ".join(discovery.engines(discovery.DIALECT))
        raise DialectError(
            f"There is no dialect {str(dialect)!r}: give the path of a dialect file, or the name of an engine ({known})."
        )
    return _from_text(path.stem, _read(path, str(path)), path, rewrites)


def is_built_in(dialect: Dialect) -> bool:
    """Whether a dialect is one that comes with the package, or the canonical one, with no rewrites but its own."""
    return dialect is Dialect.canonical() or (
        dialect.name in discovery.built_in(discovery.DIALECT) and dialect is _built_in(dialect.name)
    )


def _read(path: Path, origin: str) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(yaml_text.MOST_CHARACTERS + 1)  # what is longer is refused, however long it is
    except (OSError, UnicodeDecodeError) as error:
        raise DialectError(f"{origin} is no YAML: {error}") from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no path of this system
        return False


def _text_of(name: str) -> str:
    return (
        importlib.resources.files(discovery.built_in(discovery.DIALECT)[name])
        .joinpath(discovery.DIALECT)
        .read_text("utf-8")
    )


def _brought(package: str, rewrites: Listed | None) -> Dialect:
    """The dialect of an engine that another distribution brings: its file is looked at as any from outside is."""
    with importlib.resources.as_file(importlib.resources.files(package).joinpath(discovery.DIALECT)) as path:
        return _from_text(package, _read(path, str(path)), path, rewrites)


@cache
def _built_in(name: str) -> Dialect:
    """A built-in dialect. A test, not each session, checks that its file is valid."""
    document = yaml_text.parsed(_text_of(name))
    base = _extended_by(document, None, name)
    if base is not None:
        document = extended(base.document, document, name)
    rewrites = rewrites_of((document.get("metadata") or {}).get("rewrites"), None, name)
    return Dialect(name, document, rewrites, aliases(document))


def _extended_by(document: Mapping[str, Any], folder: Path | None, origin: str) -> Dialect | None:
    """The dialect that one extends, by a name or a path beside its file; None where it extends none."""
    named = (document.get("metadata") or {}).get("extends")
    if named is None:
        return None
    if not isinstance(named, str):
        raise DialectError(f"{origin}: metadata.extends is no name of a dialect, and no path.")
    beside = None if folder is None else folder / named
    try:
        return load(beside if beside is not None and _is_file(beside) else named)
    except RecursionError:
        raise DialectError(f"{origin}: metadata.extends leads back to this dialect.") from None


def _from_text(name: str, text: str, path: Path | None, rewrites: Listed | None) -> Dialect:
    origin = name if path is None else str(path)
    document = _parse(text, origin)
    error = _too_long(document) or schema_error(document)
    if error is not None:
        raise DialectError(f"{origin} is no valid Substrait dialect: {error}.")
    folder = None if path is None else path.parent
    base = _extended_by(document, folder, origin)
    if rewrites is None:
        named = (document.get("metadata") or {}).get("rewrites")
        rewrites = base.rewrites if base is not None and named is None else rewrites_of(named, folder, origin)
    own = _register(document, folder, origin)
    if base is not None:
        own |= set(base.aliases.values())
        document = extended(base.document, document, origin)
    for problem in problems(document, rewrites, own):
        raise DialectError(f"{origin}: {problem}{'' if problem.endswith('?') else '.'}")
    return Dialect(
        document.get("name") or name, document, rewrites, aliases(document, own), from_outside=folder is not None
    )


def aliases(document: Mapping[str, Any], own: Collection[str] = ()) -> dict[str, str]:
    """What the dependencies go by in calls, whose URNs are those of known files or of the dialect's `own`."""
    by_alias = {}
    for alias, urn in (document.get("dependencies") or {}).items():
        known = urn if urn in own else registry.built_in_alias(urn)
        if known is not None:
            by_alias[str(alias)] = known
    return by_alias


def _register(document: Mapping[str, Any], folder: Path | None, origin: str) -> set[str]:
    """Let plans name the functions of the engine's own extension files, which are named relative to the dialect file.

    Returns the URNs of these files.
    """
    own = set()
    for file in _strings((document.get("metadata") or {}).get("extensions"), f"{origin}: metadata.extensions"):
        path = (folder or Path()) / file
        if folder is None or not _is_file(path):
            raise DialectError(f"{origin}: there is no extension file {file!r} beside the dialect file.")
        try:
            own.add(registry.register(_read(path, str(path))))
        except ValueError as error:
            raise DialectError(f"{path} is no valid extension file: {error}.") from error
    return own


def _strings(value: Any, where: str) -> Sequence[str]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise DialectError(f"{where} is no list of texts.")
    return value


def _parse(text: str, origin: str) -> dict[str, Any]:
    try:
        document = parsed_of_users(text)
    except ValueError as error:
        raise DialectError(f"{origin} is no YAML: {error}") from error
    if not isinstance(document, dict):
        raise DialectError(f"{origin} is no dialect: its top level is no mapping.")
    return document


def _too_long(document: Mapping[str, Any]) -> str | None:
    """What lists more than there is to list, so that it need not be looked at in full."""
    for noun in ("type", "relation", "expression"):
        listed = document.get(f"supported_{noun}s")
        if isinstance(listed, list) and len(listed) > MOST_ENTRIES:
            return f"supported_{noun}s lists more than {MOST_ENTRIES:,}"
    return None


MOST_ENTRIES = 1000
"""How many types, relations or expressions a dialect may list; the specification has fewer than 50 of each."""


def schema_error(document: Any) -> str | None:
    """What is wrong with a dialect document by the specification's schema; None where it is valid."""
    schema = importlib.resources.files("substrait_extensions.dialects") / "dialect_schema.yaml"
    return yaml_schema.schema_error(document, schema)


# ---- what the schema does not check


def problems(document: Mapping[str, Any], rewrites: Listed, own: Collection[str] = ()) -> Iterator[str]:
    """What else is wrong with a dialect document that the schema takes, each as the beginning of a sentence.

    `own`: the URNs of the extension files that it names itself.
    """
    metadata = document.get("metadata") or {}
    for key in sorted(set(metadata) - set(METADATA), key=str):
        yield f"metadata.{key} is not known; {likely(str(key), METADATA)}"
    if "without" in metadata:
        yield "metadata.without is for a dialect that extends another, which metadata.extends names"
    if "release" in metadata and not _is_release(metadata["release"]):
        yield f"metadata.release must be a text as in '0.63', not {metadata['release']!r}"
    yield from _problems_of_abilities(metadata.get("abilities"))
    yield from _problems_of_concessions(metadata.get("accept"))
    yield from problems_of_rewrites(rewrites)
    yield from _problems_of_defects(metadata.get("defects"), set(defects_of(rewrites)))
    for noun in ("type", "relation", "expression"):
        yield from _problems_of_entries(f"supported_{noun}s", noun, document.get(f"supported_{noun}s") or ())
    dependencies = document.get("dependencies") or {}
    known = aliases(document, own)
    for kind, section in registry.KINDS.items():
        listed: set[tuple[str, ...]] = set()
        for position, entry in enumerate(document.get(f"supported_{section}") or ()):
            where = f"supported_{section}[{position}]"
            complaints = _problems_of_function(kind, entry, dependencies, known, listed)
            yield from (f"{where}: {problem}" for problem in complaints)
    yield from problems_of_guards(document, rewrites)


def _problems_of_entries(section: str, noun: str, entries: Sequence[Any]) -> Iterator[str]:
    names: list[str] = []
    for position, entry in enumerate(entries):
        name = entry if isinstance(entry, str) else entry[noun]
        if name in names and name not in SEVERAL:
            yield f"{section}[{position}] lists {name} again"
        names.append(name)
        rule = _METADATA_OF.get(name)
        if rule is not None and isinstance(entry, dict):
            yield from (f"{section}[{position}]: {problem}" for problem in rule(entry.get("metadata") or {}))


def _problems_of_files(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key in metadata:
        if key != "spark_files":
            yield f"metadata.{key} is not known; there may be spark_files"
    formats = metadata.get("spark_files") or {}
    if not isinstance(formats, dict) or not all(_are_texts(options) for options in formats.values()):
        yield "metadata.spark_files is no mapping of formats to lists of options"


def _problems_of_kinds(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key in metadata:
        if key != "not_for":
            yield f"metadata.{key} is not known; there may be not_for"
    kinds = metadata.get("not_for") or []
    if not _are_texts(kinds):
        yield "metadata.not_for is no list of kinds of types"
        return
    yield from (
        f"metadata.not_for names {kind!r}, which is no kind of type" for kind in kinds if kind not in SHORT_NAMES
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _is_release(value: Any) -> bool:
    """A number is none: 0.100 would be 0.1."""
    return isinstance(value, str) and re.fullmatch(r"0\.\d{1,4}(\.\d{1,4})?", value) is not None


def _problems_of_abilities(abilities: Any) -> Iterator[str]:
    if abilities is None:
        return
    if not isinstance(abilities, dict):
        yield "metadata.abilities is no mapping"
        return
    for name, value in abilities.items():
        if name not in Abilities._fields:
            yield f"metadata.abilities.{name} is not known; {likely(str(name), Abilities._fields)}"
        elif not isinstance(value, bool):
            yield f"metadata.abilities.{name} must be true or false, not {value!r}"


def _problems_of_concessions(names: Any) -> Iterator[str]:
    try:
        accepted([] if names is None else names, "metadata.accept")
    except ValueError as error:
        yield str(error)


def _problems_of_defects(defects: Any, known: Collection[str]) -> Iterator[str]:
    if defects is None:
        return
    if not isinstance(defects, dict):
        yield "metadata.defects is no mapping"
        return
    for name, entry in defects.items():
        where = f"metadata.defects.{name}"
        if name not in known:
            others = ", ".join(sorted(known)) or "none"
            yield f"{where} is a defect that there is no rewrite against; there are some against {others}"
        elif not isinstance(entry, dict) or not {"sql", "gives"} <= set(entry) <= {"sql", "gives", "issue"}:
            yield f"{where} must say its `sql`, what that `gives`, and may say its `issue`"
        elif not all(isinstance(value, str) for value in entry.values()):
            yield f"{where} holds something that is no text"


def _problems_of_function(
    kind: str,
    entry: Mapping[str, Any],
    dependencies: Mapping[str, str],
    aliases: Mapping[str, str],
    listed: set[tuple[str, ...]],
) -> Iterator[str]:
    source, name = entry["source"], entry["name"]
    if source not in dependencies:
        yield f"{name} is of the undeclared dependency {source}; {likely(source, list(dependencies))}"
        return
    if source not in aliases:
        yield f"{name}: no extension file has the URN {dependencies[source]}; name the file in metadata.extensions"
        return
    alias = aliases[source]
    served = {"window": ("window", "aggregate")}.get(kind, (kind,))
    known = {i.signature: i for k in served for i in registry.implementations(k, alias, name)}
    options = entry.get("required_options") or {}
    for signature in entry["supported_impls"]:
        if signature not in known:
            yield f"{source} declares no {kind} function {name}:{signature}{instead(kind, alias, name, list(known))}"
            continue
        compound = f"{name}:{signature}"
        yield from (f"{compound}: {problem}" for problem in _problems_of_implementation(kind, entry, known[signature]))
        key = (source, compound, repr(sorted((str(option), str(value)) for option, value in options.items())))
        if key in listed:
            yield f"{compound} with these options is listed again"
        listed.add(key)


def _problems_of_implementation(
    kind: str, entry: Mapping[str, Any], implementation: registry.Implementation
) -> Iterator[str]:
    for option, value in (entry.get("required_options") or {}).items():
        if option not in implementation.options:
            yield f"it has no option {option}; {likely(str(option), list(implementation.options))}"
        elif str(value) not in implementation.options[option]:
            yield f"its option {option} can't be {value!r}; it may be {', '.join(implementation.options[option])}"
    if entry.get("variadic") and not implementation.variadic:
        yield "it takes no variable number of arguments"
    yield from _problems_of_metadata(kind, entry.get("metadata") or {}, implementation)


def _problems_of_metadata(
    kind: str, metadata: Mapping[str, Any], implementation: registry.Implementation
) -> Iterator[str]:
    known = FUNCTION_METADATA[kind]
    for key, value in metadata.items():
        if key == "not_for":
            if not _are_texts(value):
                yield "metadata.not_for is no list of kinds of types and names of enum values"
        elif key == "literals":
            if not isinstance(value, list) or not all(_is_position(position, implementation) for position in value):
                yield "metadata.literals is no list of positions of arguments, which count from 0"
        elif key not in known:
            yield f"metadata.{key} is not known; there may be {', '.join(['literals', 'not_for', *known])}"
        elif value not in known[key] or type(value) not in map(type, known[key]):
            yield f"metadata.{key} can't be {value!r}"


def _is_position(value: Any, implementation: registry.Implementation) -> bool:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return False
    return implementation.variadic or value < len(implementation.arguments)


def _problems_of_casts(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key in metadata:
        if key != "exact":
            yield f"metadata.{key} is not known; there may be exact"
    exact = metadata.get("exact")
    if exact is None:
        return
    if not isinstance(exact, dict) or set(exact) != set(CAST_OPTIONS.values()):
        yield f"the `exact` casts must be given for {' and '.join(CAST_OPTIONS.values())}"
        return
    for option, casts in exact.items():
        if not isinstance(casts, dict) or not all(isinstance(targets, list) for targets in casts.values()):
            yield f"the `exact` casts of {option} are no lists of types by the type that they are from"
            continue
        for kind in (kind for source, targets in casts.items() for kind in (source, *targets)):
            if not isinstance(kind, str) or kind not in SHORT_NAMES:
                yield f"the `exact` casts of {option} name {kind!r}, which is no kind of type"


_METADATA_OF: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "CAST": _problems_of_casts,
    "READ": _problems_of_files,
    **dict.fromkeys(("AGGREGATE", "LITERAL", "SINGULAR_OR_LIST", "SORT"), _problems_of_kinds),
}
"""What is looked at in the metadata of relations and expressions."""
