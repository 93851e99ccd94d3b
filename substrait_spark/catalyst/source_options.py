"""The data source options whose values may leave the JVM, and the values that messages repeat."""

from __future__ import annotations

from collections.abc import Mapping

HARMLESS_OPTIONS = frozenset(
    """
    allowbackslashescapinganycharacter allowcomments allownonnumericnumbers allownumericleadingzeros
    allowsinglequotes allowunquotedcontrolchars allowunquotedfieldnames arrayelementname attributeprefix basepath
    charset chartoescapequoteescaping codec columnnameofcorruptrecord columnpruning comment compression dateformat
    datetimerebasemode declaration delimiter dropfieldifallnull emptyvalue enabledatetimeparsingfallback encoding
    enforceschema escape escapequotes excludeattribute header ignorecorruptfiles ignoreleadingwhitespace
    ignoremissingfiles ignorenamespace ignorenullfields ignoresurroundingspaces ignoretrailingwhitespace inferschema
    inputbuffersize int96rebasemode linesep locale maxcharspercolumn maxcolumns mergeschema mode multiline nanvalue
    negativeinf nullvalue orc.force.positional.evolution parsermode pathglobfilter positiveinf prefersdate pretty
    primitivesasstring quote quoteall recursivefilelookup roottag rowtag samplingratio sep serialization.format
    singlevariantcolumn sortkeys timestampformat timestampntzformat timezone unescapedquotehandling valuetag
    wholetext wildcardcolname writenonasciicharacterascodepoint
    """.split()
)
"""They say how rows are read. Where the value is one of Spark's own, it holds no secret."""

SWITCH = ("true", "false")
CHARACTER_SETS = ("iso-8859-1", "us-ascii", "utf-16", "utf-16be", "utf-16le", "utf-32", "utf-8")
REBASE_MODES = ("corrected", "exception", "legacy")

VALUES: Mapping[str, tuple[str, ...]] = {
    "charset": CHARACTER_SETS,
    "datetimerebasemode": REBASE_MODES,
    "encoding": CHARACTER_SETS,
    "enforceschema": SWITCH,
    "ignorecorruptfiles": SWITCH,
    "ignoreleadingwhitespace": SWITCH,
    "ignoremissingfiles": SWITCH,
    "ignoretrailingwhitespace": SWITCH,
    "int96rebasemode": REBASE_MODES,
    "mode": ("dropmalformed", "failfast", "permissive"),
    "multiline": SWITCH,
    "orc.force.positional.evolution": SWITCH,
    "unescapedquotehandling": (
        *("back_to_delimiter", "raise_error", "skip_value", "stop_at_closing_quote", "stop_at_delimiter"),
    ),
}
"""Spark's own values of options, in small letters."""


def option_text(option: str, value: str | None) -> str:
    """An option for a message: with its value only where that is one of Spark's own."""
    return f"{option}={value}" if value is not None and value.lower() in VALUES.get(option, ()) else option
