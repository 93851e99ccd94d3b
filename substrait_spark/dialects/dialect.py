"""A dialect: what one engine supports, and what it gets wrong.

An absent or empty list means that all of its kind is supported (the schema is `dialect_schema.yaml` of the
substrait-extensions package). What the schema has no words for is in `metadata` (docs/how-to/write-a-dialect.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple

from ..algebra.expression import Expression, Literal
from ..algebra.types import Type
from ..errors import LACKING, NotInDialect
from ..extensions import registry
from .rewrite import Conversion, Rewrite, Rewrites

WRITE_A_REWRITE = "Compute this column in Spark, make a plan for another dialect, or write a rewrite for it (docs/how-to/add-an-engine.md)."


class Function(NamedTuple):
    """What a dialect says of one function.

    `metadata`: `raises: true` where the engine's function raises for some arguments; `literals`, the positions of
    arguments that must be literals; `not_for`, the kinds of types, at any level of an argument, and the names of enum values that it
    isn't right for. Of aggregate functions, `distinct: false` and `sorts: false`: these are ignored;
    `window: false`: it is no window function; `window: growing`: it is one for frames that begin where the partition does.
    """

    signatures: frozenset[str]
    options: Mapping[str, str]
    metadata: Mapping[str, Any]
    most: int | None = None
    """The most arguments that a call may have, where the dialect says so."""

    @property
    def raises(self) -> bool:
        """Whether the engine's function raises for some arguments."""
        return bool(self.metadata.get("raises"))


class Defect(NamedTuple):
    """Something that an engine gets wrong, which a rewrite keeps plans from."""

    sql: str
    """The shortest query that shows it, or what a plan must have for it where no SQL does."""
    gives: str
    """What the engine makes of that."""
    issue: str
    """The address of its report, `not reported` where none is known; empty where the dialect file says neither."""


class Abilities(NamedTuple):
    """What the schema's lists can't say. The defaults are what the specification promises."""

    nested_references: bool = True
    """Takes struct, list and map segments in field references."""
    grouping_sets: bool = True
    """Runs aggregates with several groupings."""
    measure_filters: bool = True
    """Runs measures that count only the rows for which a condition holds."""
    correlated_scalars: bool = True
    """Runs scalar subqueries that refer to the query around them, whatever the columns of both are called."""
    type_aliases: bool = True
    """Reads types by their aliases."""
    computed_keys: bool = True
    """Takes expressions as the keys of sorts and groups and as arguments of measures; without it, columns alone."""
    join_conditions: bool = True
    """Joins on any condition; without it, on one equality of a column of the left input with one of the right."""
    emit: bool = True
    """Reads `emit` of all relations. Without it projects alone have one, which picks exactly what they compute."""
    fetch_expressions: bool = True
    """Reads the offset and the count of a fetch as expressions; without it, as the numbers that they were before 0.63."""
    grouping_references: bool = True
    """Reads groupings as references to the aggregate's expressions; without it, as expressions of their own."""
    row_expressions: bool = True
    """Reads rows of virtual tables as expressions; without it, as structs of literals."""
    extension_urns: bool = True
    """Knows extension files by their URNs; without it, by their URIs."""
    bound_expressions: bool = True
    """Reads the bounds of windows as expressions; without it, as the numbers that they were before 0.102."""
    optimizations: bool = True
    """Passes over optimizations that it doesn't know, such as the note of the concessions that were used."""


SINCE: Mapping[str, int] = {
    "grouping_references": 57,
    "row_expressions": 59,
    "fetch_expressions": 63,
    "extension_urns": 75,
    "type_aliases": 77,
    "bound_expressions": 102,
}
"""The releases of the specification, 0.57 and so on, that brought abilities. A reader of an earlier one has none of these."""


def abilities_of(metadata: Mapping[str, Any]) -> Abilities:
    """Those that a dialect file states, and for others what the release brings that its reader knows."""
    release = int(str(metadata["release"]).split(".")[1]) if "release" in metadata else max(SINCE.values())
    of_release = {ability: since <= release for ability, since in SINCE.items()}
    return Abilities(**{**of_release, **(metadata.get("abilities") or {})})


