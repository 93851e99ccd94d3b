"""LIKE and regular expressions.

Spark's regular expressions are Java's, the standard's are ICU's, and engines have their own: the canonical forms are
ours, and an engine gets a pattern that means the same in its own dialect (`java_regex`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from . import java_regex
from .string import LONGEST, integer, text
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

STRINGS = types.of("list", types.STRING, nullable=False)

# ---- LIKE

ANY, ONE = object(), object()
"""The wildcards % and _."""


def like(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Like: with an escape character, which the standard's function doesn't have."""
    value, pattern, escape = e.emit(node["left"]), node["right"], node["escapeChar"]
    if text(pattern) is not None:
        return like_literal(e, value, node["right"]["value"], escape)
    matched = e.emit(pattern)
    return e.first(
        lambda: e.call("spark:like", value, matched, e.text(escape)),
        lambda: _like_column(e, value, matched, escape),
    )


def like_literal(e: ExpressionBuilder, value: Expression, pattern: str, escape: str) -> Expression:
    """LIKE with a literal pattern: the standard's where nothing is escaped, and no backslash could seem to escape."""
    parts = _parts(pattern, escape)
    plain_text = "".join(part for part in parts or () if isinstance(part, str))
    if parts is not None and not any(c in plain_text for c in "%_\\"):
        shown = "".join(part if isinstance(part, str) else "%" if part is ANY else "_" for part in parts)
        return e.call("string:like", value, e.text(shown), case_sensitivity="CASE_SENSITIVE")
    return e.first(
        lambda: _without_like(e, value, parts),
        lambda: e.call("spark:like", value, e.text(pattern), e.text(escape)),
        lambda: e.call("datafusion:like", value, e.text(_escaped(parts))),
    )


def _parts(pattern: str, escape: str) -> list[str | object] | None:
    """The characters and wildcards of a pattern; None where Spark raises for an escape of anything else."""
    parts: list[str | object] = []
    characters = iter(pattern)
    for c in characters:
        if c == escape:
            escaped = next(characters, "")
            if escaped not in ("%", "_", escape):
                return None
            parts.append(escaped)
        else:
            parts.append(ANY if c == "%" else ONE if c == "_" else c)
    return parts


def _without_like(e: ExpressionBuilder, value: Expression, parts: list[str | object] | None) -> Expression:
    """A pattern with wildcards at its ends only is a comparison of plain text."""
    if parts is None or ONE in parts:
        raise NotInDialect("the pattern has an escape or a wildcard that only LIKE can say")
    before, after = parts[:1] == [ANY], parts[-1:] == [ANY]
    inner = [part for part in parts if part is not ANY]
    if len(parts) - len(inner) != before + after:
        raise NotInDialect("the pattern has a wildcard within that only LIKE can say")
    shown = e.text("".join(map(str, inner)))
    if not before and not after:
        return e.equal(value, shown)
    name = "contains" if before and after else "ends_with" if before else "starts_with"
    return e.call(f"string:{name}", value, shown, case_sensitivity="CASE_SENSITIVE")


def _escaped(parts: list[str | object] | None) -> str:
    """The pattern with backslash as its escape character."""
    if parts is None:
        raise NotInDialect("Spark raises for this LIKE pattern")
    shown = {ANY: "%", ONE: "_", "%": "\\%", "_": "\\_", "\\": "\\\\"}
    return "".join(shown.get(part, str(part)) for part in parts)


def _like_column(e: ExpressionBuilder, value: Expression, pattern: Expression, escape: str) -> Expression:
    """LIKE with a pattern that is no literal: what Spark raises for must raise."""
    if escape != "\\":
        raise NotInDialect("patterns that are no literals have backslash as their escape character")
    unescaped = e.call("datafusion:regexp_replace", pattern, e.text(r"\\[\\%_]"), e.text(""), e.text("g"))
    wrong = e.call("string:contains", unescaped, e.text("\\"), case_sensitivity="CASE_SENSITIVE")
    invalid = e.and_(e.is_not_null(value), wrong)
    error = e.cast(e.raises("[INVALID_FORMAT]", types.I64, pattern), types.BOOLEAN)
    return e.if_then(invalid, error, e.call("datafusion:like", value, pattern))


def multi_like(connective: str, negated: bool) -> Rule:
    """LikeAll, LikeAny, NotLikeAll, NotLikeAny: a null among the patterns is a null operand."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        matches = [_like_one(e, value, pattern) for pattern in node["patterns"]]
        joined = e.and_ if connective == "and" else e.or_
        return joined(*(e.not_(match) if negated else match for match in matches))

    return emit


def _like_one(e: ExpressionBuilder, value: Expression, pattern: object) -> Expression:
    if pattern is None:
        return e.null(types.BOOLEAN)
    if not isinstance(pattern, str):
        raise Unsupported("a pattern holds bytes that are no UTF-8")
    return like_literal(e, value, pattern, "\\")


# ---- regular expressions


def _pattern(node: tree.Expression) -> str:
    found = text(node)
    if found is None:
        raise NotInDialect("only literal patterns can be translated from Java's regular expressions")
    return found


def _translated(e: ExpressionBuilder, translate: Callable[[str], str], node: tree.Expression) -> Expression:
    return e.text(translate(_pattern(node)))


def rlike(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RLike: whether a match is found anywhere."""
    value, pattern = e.emit(node["left"]), e.emit(node["right"])
    return e.first(
        lambda: e.call("spark:rlike", value, pattern),
        # Without a flag, the optimizer makes a LIKE of some patterns, and forgets to escape backslashes.
        lambda: e.call("datafusion:regexp_like", value, _translated(e, java_regex.search, node["right"]), e.text("s")),
    )


