"""LIKE and regular expressions.

Spark's regular expressions are Java's, those of the standard's functions are ICU's: ours say that the pattern is Java's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.like_pattern import ANY, ONE, parts_of
from ..catalyst import tree
from ..errors import Unsupported
from .string import integer, text
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

TRUNCATES = "spark.sql.legacy.truncateForEmptyRegexSplit"
"""The setting by which Spark splits at an empty pattern as it did when it had no such setting."""

# ---- LIKE


def like(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Like: with an escape character, which the standard's function doesn't have."""
    value, pattern, escape = e.emit(node["left"]), text(node["right"]), node["escapeChar"]
    if pattern is None:
        return e.call("spark:spark_like", value, e.emit(node["right"]), e.text(escape))
    return like_literal(e, value, pattern, escape)


def like_literal(e: ExpressionBuilder, value: Expression, pattern: str, escape: str) -> Expression:
    """LIKE with a literal pattern: the standard's where nothing is escaped, and no backslash could seem to escape."""
    parts = parts_of(pattern, escape)
    if parts is None:
        return e.call("spark:spark_like", value, e.text(pattern), e.text(escape))
    plain_text = "".join(part for part in parts if isinstance(part, str))
    if not any(c in plain_text for c in "%_\\"):
        shown = "".join(part if isinstance(part, str) else "%" if part is ANY else "_" for part in parts)
        return e.call("string:like", value, e.text(shown), case_sensitivity="CASE_SENSITIVE")
    compared = _compared(e, value, parts)
    return compared or e.call("spark:spark_like", value, e.text(pattern), e.text(escape))


def _compared(e: ExpressionBuilder, value: Expression, parts: list[str | object]) -> Expression | None:
    """A pattern with wildcards at its ends only is a comparison of plain text; None for any other."""
    before, after = parts[:1] == [ANY], parts[-1:] == [ANY]
    inner = [part for part in parts if part is not ANY]
    if ONE in parts or len(parts) - len(inner) != before + after:
        return None
    shown = e.text("".join(map(str, inner)))
    if not before and not after:
        return e.equal(value, shown)
    name = "contains" if before and after else "ends_with" if before else "starts_with"
    return e.call(f"string:{name}", value, shown, case_sensitivity="CASE_SENSITIVE")


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


def split(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringSplit: at an empty pattern, Spark used to drop what is behind the last piece of a limited number."""
    pattern, limit = text(node["regex"]), integer(node["limit"])
    differs = not pattern and (limit is None or limit > 0)
    drops = differs and e.context.setting(TRUNCATES, "false") != "false"
    name = "split_truncating" if drops else "split"
    return e.call(f"spark:{name}", *e.emit_all([node["str"], node["regex"], node["limit"]]))


def instr(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """RegExpInStr. Before Spark 4.0, the place is counted in the units of UTF-16, of which some characters have two."""
    if e.context.is_before(4, 0):
        raise Unsupported(
            "before Spark 4.0, regexp_instr counts some characters before a match as two",
            "Write if(NOT x RLIKE 'p', 0, char_length(regexp_extract(x, '(?s)^(.*?)(?-s:p)', 1)) + 1).",
        )
    return e.call("spark:regexp_instr", *e.emit_all(arguments_of(node)))


SCALAR: dict[str, Plain | Rule] = {
    "Like": like,
    "LikeAll": multi_like("and", negated=False),
    "LikeAny": multi_like("or", negated=False),
    "NotLikeAll": multi_like("and", negated=True),
    "NotLikeAny": multi_like("or", negated=True),
    "RLike": plain("spark:rlike"),
    "RegExpCount": plain("spark:regexp_count"),
    "RegExpExtract": plain("spark:regexp_extract"),
    "RegExpExtractAll": plain("spark:regexp_extract_all"),
    "RegExpInStr": instr,
    "RegExpReplace": plain("spark:spark_regexp_replace"),
    "StringSplit": split,
}
