"""What Spark's parser of CSV makes of a field's text, as a Catalyst expression over the text.

It is null where the parser (UnivocityParser) has no value for it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

from ..catalyst.tree import DataType, Expression, make
from ..errors import Unsupported

STRING, BOOLEAN = DataType("string"), DataType("boolean")


def parsed(attribute: Expression, options: Mapping[str, str | None], zone: str) -> Expression:
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


def _without_empty(text: Expression) -> Expression:
    """The text where there is one: empty fields are null beside the option nullValue."""
    empty = make("EqualTo", BOOLEAN, True, left=text, right=_literal("", STRING))
    return make("If", STRING, True, predicate=empty, trueValue=_literal(None, STRING), falseValue=text)


def _cast(text: Expression, type: DataType, zone: str) -> Expression:
    return make("Cast", type, True, child=text, dataType=type, timeZoneId=zone, evalMode="TRY")


def _literal(value: object, type: DataType) -> Expression:
    return make("Literal", type, value is None, value=value)


def _where(text: Expression, pattern: str, value: Expression, otherwise: Expression | None = None) -> Expression:
    """The value where the whole text matches a regular expression, else null or another value."""
    matches = make("RLike", BOOLEAN, True, left=text, right=_literal(pattern, STRING))
    rest = otherwise or _literal(None, value.type)
    return make("If", value.type, True, predicate=matches, trueValue=value, falseValue=rest)


def _integer(text: Expression, type: DataType, zone: str) -> Expression:
    foreign = _where(text, rf"\A[+-]?{DIGIT}+\z", _cast(_in_ascii(text), type, zone))
    return _where(text, r"\A[+-]?[0-9]+\z", _cast(text, type, zone), foreign)


ZEROS = [chr(code) for code in range(0x10000) if unicodedata.decimal(chr(code), None) == 0]
"""The zeros of all scripts, as far as they are one UTF-16 unit: the parser of integers and decimals knows them.

The other digits follow their zero.
"""

DIGIT = "[" + "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in ZEROS) + "]"


def _in_ascii(text: Expression) -> Expression:
    """The text with the digits of other scripts as 0 to 9."""
    digits = "".join(chr(ord(zero) + n) for zero in ZEROS for n in range(10))
    arguments = {"matchingExpr": _literal(digits, STRING), "replaceExpr": _literal("0123456789" * len(ZEROS), STRING)}
    return make("StringTranslate", STRING, True, srcExpr=text, **arguments)


def _float(text: Expression, type: DataType, zone: str) -> Expression:
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


def _boolean(text: Expression, type: DataType, zone: str) -> Expression:
    return _where(text, r"\A([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\z", _cast(text, type, zone))


def _decimal(text: Expression, type: DataType, zone: str) -> Expression:
    """Commas are dropped, wherever they are."""
    comma, nothing = _literal(",", STRING), _literal("", STRING)
    number = make("StringReplace", STRING, True, srcExpr=text, searchExpr=comma, replaceExpr=nothing)
    form = r"\A[+-]?({0}+\.?{0}*|\.{0}+)([eE][+-]?{0}+)?\z"
    foreign = _where(number, form.format(DIGIT), _cast(_in_ascii(number), type, zone))
    return _where(number, form.format("[0-9]"), _cast(number, type, zone), foreign)


def _time(text: Expression, type: DataType, zone: str) -> Expression:
    """What a cast reads; and if that is nothing, what it reads without the letters GMT."""
    gmt, nothing = _literal("GMT", STRING), _literal("", STRING)
    cleaned = make("StringReplace", STRING, True, srcExpr=text, searchExpr=gmt, replaceExpr=nothing)
    return make("Coalesce", type, True, children=(_cast(text, type, zone), _cast(cleaned, type, zone)))


def _local_time(text: Expression, type: DataType, zone: str) -> Expression:
    """What a cast reads, but nothing that names a time zone."""
    return _where(text, rf"\A{SPACE}*[+-]?[0-9]+(-[0-9]+(-[0-9]+([ T][0-9:.]*)?)?)?{SPACE}*\z", _cast(text, type, zone))


SPACE = r"[\x00-\x20\x7f-\x9f]"
"""What casts to dates and times take off, or more."""


def _formatted_date(text: Expression, type: DataType, zone: str) -> Expression:
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


PARSERS: dict[str, Callable[[Expression, DataType, str], Expression]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), _integer),
    **dict.fromkeys(("float", "double"), _float),
    "boolean": _boolean,
    "date": _time,
    "decimal": _decimal,
    "timestamp": _time,
    "timestamp_ntz": _local_time,
}
"""Parsers by Spark's names of types."""
