"""Functions on the characters of strings, and on the bytes of binary values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..errors import Unsupported
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

ICU = "spark.sql.icu.caseMappings.enabled"
"""The setting by which Spark has the case mappings of ICU, else those of Java."""


# ---- what arguments are known to be


def integer(node: tree.Expression) -> int | None:
    """The value of an integer literal; None for a null and for what is no literal."""
    value = node["value"] if node.cls.name == "Literal" else None
    return value if isinstance(value, int) else None


def text(node: tree.Expression) -> str | None:
    """The value of a string literal; None for a null and for what is no literal."""
    value = node["value"] if node.cls.name == "Literal" else None
    return value if isinstance(value, str) else None


FAR = 1 << 29
"""Numbers of at most so much have sums that fit into 32 bits."""


def at_least(least: int, node: tree.Expression) -> bool:
    """Whether an argument is known to be no smaller, so that edge values need no thought."""
    value = integer(node)
    return value is not None and value >= least


def small(node: tree.Expression) -> bool:
    """Whether an argument is known to be a number whose sums with others fit into 32 bits."""
    value = integer(node)
    return value is not None and abs(value) <= FAR


# ---- lengths and positions


def counted(function: str, **options: str) -> Rule:
    """A function that the standard has with a 64-bit result where Spark's has 32 bits."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.cast(e.call(function, *e.emit_all(arguments_of(node)), **options), types.I32)

    return emit