class Dialect:
    """What a consumer supports. `Dialect.canonical()` supports all that the specification has."""

    def __init__(
        self,
        name: str,
        document: Mapping[str, Any],
        rewrites: Sequence[Rewrite | Conversion] = (),
        aliases: Mapping[str, str] | None = None,
        *,
        from_outside: bool = False,
    ) -> None:
        metadata = document.get("metadata") or {}
        self.name = name
        self.document = document
        """What it was made of."""
        self.rewrites = tuple(rewrites)
        """The engine's own, in their order."""
        self._in_force: Rewrites | None = None
        self.aliases: Mapping[str, str] = aliases or {}
        """By the dialect's own names of the extension files that it depends on, the aliases under which calls name these files."""
        self.hint = WRITE_A_REWRITE if from_outside else LACKING
        """What can be done about a function that it lacks."""
        self.abilities = abilities_of(metadata)
        self.defects: Mapping[str, Defect] = {
            defect: Defect(entry["sql"], entry["gives"], entry.get("issue") or "")
            for defect, entry in (metadata.get("defects") or {}).items()
        }
        self._types = _by_name(document.get("supported_types"), "type")
        self._relations = _by_name(document.get("supported_relations"), "relation")
        self._expressions = _by_name(document.get("supported_expressions"), "expression")
        dependencies = document.get("dependencies") or {}
        self._functions = {
            kind: _functions(document.get(f"supported_{section}"), dependencies)
            for kind, section in registry.KINDS.items()
        }
        self._given: frozenset[tuple[str, str]] = frozenset()
        self.accepted: frozenset[str] = frozenset(metadata.get("accept") or ())
        """The concessions that may be used for it, by their names."""
        self._known: dict[tuple[Any, ...], Function | None] = {}
        self.known_forms: set[tuple[Any, ...]] = set()
        """Forms of expressions that were found to be supported: their kinds, types and variants."""
        self._allowed_types: dict[tuple[Type, bool], bool] = {}
        self._casts = None if self._expressions is None else _casts(self._expressions.get("CAST", {}))

    @staticmethod
    @lru_cache(maxsize=1)
    def canonical() -> Dialect:
        return Dialect("canonical", {})

    def with_functions(self, named: frozenset[tuple[str, str]]) -> Dialect:
        """The dialect of an engine that is also given these functions, by URN and name. They may raise."""
        extended = copy(self)
        extended._given = self._given | named
        extended._known, extended.known_forms, extended._allowed_types = {}, set(), {}
        return extended

    def accepting(self, concessions: frozenset[str]) -> Dialect:
        """The dialect of an engine for which these concessions may be used too."""
        if concessions <= self.accepted:
            return self
        extended = copy(self)
        extended.accepted = self.accepted | concessions
        return extended

    def allows_type(self, type: Type, column: bool = False) -> bool:
        """Whether values of a type are supported, at every level of it; with `column`, also as a table's column."""
        if self._types is None:
            return True
        known = self._allowed_types.get((type, column))
        if known is None:
            known = self._allowed_types[type, column] = self._allows_type(type, column)
        return known

    def _allows_type(self, type: Type, column: bool) -> bool:
        entry = (self._types or {}).get(TYPE_NAMES[type.kind]) if type.kind in TYPE_NAMES else None
        return (
            entry is not None
            and _within(type, entry)
            and not (column and entry.get("system_metadata", {}).get("supported_as_column") is False)
            and (column or not (entry.get("metadata") or {}).get("only_as_column"))
            and all(
                self.allows_type(part) and self.allows_type(part, column)
                for part in type.parameters
                if isinstance(part, Type)
            )
        )

    def require_type(self, type: Type, column: bool = False) -> None:
        """Raise NotInDialect for a type that is not supported."""
        if not self.allows_type(type, column):
            where = " in a table" if column and self.allows_type(type) else ""
            raise NotInDialect(
                f"the dialect {self.name} has no type {type}{where}",
                "Cast the value in Spark to a type that this dialect has, or make a plan without a dialect.",
            )

    @property
    def is_canonical(self) -> bool:
        """Whether plans need no lowering: nothing is listed, and the engine has no rewrites."""
        return not self.lists_anything and self.abilities == Abilities() and not self.rewrites

    def rewrites_with(self, general: Sequence[Rewrite | Conversion]) -> Rewrites:
        """The engine's rewrites that are in force, before the general ones, which are the same each time."""
        if self._in_force is None:
            self._in_force = Rewrites([*self.rewrites, *general], self.defects)
        return self._in_force

    @property
    def has_all_types(self) -> bool:
        """Whether values of every type are supported."""
        return self._types is None

    @property
    def lists_anything(self) -> bool:
        """Whether there is a list of what is supported, and so something that may be missing from it."""
        lists = (self._types, self._relations, self._expressions, *self._functions.values())
        return any(listed is not None for listed in lists)

    def allows_relation(self, name: str, key: str = "", value: str = "") -> bool:
        """Whether a relation is supported, and a variant of it such as `("JOIN", "join_types", "LEFT_MARK")`."""
        return _allows(self._relations, name, key, value)

    def kinds_lacking(self, name: str, values: Sequence[Expression]) -> list[str]:
        """Of these values' types, the kinds that a relation's keys, or an expression and its operands, may not have."""
        entries = {**(self._relations or {}), **(self._expressions or {})}
        return _kinds_lacking(entries.get(name, {}).get("metadata") or {}, values)

    def lacks_of_files(self, format: str, options: Iterable[str]) -> list[str] | None:
        """The options of a format of Spark's that aren't read; None where it isn't read at all."""
        if self._relations is None:
            return []
        formats = (self._relations.get("READ", {}).get("metadata") or {}).get("spark_files") or {}
        return [option for option in options if option not in formats[format]] if format in formats else None

    def allows_expression(self, name: str, key: str = "", value: str = "") -> bool:
        """Whether an expression is supported, and a variant of it such as `("SUBQUERY", "subquery_types", …)`."""
        return _allows(self._expressions, name, key, value)

    def allows_cast(self, source: Type, target: Type, throws: bool) -> bool:
        """Whether a cast between two kinds of types, as it stands, has Spark's result for every value."""
        return self._casts is None or target.kind in self._casts[throws].get(source.kind, ())

    def allows_call(
        self,
        kind: str,
        declaration: registry.Declaration,
        arguments: Sequence[Expression | str],
        options: tuple[tuple[str, str], ...],
    ) -> bool:
        """Whether a function is supported with these options, and with arguments that are no literals where these are none."""
        if self._functions[kind] is None:
            return True
        entry = self._entry(kind, declaration, options)
        return entry is not None and _takes(entry, arguments)

    def names_function(
        self, kind: str, declaration: registry.Declaration, options: tuple[tuple[str, str], ...]
    ) -> bool:
        """Whether it lists a function with these options as one that the engine has: not where it lists none."""
        return self._functions[kind] is not None and self._entry(kind, declaration, options) is not None

    def require_function(
        self,
        kind: str,
        declaration: registry.Declaration,
        arguments: Sequence[Expression | str],
        options: tuple[tuple[str, str], ...],
    ) -> Function | None:
        """The dialect's entry for a function, None where it supports all. Raises NotInDialect where it has none."""
        if self._functions[kind] is None and not self._given:
            return None
        entry = self._entry(kind, declaration, options)
        if entry is None:
            wanted = f"{declaration.compound}{self._stated(kind, declaration, options)}"
            raise NotInDialect(f"the dialect {self.name} has no function {wanted}", self.hint)
        if _takes(entry, arguments):
            return entry
        if kinds := _kinds_lacking(entry.metadata, arguments):
            raise NotInDialect(
                f"the dialect {self.name} has no {declaration.compound} of {' and '.join(kinds)}", self.hint
            )
        if not _has_literals(entry, arguments):
            raise NotInDialect(f"the dialect {self.name} takes only literals as options of {declaration.name}")
        raise NotInDialect(f"the dialect {self.name} takes at most {entry.most} arguments of {declaration.name}")

    def _stated(self, kind: str, declaration: registry.Declaration, options: tuple[tuple[str, str], ...]) -> str:
        """The options of a call that the dialect lacks, and those that it has the function with."""
        listed = (self._functions[kind] or {}).get((declaration.urn, declaration.name), ())
        others = [_with(entry.options) for entry in listed if declaration.signature in entry.signatures]
        if not others:
            return f" {_with(dict(options))}" if options else ""
        return f" {_with(dict(options))}, only {' or '.join(others)}"

    def most_arguments(
        self, kind: str, declaration: registry.Declaration, options: tuple[tuple[str, str], ...]
    ) -> int | None:
        """The most arguments that a call of a function may have; None where nothing is said, or it isn't supported."""
        entry = None if self._functions[kind] is None else self._entry(kind, declaration, options)
        return None if entry is None else entry.most

    def _entry(
        self, kind: str, declaration: registry.Declaration, options: tuple[tuple[str, str], ...]
    ) -> Function | None:
        key = (kind, declaration.urn, declaration.name, declaration.signature, options)
        try:
            return self._known[key]
        except KeyError:
            entry = self._known[key] = self.function(*key)
            return entry

    def options_of(
        self, kind: str, declaration: registry.Declaration, options: tuple[tuple[str, str], ...]
    ) -> tuple[tuple[str, str], ...]:
        """A call's options, and those that the dialect's function has where the call leaves them open.

        A consumer may choose what a call does not state.
        """
        if self._functions[kind] is None or self._entry(kind, declaration, options) is not None:
            return options
        stated = dict(options)
        for entry in (self._functions[kind] or {}).get((declaration.urn, declaration.name), ()):
            if declaration.signature in entry.signatures and stated.items() <= entry.options.items():
                return tuple({**stated, **entry.options}.items())
        return options

    def function(
        self, kind: str, urn: str, name: str, signature: str, options: Sequence[tuple[str, str]]
    ) -> Function | None:
        """The dialect's entry for a function with exactly these options; None where it lists functions and not this one."""
        listed = self._functions[kind]
        given = GIVEN_FUNCTION if (urn, name) in self._given else None
        if listed is None:
            return given or EVERY_FUNCTION
        return next(
            (f for f in listed.get((urn, name), ()) if signature in f.signatures and dict(options) == f.options), given
        )


