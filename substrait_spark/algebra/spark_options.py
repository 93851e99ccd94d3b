"""The formats of files that Spark reads and the specification lacks, and what may be said of how they are read."""

from __future__ import annotations

from collections.abc import Mapping

PARSING = {
    "columnnameofcorruptrecord": "_corrupt_record",
    "dateformat": "",
    "encoding": "UTF-8",
    "linesep": "",
    "locale": "en-US",
    "mode": "PERMISSIVE",
    "multiline": "false",
    "timestampformat": "",
    "timestampntzformat": "",
    "timezone": "",
}

SPARK_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "binaryFile": {},
    "csv": {
        **PARSING,
        "chartoescapequoteescaping": "",
        "columnpruning": "",
        "comment": "",
        "emptyvalue": "",
        "enforceschema": "true",
        "escape": "\\",
        "header": "false",
        "ignoreleadingwhitespace": "false",
        "ignoretrailingwhitespace": "false",
        "maxcharspercolumn": "-1",
        "maxcolumns": "20480",
        "nanvalue": "NaN",
        "negativeinf": "-Inf",
        "nullvalue": "",
        "positiveinf": "Inf",
        "quote": '"',
        "sep": ",",
        "unescapedquotehandling": "STOP_AT_DELIMITER",
    },
    "json": {
        **PARSING,
        "allowbackslashescapinganycharacter": "false",
        "allowcomments": "false",
        "allownonnumericnumbers": "true",
        "allownumericleadingzeros": "false",
        "allowsinglequotes": "true",
        "allowunquotedcontrolchars": "false",
        "allowunquotedfieldnames": "false",
        "encoding": "",
    },
    "text": {"linesep": "", "wholetext": "false"},
}
"""Spark's options by its names of formats, each with what holds where it isn't said; empty where Spark finds that out itself."""

DELIMITED = ("escape", "header", "nullvalue", "quote", "sep")
"""Options of CSV that the specification's delimited text has as well."""

OF_VALUES = ("dateformat", "locale", "nanvalue", "negativeinf", "positiveinf", "timestampformat", "timestampntzformat")
"""Options that say what text a value has, which a cast in the query can say as well; others say what the rows are."""
