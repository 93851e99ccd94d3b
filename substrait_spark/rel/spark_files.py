"""Text, JSON and binary files, and CSV beyond delimited text: read as Spark's source of that name reads them.

The read says the source, each option of it that is not Spark's default and that changes rows, and the columns in their types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..algebra.relation import File, LocalFiles, SparkFiles
from ..algebra.spark_options import SPARK_OPTIONS
from ..catalyst import tree
from ..catalyst.source_options import CHARACTER_SETS, SWITCH, option_text
from ..errors import SeveralUnsupported, Unsupported
from . import delimited
from .builder import RelationBuilder
from .columns import stored, type_names, used_of
from .output import Output

FILES = (
    *("basepath", "codec", "compression", "extension", "modifiedafter", "modifiedbefore", "path", "pathglobfilter"),
    *("paths", "recursivefilelookup", "serialization.format"),
)
"""Options of which files there are, and of writers. Spark decompresses by the names of files."""

SAME = {"encoding": "utf-8", "ignorecorruptfiles": "false", "ignoremissingfiles": "false"}
"""Options with the values that they must have where no plan says them."""

VALUES: Mapping[str, tuple[str, ...]] = {
    **{option: values for option, values in delimited.ONLY.items() if values in (delimited.CODECS, SWITCH)},
    **{option: SWITCH for known in SPARK_OPTIONS.values() for option, value in known.items() if value in SWITCH},
    "encoding": CHARACTER_SETS,
    "mode": ("dropmalformed", "failfast", "permissive"),
}
"""Spark's own values of options, in small letters; it raises on others."""

CHARACTERS = ("chartoescapequoteescaping", "comment", "escape", "quote")
"""Options that are one character, or none."""


TIME_OPTIONS = {
    "dateformat": ("date",),
    "timestampformat": ("timestamp",),
    "timestampntzformat": ("timestamp_ntz",),
    "timezone": ("timestamp",),
}
"""Options that matter to columns of these types alone."""


WITHOUT_EFFECT = {
    "csv": (
        *(
            "escapequotes",
            "inferschema",
            "inputbuffersize",
            "maxmalformedlogperpartition",
            "mergeschema",
        ),
        *("preferdate", "prefersdate", "quoteall", "samplingratio"),
    ),
    "json": (
        *("dropfieldifallnull", "ignorenullfields", "inferschema", "infertimestamp", "mergeschema", "pretty"),
        *("prefersdate", "prefersdecimal", "primitivesasstring", "samplingratio", "writenonasciicharacterascodepoint"),
    ),
}
"""Options of writers, of schema inference, and of buffers."""

ALIASES = {"charset": "encoding", "delimiter": "sep"}
"""Options under other names, which count where the first is missing."""

