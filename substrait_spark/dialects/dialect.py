"""A dialect: what one engine supports, in the specification's dialect YAML form.

An absent or empty list means that all of its kind is supported (the schema is `dialect_schema.yaml` of the
substrait-extensions package). `metadata` holds the engine's quirks, which the schema has no words for; those
that the producer knows are the fields of `Quirks`.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from .. import extensions
from ..algebra.types import Type
from ..errors import DialectError, NotInDialect

BUILT_IN = ("datafusion",)


class Quirks(NamedTuple):
    """What an engine does that its supported lists can't say. The defaults are the specification's behaviour."""

    nan_payloads: bool = False
    """Compares NaNs by their bits, and groups -0.0 under whichever zero came first; has `datafusion:nanvl`."""
    eager_connectives: bool = False
    """AND, OR and choices of booleans evaluate all for all rows, so that one may raise where Spark does not evaluate it."""
    unwraps_casts: bool = False
    """Compares the input of a cast with a literal in place of its result, though the cast may fail, round or truncate."""
    chained_conjuncts: bool = False
    """Takes a filter's AND apart and nests it one conjunct in the other, so that thousands overflow its stack."""
    projects_below_filters: bool = False
    """Moves projections below filters, so that they may raise for rows that the filter drops."""
    grows_filters: bool = False
    """Moves filters below projections, with all that these compute written out in them as often as they use it."""
    filters_below_totals: bool = False
    """Moves filters on constants below aggregates without keys, which then still yield their row."""
    window_offset_field: bool = False
    """Reads a window bound's removed integer `offset` in place of `offset_expr`."""
    unsigned_range_keys: bool = False
    """Runs frames by range with offsets for unsigned 64-bit keys only, others for no nested keys and no binary ones first."""
    named_by_text: bool = False
    """Names what it computes by its text, which grows with every use, and takes no window call that its input has by name."""
    empty_frames: bool = True
    """Takes window frames that can't hold a row, such as those from the current row to the one before it."""
    grouping_sets: bool = True
    """Runs aggregates with several grouping sets as the specification says."""
    inline_references: bool = True
    """Takes struct, list and map segments in field references."""
    subquery_nulls: bool = True
    """Takes a scalar subquery without a row for null even where the subquery's column can't be null."""
    nested_required: bool = True
    """Takes REQUIRED fields and elements inside the columns of a virtual table."""
    named_structs: bool = False
    """Knows structs by the names of their fields, which types and literals lack: they are built and read by functions."""
    nested_nulls_follow: bool = False
    """Orders nulls inside lists and structs as the nulls of the column: first where those are first."""
    joins_without_columns: bool = True
    """Joins relations of which no column is left."""
    keys_survive_joins: bool = False
    """Takes the keys of an aggregate for unique in a second aggregate by these and others, though a join is between."""
    keys_of_one_side: bool = False
    """Takes every equality of two columns in a join's condition for keys of its two sides."""
    forgets_nulls: bool = False
    """Takes `x ^ x` for 0, and IN lists of `x` without a common option for false, though `x` may be null."""
    literal_options: bool = False
    """Takes an option of an IN list that a CASE computes for a constant; options that are literals it gets right."""
    one_null_equality: bool = False
    """Joins all of a chain of inner joins as the uppermost joins: nulls equal each other as keys in all, or in none."""
    constants_survive: bool = False
    """Takes what is constant below an outer join, or in an input of a union, for constant above, in sorts, groups and filters."""
    one_list_order: bool = False
    """Makes lists and joined texts in one order only in an aggregate, or in orders that go on from each other."""
    offset_alone: bool = True
    """Takes a fetch of an offset without a count (DataFusion moves a sort above it below it)."""
    required_columns: bool = True
    """Takes REQUIRED columns in a read's schema where the data's schema says nullable."""
    distinct_widens_sums: bool = False
    """Gives the sums of decimals beside a DISTINCT aggregate without a filter another type than the plan says."""
    counting_casts: bool = False
    """Casts between timestamps and i64 count microseconds, those between dates and i32 days; no zone plays a part."""
    literal_types: tuple[str, ...] = ()
    """Type names whose literals the engine can't read; they are written as casts of text where that is exact."""


class Function(NamedTuple):
    """What a dialect says of one function."""

    signatures: frozenset[str]
    options: Mapping[str, str]
    metadata: Mapping[str, Any]


