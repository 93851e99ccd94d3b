"""CSV: text columns, and above them what Spark's parser makes of the text (`rewrites/delimited_values.py`).

The specification reads delimited text as strings, so a column of another type is computed from its text. Every option is in the read or changes nothing, or the text is not read so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ..algebra import types
from ..algebra.relation import DelimitedText, File, LocalFiles
from ..algebra.traversal import columns
from ..catalyst import tree
from ..catalyst.source_options import SWITCH
from ..rewrites.delimited_values import parsed
from .builder import RelationBuilder
from .columns import used_of
from .output import Output, ids_of

SEPARATORS = ("sep", "delimiter")
"""One option under two names."""

SAID = ("escape", "header", "nullvalue", "quote", *SEPARATORS)
"""Options that the read says."""

WITHOUT_EFFECT = (
    *("basepath", "extension", "maxmalformedlogperpartition", "mergeschema", "modifiedafter", "modifiedbefore"),
    *("path", "pathglobfilter", "paths", "recursivefilelookup", "samplingratio", "serialization.format", "timezone"),
)
"""Options of writers, of schema inference, and of which files there are."""

CODECS = ("bzip2", "deflate", "gzip", "lz4", "none", "snappy", "uncompressed", "zstd")

ONLY = {
    "charset": ("utf-8",),
    "chartoescapequoteescaping": ("",),
    "codec": CODECS,
    "columnpruning": SWITCH,
    "comment": ("",),
    "compression": CODECS,
    "emptyvalue": ("",),
    "encoding": ("utf-8",),
    "enforceschema": ("true",),
    "escapequotes": SWITCH,
    "header": SWITCH,
    "ignorecorruptfiles": ("false",),
    "ignoreleadingwhitespace": ("false",),
    "ignoremissingfiles": ("false",),
    "ignoretrailingwhitespace": ("false",),
    "inferschema": SWITCH,
    "inputbuffersize": ("128",),
    "locale": ("en-us",),
    "maxcharspercolumn": ("-1",),
    "maxcolumns": ("20480",),
    "mode": ("permissive",),
    "multiline": ("false",),
    "nanvalue": ("nan",),
    "negativeinf": ("-inf",),
    "positiveinf": ("inf",),
    "preferdate": SWITCH,
    "prefersdate": SWITCH,
    "quoteall": SWITCH,
    "unescapedquotehandling": ("stop_at_delimiter",),
}
"""Options with the values, in small letters, that a plan keeps to: Spark's default, or all where none has an effect."""

FORMATS = {
    "dateformat": "date",
    "locale": "decimal",
    "timestampformat": "timestamp",
    "timestampntzformat": "timestamp_ntz",
}
"""Options that matter to columns of one type only."""

DATE_FORMAT = "yyyy-MM-dd"
"""The one format of dates that is not refused."""

COMPRESSED = (".bz2", ".deflate", ".gz", ".lz4", ".lzo", ".snappy", ".zst", ".zstd")
"""How the names of files end that Spark decompresses."""

CORRUPT = "_corrupt_record"
"""Spark's usual name of a column for lines that failed to parse."""


class NotDelimited(Exception):
    """Text that delimited text can't say: it is read in Spark's own form, which tells what can't be said there either."""


def leaf(
    r: RelationBuilder,
    data: Sequence[tree.Expression],
    names: Sequence[str],
    options: Mapping[str, str | None],
    files: Sequence[File],
) -> Callable[[Sequence[File]], Output]:
    """The relation of some files, with the columns that the plan uses. `names` are those of all columns of the text.

    Raises NotDelimited.
    """
    used = used_of(r, data)
    corrupt = r.context.configuration.get("spark.sql.columnNameOfCorruptRecord", CORRUPT)
    _require_settings(r, used)
    _require_expressible({"columnnameofcorruptrecord": corrupt, **options}, names, used)
    if any(file.uri.lower().endswith(COMPRESSED) for file in files):
        raise NotDelimited
    separator = _separator(options)
    quote, escape = _character(options, "quote", '"'), _character(options, "escape", "\\")
    if {quote, escape}.intersection(separator):
        raise NotDelimited
    if options.get("nullvalue") and units(separator) > 1:
        # Spark takes an empty field behind one in quotes for a text then.
        raise NotDelimited
    text = DelimitedText(
        field_delimiter=separator,
        quote=quote,
        escape=escape,
        value_treated_as_null=options.get("nullvalue") or "",
        header_lines_to_skip=1 if _flag(options, "header") else 0,
    )
    kinds = [types.nullable(types.STRING)] * len(names)
    ordinals = {name: ordinal for ordinal, name in enumerate(names)}
    kept = [ordinals[attribute["name"]] for attribute in used]
    zone = options.get("timezone") or r.context.configuration.get("spark.sql.session.timeZone", "UTC")

    def read(chosen: Sequence[File]) -> Output:
        stored = LocalFiles(chosen, text, names, kinds)
        input = Output(stored.select(kept), ids_of(used))
        e = r.expressions(input.scope())
        values = e.emit_all([parsed(attribute, options, zone) for attribute in used])
        nullable = [e.as_type(value, types.nullable(value.type)) for value in values]
        return Output(columns(input.relation, nullable), ids_of(used))

    return read


TIMES = ("date", "timestamp", "timestamp_ntz")

TIME_SETTINGS = {
    "spark.sql.legacy.csv.enableDateTimeParsingFallback": "",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}
"""Settings that change how columns of these types are parsed, and their values that leave it at Spark's own way."""


def _require_settings(r: RelationBuilder, used: Sequence[tree.Expression]) -> None:
    if any(attribute.type.name in TIMES for attribute in used):
        for setting, expected in TIME_SETTINGS.items():
            if r.context.configuration.get(setting, expected).upper() != expected:
                raise NotDelimited


def _require_expressible(
    options: Mapping[str, str | None], names: Sequence[str], used: Sequence[tree.Expression]
) -> None:
    kinds = {attribute.type.name for attribute in used}
    corrupt = options["columnnameofcorruptrecord"]  # holds lines that failed to parse
    if corrupt is None or corrupt in names:
        raise NotDelimited
    if not all(_is_expressible(option, value, kinds) for option, value in options.items()):
        raise NotDelimited


def _is_expressible(option: str, value: str | None, kinds: Collection[str]) -> bool:
    """Whether the read says an option, or it changes nothing where columns are of these types."""
    if option.startswith("fs.") or option == "columnnameofcorruptrecord" or option in WITHOUT_EFFECT:
        return True
    if option in SAID and option not in ONLY:
        return True
    if value is not None and value.lower() in ONLY.get(option, ()):
        return True
    if option in FORMATS and FORMATS[option] not in kinds:
        return True
    return option == "dateformat" and value == DATE_FORMAT


def _separator(options: Mapping[str, str | None]) -> str:
    given = {options[name] for name in SEPARATORS if name in options}
    if len(given) > 1:
        raise NotDelimited
    separator = next(iter(given), ",") or ""
    separator = "\t" if separator == "\\t" else separator
    if not separator or "\\" in separator or "\n" in separator or "\r" in separator:
        raise NotDelimited
    return separator


def _character(options: Mapping[str, str | None], name: str, default: str) -> str:
    value = options.get(name, default) or ""
    if units(value) > 1 or value == "\0":
        raise NotDelimited
    return value


def units(text: str) -> int:
    """How many characters a text has for Java: those beyond U+FFFF count twice."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _flag(options: Mapping[str, str | None], name: str) -> bool:
    return (options.get(name) or "false").lower() == "true"
