"""CSV: text columns, and above them what Spark's parser makes of the text.

The specification reads delimited text as strings, so a column of another type is computed from its text, null where
Spark's parser (UnivocityParser) has no value for it. Every option is in the read or changes nothing, or the text is not read so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence

from ..algebra import types
from ..algebra.relation import DelimitedText, File, LocalFiles
from ..algebra.traversal import columns
from ..catalyst import tree
from ..catalyst.source_options import SWITCH
from ..catalyst.tree import DataType, make
from ..errors import Unsupported
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

STRING, BOOLEAN = DataType("string"), DataType("boolean")


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
        parsed = e.emit_all([_parsed(attribute, options, zone) for attribute in used])
        nullable = [e.as_type(value, types.nullable(value.type)) for value in parsed]
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


# ---- what the parser makes of a field's text


def _parsed(attribute: tree.Expression, options: Mapping[str, str | None], zone: str) -> tree.Expression:
    """The value of a column as an expression over its text."""
    text = make("AttributeReference", STRING, True, name=attribute["name"], exprId=attribute["exprId"])
    kind = attribute.type.name
    if kind == "string" or kind.startswith(("char(", "varchar(")):
        return _without_empty(text) if options.get("nullvalue") else text
    parser = _formatted_date if kind == "date" and options.get("dateformat") else PARSERS.get(kind)
    if parser is None:
        raise Unsupported(
            f"CSV text can't be read as {attribute.type} the way Spark does",
            "Read the column as a string and cast it, or save the rows as Parquet and read that.",
        )
    return parser(text, attribute.type, zone)


def _without_empty(text: tree.Expression) -> tree.Expression:
    """The text where there is one: empty fields are null beside the option nullValue."""
    empty = make("EqualTo", BOOLEAN, True, left=text, right=_literal("", STRING))
    return make("If", STRING, True, predicate=empty, trueValue=_literal(None, STRING), falseValue=text)


def _cast(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    return make("Cast", type, True, child=text, dataType=type, timeZoneId=zone, evalMode="TRY")


def _literal(value: object, type: DataType) -> tree.Expression:
    return make("Literal", type, value is None, value=value)


def _where(
    text: tree.Expression, pattern: str, value: tree.Expression, otherwise: tree.Expression | None = None
) -> tree.Expression:
    """The value where the whole text matches a regular expression, else null or another value."""
    matches = make("RLike", BOOLEAN, True, left=text, right=_literal(pattern, STRING))
    rest = otherwise or _literal(None, value.type)
    return make("If", value.type, True, predicate=matches, trueValue=value, falseValue=rest)


def _integer(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    foreign = _where(text, rf"\A[+-]?{DIGIT}+\z", _cast(_in_ascii(text), type, zone))
    return _where(text, r"\A[+-]?[0-9]+\z", _cast(text, type, zone), foreign)


ZEROS = [chr(code) for code in range(0x10000) if unicodedata.decimal(chr(code), None) == 0]
"""The zeros of all scripts, as far as they are one UTF-16 unit: the parser of integers and decimals knows them.

The other digits follow their zero.
"""

DIGIT = "[" + "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in ZEROS) + "]"


def _in_ascii(text: tree.Expression) -> tree.Expression:
    """The text with the digits of other scripts as 0 to 9."""
    digits = "".join(chr(ord(zero) + n) for zero in ZEROS for n in range(10))
    arguments = {"matchingExpr": _literal(digits, STRING), "replaceExpr": _literal("0123456789" * len(ZEROS), STRING)}
    return make("StringTranslate", STRING, True, srcExpr=text, **arguments)


def _float(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    """Java's words for what is no finite number, and the options' defaults; a cast takes others as well."""
    value = _where(text, r"\A[\x00-\x20]*[+-]?([0-9]|\.[0-9]|0[xX])", _cast(text, type, zone))
    for words, number in SPECIAL.items():
        for word in words:
            same = make("EqualTo", BOOLEAN, True, left=text, right=_literal(word, STRING))
            value = make("If", type, True, predicate=same, trueValue=_literal(number, type), falseValue=value)
    return value


SPECIAL = {
    ("NaN", "+NaN", "-NaN"): float("nan"),
    ("Inf", "Infinity", "+Infinity"): float("inf"),
    ("-Inf", "-Infinity"): float("-inf"),
}
"""Words for floating-point numbers."""


def _boolean(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    return _where(text, r"\A([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\z", _cast(text, type, zone))


def _decimal(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    """Commas are dropped, wherever they are."""
    comma, nothing = _literal(",", STRING), _literal("", STRING)
    number = make("StringReplace", STRING, True, srcExpr=text, searchExpr=comma, replaceExpr=nothing)
    form = r"\A[+-]?({0}+\.?{0}*|\.{0}+)([eE][+-]?{0}+)?\z"
    foreign = _where(number, form.format(DIGIT), _cast(_in_ascii(number), type, zone))
    return _where(number, form.format("[0-9]"), _cast(number, type, zone), foreign)


def _time(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    """What a cast reads; and if that is nothing, what it reads without the letters GMT."""
    gmt, nothing = _literal("GMT", STRING), _literal("", STRING)
    cleaned = make("StringReplace", STRING, True, srcExpr=text, searchExpr=gmt, replaceExpr=nothing)
    return make("Coalesce", type, True, children=(_cast(text, type, zone), _cast(cleaned, type, zone)))


def _local_time(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    """What a cast reads, but nothing that names a time zone."""
    return _where(text, rf"\A{SPACE}*[+-]?[0-9]+(-[0-9]+(-[0-9]+([ T][0-9:.]*)?)?)?{SPACE}*\z", _cast(text, type, zone))


SPACE = r"[\x00-\x20\x7f-\x9f]"
"""What casts to dates and times take off, or more."""


def _formatted_date(text: tree.Expression, type: DataType, zone: str) -> tree.Expression:
    """Dates in the one format. Years before 0 and years of more than four digits, zeros or not, have a sign."""
    shorter = make(
        *("RegExpReplace", STRING, True),
        subject=text,
        regexp=_literal(r"\A([+-])0+([0-9]{4})", STRING),
        rep=_literal("$1$2", STRING),
        pos=_literal(1, DataType("integer")),
    )
    signed = _where(text, r"\A(\+[0-9]{5,19}|-[0-9]{4,19})-[0-9]{2}-[0-9]{2}\z", _cast(shorter, type, zone))
    no_zero = _where(text, r"\A-0+-", _literal(None, type), signed)
    return _where(text, r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\z", _cast(text, type, zone), no_zero)


PARSERS: dict[str, Callable[[tree.Expression, DataType, str], tree.Expression]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), _integer),
    **dict.fromkeys(("float", "double"), _float),
    "boolean": _boolean,
    "date": _time,
    "decimal": _decimal,
    "timestamp": _time,
    "timestamp_ntz": _local_time,
}
"""Parsers by Spark's names of types."""