class Dialect:
    """What a consumer supports. `Dialect.canonical()` supports all that the specification has."""

    def __init__(self, name: str, document: Mapping[str, Any]) -> None:
        self.name = name
        self._types = _by_name(document.get("supported_types"), "type")
        self._relations = _by_name(document.get("supported_relations"), "relation")
        self._expressions = _by_name(document.get("supported_expressions"), "expression")
        dependencies = document.get("dependencies") or {}
        self._functions = {
            kind: _functions(document.get(f"supported_{section}"), dependencies)
            for kind, section in extensions.KINDS.items()
        }
        self.quirks = _quirks(document.get("metadata") or {})
        self._casts = None if self._expressions is None else _casts(self._expressions.get("CAST", {}))

    @staticmethod
    @lru_cache(maxsize=1)
    def canonical() -> Dialect:
        return Dialect("canonical", {})

    def allows_type(self, type: Type, column: bool = False) -> bool:
        """Whether values of a type are supported, at every level of it; with `column`, also as a table's column."""
        if self._types is None:
            return True
        entry = self._types.get(TYPE_NAMES[type.kind])
        return (
            entry is not None
            and _within(type, entry)
            and not (column and entry.get("system_metadata", {}).get("supported_as_column") is False)
            and all(self.allows_type(part, column) for part in type.parameters if isinstance(part, Type))
        )

    def require_type(self, type: Type, column: bool = False) -> None:
        """Raise NotInDialect for a type that is not supported."""
        if not self.allows_type(type, column):
            where = " in a table" if column and self.allows_type(type) else ""
            raise NotInDialect(
                f"the dialect {self.name} has no type {type}{where}",
                "Choose another dialect, or cast the value in Spark to a type that this one has.",
            )

    @property
    def has_everything(self) -> bool:
        """Whether every relation and every kind of expression is supported."""
        return self._relations is None and self._expressions is None

    def allows_relation(self, name: str, key: str = "", value: str = "") -> bool:
        """Whether a relation is supported, and a variant of it such as `("JOIN", "join_types", "LEFT_MARK")`."""
        return _allows(self._relations, name, key, value)

    def allows_expression(self, name: str, key: str = "", value: str = "") -> bool:
        """Whether an expression is supported, and a variant of it such as `("SUBQUERY", "subquery_types", …)`."""
        return _allows(self._expressions, name, key, value)

    def allows_cast(self, source: Type, target: Type, throws: bool) -> bool:
        """Whether a cast between two kinds of types, as it stands, has Spark's result for every value."""
        return self._casts is None or target.kind in self._casts[throws].get(source.kind, ())

    def allows_function(
        self, kind: str, urn: str, name: str, signature: str, options: Sequence[tuple[str, str]]
    ) -> bool:
        """Whether a function is supported with exactly these options."""
        return self._functions[kind] is None or self._function(kind, urn, name, signature, options) is not None

    def raises(self, kind: str, urn: str, name: str, signature: str, options: Sequence[tuple[str, str]]) -> bool:
        """Whether the engine's function raises for some arguments: its entry's metadata says `raises: true`."""
        entry = self._function(kind, urn, name, signature, options)
        return entry is not None and bool(entry.metadata.get("raises"))

    def limits(
        self, kind: str, urn: str, name: str, signature: str, options: Sequence[tuple[str, str]]
    ) -> Mapping[str, Any]:
        """How far a function is supported, by its entry's metadata.

        `literals`: the positions of arguments that must be literals. Of aggregate functions, `distinct: false` and
        `sorts: false`: these are ignored; `window: false`: it is no window function; `window: growing`: it is one for
        frames that begin where the partition begins.
        """
        entry = self._function(kind, urn, name, signature, options)
        return {} if entry is None else entry.metadata

    def _function(
        self, kind: str, urn: str, name: str, signature: str, options: Sequence[tuple[str, str]]
    ) -> Function | None:
        entries = (self._functions[kind] or {}).get((urn, name), ())
        return next((f for f in entries if signature in f.signatures and dict(options) == f.options), None)


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
    """Whether a type's numbers keep to the limits that an entry sets."""
    limits = [entry.get(key, 2**31) for key in ("max_precision", "max_scale")]
    if type.kind in ("varchar", "fixedchar", "fixedbinary"):
        limits = [entry.get("max_length", 2**31)]
    numbers = [part for part in type.parameters if not isinstance(part, Type)]
    return all(number <= limit for number, limit in zip(numbers, limits, strict=False))