def bits(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """BitLength of a binary value: eight for each byte, modulo 2^32."""
    return e.call("spark:spark_multiply", e.call("spark:length", e.emit(node["child"])), e.i32(8))


def locate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringLocate: the position from a start on; 0 for a start that is null or before the first character."""
    needle, value = e.emit_all([node["substr"], node["str"]])
    if integer(node["start"]) == 1:
        return e.cast(e.call("string:strpos", value, needle, case_sensitivity="CASE_SENSITIVE"), types.I32)
    return e.call("spark:locate", needle, value, e.emit(node["start"]))


def overlay(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Overlay. Before Spark 4.2, the end of what is replaced is a sum of two integers that wraps around."""
    if e.context.is_before(4, 2) and not (small(node["pos"]) and small(node["len"])):
        raise Unsupported(
            "before Spark 4.2, overlay repeats the text where its position and length are large together",
            "Give both as numbers, or write what is meant with concat and substring.",
        )
    return e.call("spark:overlay", *e.emit_all(arguments_of(node)))


# ---- parts


def substring(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Substring: the standard doesn't say what a position before the start or a negative length means."""
    arguments = e.emit_all([node["str"], node["pos"], node["len"]])
    if arguments[0].type.kind == "string" and at_least(1, node["pos"]) and at_least(0, node["len"]):
        return e.call("string:substring", *arguments, negative_start="WRAP_FROM_END")
    far = not at_least(1, node["pos"]) and not (at_least(-FAR, node["pos"]) and at_least(-FAR, node["len"]))
    if arguments[0].type.kind == "binary" and far and e.context.is_before(4, 0):
        raise Unsupported(
            "before Spark 4.0, parts of binary values far before their start are other bytes",
            "Give a position of 1 or more as a number, or one from the end and a length as numbers.",
        )
    return e.call("spark:spark_substring", *arguments)


def elt(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Elt: the value at an index; one out of range raises in ANSI mode, else gives null."""
    index, *values = e.emit_all(node["children"])
    values = e.alike(values)
    known = integer(node["children"][0])
    if known is not None and 1 <= known <= len(values):
        return values[known - 1]
    if node["failOnError"]:
        return e.call("spark:elt", index, *values)
    branches = [part for n, value in enumerate(values, 1) for part in (e.equal(index, e.i32(n)), value)]
    return e.if_then(*branches, e.null(values[0].type))


# ---- new strings


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Concat of strings or of binary values: null where any of them is."""
    if any(map(_joins_lists, node["children"])):
        raise Unsupported(
            "Spark's optimizer takes the text of joined lists for the texts of each, joined",
            "Join the texts with concat_ws('', …), which it leaves alone.",
        )
    parts = e.emit_all(node["children"])
    if parts[0].type.kind == "string":
        return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")
    return e.call("spark:spark_concat", *parts)


def _joins_lists(part: tree.Expression) -> bool:
    """Whether it is a text of lists that are joined."""
    return part.name == "Cast" and part["child"].name == "Concat" and part["child"].type.name == "array"


def trim(name: str) -> Rule:
    """Trims: without a set of characters, Spark removes U+0020 only."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        characters = e.text(" ") if node["trimStr"] is None else e.emit(node["trimStr"])
        return e.call(f"string:{name}", e.emit(node["srcStr"]), characters)

    return emit


def pad(name: str) -> Rule:
    """StringLPad, StringRPad: a negative length gives an empty string, an empty padding none."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        arguments = e.emit_all([node["str"], node["len"], node["pad"]])
        known = at_least(0, node["len"]) and text(node["pad"])
        return e.call(f"{'string:' if known else 'spark:spark_'}{name}", *arguments)

    return emit


def padded_when_read(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CHAR(n) columns: what is shorter is padded, what is longer stays."""
    value, length = e.emit_all(node["arguments"])
    shorter = e.call("comparison:lt", e.call("string:char_length", value), e.cast(length, types.I64))
    return e.if_then(shorter, e.call("string:rpad", value, length, e.text(" ")), value)


def repeat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringRepeat: a negative count gives an empty string."""
    value, times = e.emit(node["str"]), e.emit(node["times"])
    if at_least(0, node["times"]):
        return e.call("string:repeat", value, e.literal(integer(node["times"]), types.I64))
    return e.call("spark:spark_repeat", value, times)


def replace(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringReplace: an empty search string changes nothing."""
    arguments = e.emit_all([node["srcExpr"], node["searchExpr"], node["replaceExpr"]])
    if text(node["searchExpr"]):
        return e.call("string:replace", *arguments, case_sensitivity="CASE_SENSITIVE")
    return e.call("spark:spark_replace", *arguments)


def initcap(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """InitCap: Java's mappings begin some words with other letters than those of ICU, which Spark has since 4.0."""
    by_icu = e.context.setting(ICU, "true") == "true"
    return e.call("spark:spark_initcap" if by_icu else "spark:initcap_simple", e.emit(node["child"]))


# ---- tests


def levenshtein(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Levenshtein: -1 for a distance above the threshold, where there is one."""
    threshold = [] if node["threshold"] is None else [node["threshold"]]
    return e.call("spark:levenshtein", *e.emit_all([node["left"], node["right"], *threshold]))


def sensitive(name: str) -> Plain:
    return plain(f"string:{name}", case_sensitivity="CASE_SENSITIVE")


SCALAR: dict[str, Plain | Rule] = {
    "Ascii": plain("spark:ascii"),
    "BitLength(binary)": bits,
    "BitLength(string)": counted("string:bit_length"),
    "Chr": plain("spark:char"),
    "Concat(binary)": concat,
    "Concat(string)": concat,
    "ConcatWs": plain("spark:spark_concat_ws"),
    "Contains": sensitive("contains"),
    "Elt": elt,
    "EndsWith": sensitive("ends_with"),
    "FindInSet": plain("spark:find_in_set"),
    "InitCap": initcap,
    "Invoke(string.isValid)": plain("spark:is_valid_utf8"),
    "Invoke(string.makeValid)": plain("spark:make_valid_utf8"),
    "Length(binary)": plain("spark:length"),
    "Length(string)": counted("string:char_length"),
    "Levenshtein": levenshtein,
    "Lower": plain("string:lower", char_set="UTF8"),
    "Mask": plain("spark:mask"),
    "OctetLength(binary)": plain("spark:length"),
    "OctetLength(string)": counted("string:octet_length"),
    "Overlay": overlay,
    "Reverse(binary)": plain("spark:spark_reverse"),
    "Reverse(string)": plain("string:reverse"),
    "Sentences": plain("spark:sentences"),
    "SoundEx": plain("spark:soundex"),
    "SplitPart": plain("spark:split_part"),
    "StartsWith": sensitive("starts_with"),
    "StaticInvoke(ByteArray.lpad)": plain("spark:spark_lpad"),
    "StaticInvoke(ByteArray.rpad)": plain("spark:spark_rpad"),
    "StaticInvoke(ByteArrayMethods.contains)": plain("spark:spark_contains"),
    "StaticInvoke(ByteArrayMethods.endsWith)": plain("spark:endswith"),
    "StaticInvoke(ByteArrayMethods.startsWith)": plain("spark:startswith"),
    "StaticInvoke(CharVarcharCodegenUtils.readSidePadding)": padded_when_read,
    "StaticInvoke(ExpressionImplUtils.getSentences)": plain("spark:sentences"),
    "StaticInvoke(ExpressionImplUtils.isLuhnNumber)": plain("spark:luhn_check"),
    "StaticInvoke(ExpressionImplUtils.jaroWinklerSimilarity)": plain("spark:jaro_winkler_similarity"),
    "StaticInvoke(ExpressionImplUtils.quote)": plain("spark:quote"),
    "StaticInvoke(ExpressionImplUtils.tryValidateUTF8String)": plain("spark:try_validate_utf8"),
    "StaticInvoke(ExpressionImplUtils.validateUTF8String)": plain("spark:validate_utf8"),
    "StringInstr": counted("string:strpos", case_sensitivity="CASE_SENSITIVE"),
    "StringInstrWithOccurrence": plain("spark:instr"),
    "StringLPad": pad("lpad"),
    "StringLocate": locate,
    "StringRPad": pad("rpad"),
    "StringRepeat": repeat,
    "StringReplace": replace,
    "StringSpace": plain("spark:space"),
    "StringTranslate": plain("spark:translate"),
    "StringTrim": trim("trim"),
    "StringTrimLeft": trim("ltrim"),
    "StringTrimRight": trim("rtrim"),
    "Substring": substring,
    "SubstringIndex": plain("spark:substring_index"),
    "Upper": plain("string:upper", char_set="UTF8"),
}
