"""The data source options whose values may leave the JVM: they say how rows are read, and hold no secret."""

from __future__ import annotations

HARMLESS_OPTIONS = frozenset(
    """
    allowbackslashescapinganycharacter allowcomments allownonnumericnumbers allownumericleadingzeros
    allowsinglequotes allowunquotedcontrolchars allowunquotedfieldnames arrayelementname attributeprefix basepath
    chartoescapequoteescaping columnnameofcorruptrecord comment compression dateformat datetimerebasemode declaration
    delimiter dropfieldifallnull emptyvalue enabledatetimeparsingfallback encoding charset enforceschema escape
    escapequotes excludeattribute header ignoreleadingwhitespace ignorenamespace ignorenullfields
    ignoresurroundingspaces ignoretrailingwhitespace ignorecorruptfiles ignoremissingfiles inferschema int96rebasemode
    linesep locale maxcharspercolumn maxcolumns mergeschema mode multiline nanvalue negativeinf nullvalue parsermode
    pathglobfilter positiveinf prefersdate pretty primitivesasstring quote quoteall recursivefilelookup roottag rowtag
    samplingratio sep serialization.format singlevariantcolumn sortkeys timestampformat timestampntzformat timezone
    unescapedquotehandling valuetag wholetext wildcardcolname writenonasciicharacterascodepoint
    """.split()
)