def _by_name(entries: Sequence[Any] | None, noun: str) -> dict[str, Mapping[str, Any]] | None:
    if not entries:
        return None
    found: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        if isinstance(entry, str):
            found[entry] = {}
        else:
            found[str(entry[noun])] = entry
    return found


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
    found: dict[tuple[str, str], list[Function]] = {}
    for entry in entries:
        options = {name: str(value) for name, value in (entry.get("required_options") or {}).items()}
        function = Function(frozenset(entry["supported_impls"]), options, entry.get("metadata") or {})
        found.setdefault((dependencies[entry["source"]], entry["name"]), []).append(function)
    return found


def _casts(entry: Mapping[str, Any]) -> dict[bool, Mapping[str, Sequence[str]]] | None:
    """The `exact` casts in the metadata of the CAST expression, which are for throwing casts and for those to null."""
    exact = (entry.get("metadata") or {}).get("exact")
    return None if exact is None else {throws: exact[option] for throws, option in CAST_OPTIONS.items()}


CAST_OPTIONS = {True: "THROW_EXCEPTION", False: "RETURN_NULL"}


def _quirks(metadata: Mapping[str, Any]) -> Quirks:
    given = metadata.get("quirks", {})
    if not isinstance(given, dict):
        raise DialectError("The dialect's quirks are no mapping.")
    given = dict(given)
    unknown = sorted(set(given) - set(Quirks._fields))
    if unknown:
        raise DialectError(f"The dialect names quirks that substrait_spark doesn't know: {', '.join(unknown)}.")
    if "literal_types" in given:
        given["literal_types"] = tuple(given["literal_types"])
    return Quirks(**given)


def load(dialect: str | Path | None) -> Dialect:
    """The dialect by the name of a built-in one, or in a file; None is the canonical one.

    Raises DialectError for an unknown name, and for a file that is no valid dialect file.
    """
    if dialect is None:
        return Dialect.canonical()
    if isinstance(dialect, str) and dialect in BUILT_IN:
        return _built_in(dialect)
    if not isinstance(dialect, str | Path):
        raise DialectError(f"A dialect is a name or the path of a YAML file, not {type(dialect).__name__}.")
    path = Path(dialect)
    if not _is_file(path):
        raise DialectError(
            f"There is no dialect {str(dialect)!r}: give None, one of {', '.join(BUILT_IN)}, or the path of a dialect file."
        )
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DialectError(f"{path} is no YAML: {error}") from error
    return _from_text(path.stem, text, str(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no path of this system
        return False


@cache
def _built_in(name: str) -> Dialect:
    text = importlib.resources.files(__package__).joinpath(f"{name}.yaml").read_text("utf-8")
    return Dialect(name, _parse(text, name))


def _from_text(name: str, text: str, origin: str) -> Dialect:
    document = _parse(text, origin)
    error = schema_error(document)
    if error is not None:
        raise DialectError(f"{origin} is no valid Substrait dialect: {error}.")
    unknown = {
        entry["source"]
        for section in extensions.KINDS.values()
        for entry in document.get(f"supported_{section}") or ()
        if entry["source"] not in (document.get("dependencies") or {})
    }
    if unknown:
        raise DialectError(f"{origin} has functions of undeclared dependencies: {', '.join(sorted(unknown))}.")
    return Dialect(document.get("name") or name, document)


def _parse(text: str, origin: str) -> dict[str, Any]:
    try:
        document = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise DialectError(f"{origin} is no YAML: {error}") from error
    if not isinstance(document, dict):
        raise DialectError(f"{origin} is no dialect: its top level is no mapping.")
    return document


def schema_error(document: Any) -> str | None:
    """What is wrong with a dialect document by the specification's schema; None where it is valid."""
    import jsonschema

    text = importlib.resources.files("substrait_extensions.dialects").joinpath("dialect_schema.yaml").read_text("utf-8")
    validator = jsonschema.Draft202012Validator(yaml.safe_load(text))
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return None if error is None else f"{error.message} (at {'/'.join(map(str, error.absolute_path)) or 'the top'})"
