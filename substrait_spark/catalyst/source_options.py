"""The data source options whose values may leave the JVM: they say how rows are read, and hold no secret."""

from __future__ import annotations

HARMLESS_OPTIONS = frozenset(
    """
    allowbackslashescapinganycharacter allowcomments allownonnumericnumbers allownumericleadingzeros
    allowsinglequotes allowunquotedcontrolchars allowunquotedfieldnames basepath chartoescapequoteescaping
    columnnameofcorruptrecord comment compression dateformat datetimerebasemode delimiter dropfieldifallnull
    emptyvalue enabledatetimeparsingfallback encoding charset enforceschema escape escapequotes header
    ignoreleadingwhitespace ignoretrailingwhitespace ignorecorruptfiles ignoremissingfiles inferschema
    int96rebasemode linesep locale maxcharspercolumn maxcolumns mergeschema mode multiline nanvalue negativeinf
    nullvalue parsermode pathglobfilter positiveinf prefersdate primitivesasstring quote quoteall
    recursivefilelookup samplingratio sep serialization.format singlevariantcolumn timestampformat
    timestampntzformat timezone unescapedquotehandling wholetext
    """.split()
)
