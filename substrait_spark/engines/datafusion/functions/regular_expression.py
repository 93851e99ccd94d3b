"""LIKE and regular expressions.

Patterns of regular expressions are Java's, and DataFusion's are of Rust's regex crate: it gets literal ones in a form that
means the same to it (`java_regex`).
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, ScalarFunction
from ....algebra.like_pattern import ANY, ONE, parts_of
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from . import java_regex
from .string import MAX_I32, integer, text

STRINGS = types.of("list", types.STRING, nullable=False)

# ---- LIKE


def like(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """LIKE: DataFusion's escape character is the backslash."""
    value, pattern, escape = call.children()
    known, character = text(pattern), text(escape)
    if known is not None and character is not None:
        return e.call("datafusion:like", value, e.text(_escaped(parts_of(known, character))))
    return _like_column(e, value, pattern, character)


def _escaped(parts: list[str | object] | None) -> str:
    """The pattern with backslash as its escape character."""
    if parts is None:
        raise NotInDialect("Spark raises for this LIKE pattern")
    shown = {ANY: "%", ONE: "_", "%": "\\%", "_": "\\_", "\\": "\\\\"}
    return "".join(shown.get(part, str(part)) for part in parts)


def _like_column(e: LoweringBuilder, value: Expression, pattern: Expression, escape: str | None) -> Expression:
    """LIKE with a pattern that is no literal: what Spark raises for must raise."""
    if escape != "\\":
        raise NotInDialect("patterns that are no literals have backslash as their escape character")
    unescaped = e.call("datafusion:regexp_replace", pattern, e.text(r"\\[\\%_]"), e.text(""), e.text("g"))
    wrong = e.call("string:contains", unescaped, e.text("\\"), case_sensitivity="CASE_SENSITIVE")
    invalid = e.and_(e.is_not_null(value), wrong)
    error = e.cast(e.raises("[INVALID_FORMAT]", types.I64, pattern), types.BOOLEAN)
    return e.if_then(invalid, error, e.call("datafusion:like", value, pattern))


# ---- regular expressions


def _literal(pattern: Expression) -> str:
    value = text(pattern)
    if value is None:
        raise NotInDialect("only literal patterns can be translated from Java's regular expressions")
    return value


def rlike(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Whether a match is found. Without a flag, the optimizer makes a LIKE of some patterns, and forgets to escape backslashes."""
    value, pattern = call.children()
    return e.call("datafusion:regexp_like", value, e.text(java_regex.search(_literal(pattern))), e.text("s"))


def replace(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """All matches in the whole of a text."""
    value, pattern, replacement, position = call.children()
    if integer(position) != 1:
        raise NotInDialect("the position is not 1")
    in_rust, shown = java_regex.replacement(_literal(pattern), _literal(replacement))
    return e.call("datafusion:regexp_replace", value, e.text(in_rust), e.text(shown), e.text("g"))


def extract(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A group of the first match; empty without a match."""
    value, pattern, number = call.children()
    group = integer(number)
    if group is None:
        raise NotInDialect("the group is no literal")
    match = e.call("datafusion:regexp_match", value, e.text(java_regex.extraction(_literal(pattern), group)))
    group_text = e.coalesce(e.call("datafusion:array_element", match, e.i64(1)), e.text(""))
    return e.if_then(e.is_null(value), e.null(types.STRING), group_text)


def count(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """How many matches there are."""
    value, pattern = call.children()
    number = e.call("datafusion:regexp_count", value, e.text(java_regex.every(_literal(pattern))))
    return e.cast(number, types.I32)


def position(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Where the first match is; the group is not looked at, but a null group gives null."""
    value, pattern, group = call.children()
    if integer(group) is None:
        raise NotInDialect("the group is no literal")
    place = e.call("datafusion:regexp_instr", value, e.text(java_regex.every(_literal(pattern))))
    return e.cast(place, types.I32)


def split(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The pieces between the matches; with a limit above 0, the last piece is the rest. None is at an empty pattern."""
    value, pattern, number = call.children()
    limit = integer(number)
    if limit is None:
        raise NotInDialect("the limit is no literal")
    if limit == 1:
        java_regex.parse(_literal(pattern))  # a null pattern gives null, and what is no pattern raises
        return e.if_then(e.is_null(value), e.null(STRINGS), _list_of_one(e, value))
    regex, separator = java_regex.splitter(_literal(pattern))
    if regex is None:
        all_pieces = e.call("datafusion:string_to_array", value, e.text(separator))
        pieces = all_pieces if limit <= 0 else _limited(e, all_pieces, separator, limit)
    elif limit > 0:
        raise NotInDialect("the separators around the last piece of a limited number are no plain text")
    else:
        marked = e.call("datafusion:regexp_replace", value, e.text(regex), e.text(separator), e.text("g"))
        pieces = e.call("datafusion:string_to_array", marked, e.text(separator))
    return e.if_then(e.equal(value, e.text("")), _list_of_one(e, e.text("")), pieces)


def _list_of_one(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call_as(types.required(STRINGS), "datafusion:make_array", value)


def _limited(e: LoweringBuilder, pieces: Expression, separator: str, limit: int) -> Expression:
    """At most as many pieces, the last of which has the others in it."""
    last = e.call("datafusion:array_slice", pieces, e.i64(limit), e.i64(MAX_I32))
    rest = _list_of_one(e, e.call("datafusion:array_to_string", last, e.text(separator)))
    first = e.call("datafusion:array_slice", pieces, e.i64(1), e.i64(limit - 1))
    more = e.is_not_null(e.call("datafusion:array_element", pieces, e.i64(limit + 1)))
    return e.if_then(more, e.call("datafusion:array_concat", first, rest), pieces)


REWRITES = rewrites(
    {
        "spark:spark_like": like,
        "spark:regexp_count": count,
        "spark:regexp_extract": extract,
        "spark:regexp_instr": position,
        "spark:spark_regexp_replace": replace,
        "spark:rlike": rlike,
        "spark:split": split,
    }
)