def replace(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RegExpReplace: all matches from a position on."""
    arguments = e.emit_all([node["subject"], node["regexp"], node["rep"], node["pos"]])

    def translated() -> Expression:
        if integer(node["pos"]) != 1:
            raise NotInDialect("the position is not 1")
        pattern, replacement = java_regex.replacement(_pattern(node["regexp"]), _pattern(node["rep"]))
        return e.call("datafusion:regexp_replace", arguments[0], e.text(pattern), e.text(replacement), e.text("g"))

    return e.first(lambda: e.call("spark:regexp_replace", *arguments), translated)


def extract(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RegExpExtract: a group of the first match; empty without a match."""
    arguments = e.emit_all([node["subject"], node["regexp"], node["idx"]])

    def translated() -> Expression:
        group = integer(node["idx"])
        if group is None:
            raise NotInDialect("the group is no literal")
        pattern = java_regex.extraction(_pattern(node["regexp"]), group)
        match = e.call("datafusion:regexp_match", arguments[0], e.text(pattern))
        found = e.coalesce(e.call("datafusion:array_element", match, e.i64(1)), e.text(""))
        return e.if_then(e.is_null(arguments[0]), e.null(types.STRING), found)

    return e.first(lambda: e.call("spark:regexp_extract", *arguments), translated)


def count(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RegExpCount: how many matches there are."""
    value, pattern = e.emit(node["subject"]), e.emit(node["regexp"])
    return e.first(
        lambda: e.call("spark:regexp_count", value, pattern),
        lambda: e.cast(
            e.call("datafusion:regexp_count", value, _translated(e, java_regex.every, node["regexp"])), types.I32
        ),
    )


def position(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RegExpInStr: where the first match is; the group is not looked at, but a null group gives null."""
    arguments = e.emit_all([node["subject"], node["regexp"], node["idx"]])

    def translated() -> Expression:
        if integer(node["idx"]) is None:
            raise NotInDialect("the group is no literal")
        pattern = _translated(e, java_regex.every, node["regexp"])
        return e.cast(e.call("datafusion:regexp_instr", arguments[0], pattern), types.I32)

    return e.first(lambda: e.call("spark:regexp_instr", *arguments), translated)


def split(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringSplit: the pieces between the matches; with a limit above 0, the last piece is the rest."""
    arguments = e.emit_all([node["str"], node["regex"], node["limit"]])
    return e.first(lambda: e.call("spark:split", *arguments), lambda: _split(e, node, arguments[0]))


def _split(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    limit = integer(node["limit"])
    if limit is None:
        raise NotInDialect("the limit is no literal")
    if limit == 1:
        return e.if_then(
            e.is_null(value), e.null(STRINGS), e.call_as(types.required(STRINGS), "datafusion:make_array", value)
        )
    pattern, separator = java_regex.splitter(_pattern(node["regex"]))
    if pattern is None:
        all_pieces = e.call("datafusion:string_to_array", value, e.text(separator))
        pieces = all_pieces if limit <= 0 else _limited(e, all_pieces, separator, limit)
    elif limit > 0:
        raise NotInDialect("the separators around the last piece of a limited number are no plain text")
    else:
        marked = e.call("datafusion:regexp_replace", value, e.text(pattern), e.text(separator), e.text("g"))
        pieces = e.call("datafusion:string_to_array", marked, e.text(separator))
    empty = e.call_as(types.required(STRINGS), "datafusion:make_array", e.text(""))
    return e.if_then(e.equal(value, e.text("")), empty, pieces)


def _limited(e: ExpressionBuilder, pieces: Expression, separator: str, limit: int) -> Expression:
    """At most as many pieces, the last of which has the others in it."""
    last = e.call("datafusion:array_slice", pieces, e.i64(limit), e.i64(LONGEST))
    rest = e.call_as(
        types.required(STRINGS), "datafusion:make_array", e.call("datafusion:array_to_string", last, e.text(separator))
    )
    first = e.call("datafusion:array_slice", pieces, e.i64(1), e.i64(limit - 1))
    more = e.is_not_null(e.call("datafusion:array_element", pieces, e.i64(limit + 1)))
    return e.if_then(more, e.call("datafusion:array_concat", first, rest), pieces)


SCALAR: dict[str, Plain | Rule] = {
    "Like": like,
    "LikeAll": multi_like("and", negated=False),
    "LikeAny": multi_like("or", negated=False),
    "NotLikeAll": multi_like("and", negated=True),
    "NotLikeAny": multi_like("or", negated=True),
    "RLike": rlike,
    "RegExpCount": count,
    "RegExpExtract": extract,
    "RegExpExtractAll": plain("spark:regexp_extract_all"),
    "RegExpInStr": position,
    "RegExpReplace": replace,
    "StringSplit": split,
}