EVERY_FUNCTION = Function(frozenset(), {}, {})
"""The entry of every function in a dialect that lists none."""

GIVEN_FUNCTION = Function(frozenset(), {}, {"raises": True})
"""The entry of a function that the caller gives the engine: it may raise."""


def _with(options: Mapping[str, str]) -> str:
    return f"with {', '.join(f'{key} {value}' for key, value in options.items())}" if options else "without options"


def _takes(entry: Function, arguments: Sequence[Expression | str]) -> bool:
    return (
        _has_literals(entry, arguments)
        and (entry.most is None or len(arguments) <= entry.most)
        and not _kinds_lacking(entry.metadata, arguments)
    )


def _kinds_lacking(metadata: Mapping[str, Any], arguments: Iterable[Expression | str]) -> list[str]:
    """The kinds of types, and the names of enum values, among arguments that an entry isn't for."""
    excluded = metadata.get("not_for")
    if not excluded:
        return []
    found = [kind for a in arguments for kind in ((a,) if isinstance(a, str) else sorted(a.type.kinds))]
    return [kind for kind in dict.fromkeys(found) if kind in excluded]


def _has_literals(entry: Function, arguments: Sequence[Expression | str]) -> bool:
    if not entry.metadata:
        return True
    positions = entry.metadata.get("literals")
    return not positions or all(isinstance(arguments[position], Literal) for position in positions)