SETTINGS = {
    "csv": delimited.TIME_SETTINGS,
    "json": {
        "spark.sql.legacy.json.enableDateTimeParsingFallback": "",
        "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    },
}
"""Settings that change how dates and times are parsed, and their values that leave it at Spark's own way."""

JSON_SETTINGS = {
    "spark.sql.json.enableExactStringParsing": "true",
    "spark.sql.json.enablePartialResults": "true",
    "spark.sql.legacy.json.allowEmptyString.enabled": "false",
}
"""Settings that change how JSON is read, with Spark's defaults."""

SAVE = "Save the rows as Parquet and read that."


def leaf(
    r: RelationBuilder,
    data: Sequence[tree.Expression],
    fields: Sequence[tree.Field],
    source: str,
    options: Mapping[str, str | None],
) -> Callable[[Sequence[File]], Output]:
    """The relation of some files of a source, with the columns that the plan uses. `fields` are all that the files have."""
    used = used_of(r, data)
    _require_settings(r, source, used)
    format = SparkFiles(source, _said(r, source, options, [field.name for field in fields], used))
    # What JSON is malformed hangs on the columns that are read. The columns of the others have places.
    schema = stored(r, used if source == "json" else _all(data, fields), by_name=False)
    return lambda files: schema.output(r, LocalFiles(files, format, schema.names, schema.types))


def _all(data: Sequence[tree.Expression], fields: Sequence[tree.Field]) -> list[tree.Expression]:
    """The columns of the files in their order; those that the query hasn't got have no id."""
    known = {attribute["name"]: attribute for attribute in data}
    return [known.get(field.name) or _unread(field) for field in fields]


def _unread(field: tree.Field) -> tree.Expression:
    return tree.make("AttributeReference", field.type, True, name=field.name, exprId=None, metadata=())


def _said(
    r: RelationBuilder,
    source: str,
    options: Mapping[str, str | None],
    names: Sequence[str],
    used: Sequence[tree.Expression],
) -> tuple[tuple[str, str], ...]:
    """The options that the read says. Raises Unsupported for each that it can't say."""
    known, kinds = SPARK_OPTIONS[source], type_names(used)
    refused, said = [], {}
    for option, value in _given(r, source, options).items():
        valid = _is_valid(option, value)
        if valid and _matters_not(source, option, kinds):
            continue
        if valid and option in known and value is not None:
            if _normal(option, value) != known[option]:
                said[option] = _normal(option, value)
        elif value is None or value.lower() != SAME.get(option):
            reason = f"the option {option_text(option, value)} of {source} files can't be said in a plan"
            refused.append(Unsupported(reason, SAVE))
    if refused:
        raise SeveralUnsupported(refused)
    # Which column is for corrupt records is only said where it is one of the columns, or where that rules one out.
    if {said.get("columnnameofcorruptrecord"), delimited.CORRUPT}.isdisjoint(names):
        said.pop("columnnameofcorruptrecord", None)
    return tuple(sorted(said.items()))


def _given(r: RelationBuilder, source: str, options: Mapping[str, str | None]) -> dict[str, str | None]:
    """The options of a read by their first names, with what the session says in place of those that aren't there."""
    given: dict[str, str | None] = {}
    for option, setting in OF_SESSIONS.items():
        value = r.context.configuration.get(setting)
        if option in SPARK_OPTIONS[source] and value and value != "true":  # what is on by default isn't said
            given[option] = value
    for option, value in options.items():
        first = ALIASES.get(option, option)
        if first == option or first not in options:
            given[first] = value
    return given


OF_SESSIONS = {
    "columnnameofcorruptrecord": "spark.sql.columnNameOfCorruptRecord",
    "columnpruning": "spark.sql.csv.parser.columnPruning.enabled",
    "timezone": "spark.sql.session.timeZone",
}
"""Options and the settings that count without them."""


def _is_valid(option: str, value: str | None) -> bool:
    """Whether Spark takes a value, as far as that is known."""
    if option in CHARACTERS:
        return value is not None and delimited.units(value) <= 1
    return option not in VALUES or (value is not None and value.lower() in VALUES[option])


def _matters_not(source: str, option: str, kinds: frozenset[str]) -> bool:
    """Whether an option changes no row of these types of columns."""
    if option.startswith("fs.") or option in FILES or option in WITHOUT_EFFECT.get(source, ()):
        return True
    return option in TIME_OPTIONS and kinds.isdisjoint(TIME_OPTIONS[option])


def _normal(option: str, value: str) -> str:
    """A value, in one case where upper and lower are the same to Spark."""
    if option not in VALUES:
        return value
    return value.upper() if option in ("encoding", "mode") else value.lower()


def _require_settings(r: RelationBuilder, source: str, used: Sequence[tree.Expression]) -> None:
    if not type_names(used).isdisjoint(delimited.TIMES):
        for setting, expected in SETTINGS.get(source, {}).items():
            _require_setting(r, source, setting, expected, "as dates and times")
    if source == "json":
        for setting, expected in JSON_SETTINGS.items():
            _require_setting(r, source, setting, expected, "as values")


def _require_setting(r: RelationBuilder, source: str, setting: str, expected: str, what: str) -> None:
    value = r.context.configuration.get(setting) or expected  # empty where this Spark doesn't have it
    if value.lower() != expected.lower():
        raise Unsupported(
            f"the setting {setting}={value} changes how {source} text is read {what}",
            f"{f'Set it to {expected}' if expected else 'Unset it'}, or save the rows as Parquet and read that.",
        )