TYPE_NAMES = {
    **{
        kind: kind.upper()
        for kind in (
            "i8 i16 i32 i64 fp32 fp64 string binary date precision_time precision_timestamp precision_timestamp_tz "
            "interval_year interval_day interval_compound uuid varchar decimal struct list map func"
        ).split()
    },
    "boolean": "BOOL",
    "fixedchar": "FIXED_CHAR",
    "fixedbinary": "FIXED_BINARY",
}
"""The schema's names of types."""


def _within(type: Type, entry: Mapping[str, Any]) -> bool:
    """Whether a type's digits or length are within the limits that an entry sets."""
    limits = [entry.get(key, 2**31) for key in ("max_precision", "max_scale")]
    if type.kind in ("varchar", "fixedchar", "fixedbinary"):
        limits = [entry.get("max_length", 2**31)]
    numbers = [part for part in type.parameters if not isinstance(part, Type)]
    return all(number <= limit for number, limit in zip(numbers, limits, strict=False))


def _by_name(entries: Sequence[Any] | None, noun: str) -> dict[str, Mapping[str, Any]] | None:
    if not entries:
        return None
    by_name: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if isinstance(entry, str):
            by_name[entry] = {}
        else:
            by_name[str(entry[noun])] = entry
    return by_name


def _allows(entries: dict[str, Mapping[str, Any]] | None, name: str, key: str, value: str) -> bool:
    if entries is None:
        return True
    if name not in entries:
        return False
    variants = entries[name].get(key) if key else None
    return not variants or value in variants


def _functions(
    entries: Sequence[Mapping[str, Any]] | None, dependencies: Mapping[str, str]
) -> dict[tuple[str, str], list[Function]] | None:
    if not entries:
        return None
    by_function: dict[tuple[str, str], list[Function]] = {}
    for entry in entries:
        options = {name: str(value) for name, value in (entry.get("required_options") or {}).items()}
        most = (entry.get("variadic") or {}).get("max")
        function = Function(frozenset(entry["supported_impls"]), options, entry.get("metadata") or {}, most)
        by_function.setdefault((dependencies[entry["source"]], entry["name"]), []).append(function)
    return by_function


def _casts(entry: Mapping[str, Any]) -> dict[bool, Mapping[str, Sequence[str]]] | None:
    """The `exact` casts in the metadata of the CAST expression, which are for throwing casts and for those to null."""
    exact = (entry.get("metadata") or {}).get("exact")
    return None if exact is None else {throws: exact[option] for throws, option in CAST_OPTIONS.items()}


CAST_OPTIONS = {True: "THROW_EXCEPTION", False: "RETURN_NULL"}
