"""Functions on the characters of strings, and on the bytes of binary values."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import FieldReference
from ..catalyst import tree
from ..errors import NotInDialect
from ..expr.lambda_ import transformed
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

LONGEST = 2**31 - 1
"""The greatest length that Spark's 32-bit positions and lengths can say."""


# ---- what arguments are known to be


def integer(node: tree.Expression) -> int | None:
    """The value of an integer literal; None for a null and for what is no literal."""
    value = node["value"] if node.cls.name == "Literal" else None
    return value if isinstance(value, int) else None


def text(node: tree.Expression) -> str | None:
    """The value of a string literal; None for a null and for what is no literal."""
    value = node["value"] if node.cls.name == "Literal" else None
    return value if isinstance(value, str) else None


def at_least(least: int, node: tree.Expression) -> bool:
    """Whether an argument is known to be no smaller, so that edge values need no thought."""
    value = integer(node)
    return value is not None and value >= least


# ---- lengths and positions


def counted(standard: str, own: str, **options: str) -> Rule:
    """A function that the standard has with a 64-bit result where Spark's has 32 bits."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return _counted(e, standard, own, *e.emit_all(arguments_of(node)), **options)

    return emit


def _counted(e: ExpressionBuilder, standard: str, own: str, *arguments: Expression, **options: str) -> Expression:
    return e.first(lambda: e.cast(e.call(standard, *arguments, **options), types.I32), lambda: e.call(own, *arguments))


def bit_length(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """BitLength of a binary value."""
    child = e.emit(node["child"])
    return e.first(
        lambda: e.call("spark:bit_length", child),
        lambda: e.call("spark:multiply", e.call("spark:length", child), e.i32(8)),
    )


def locate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringLocate: the position from a start on; 0 for a start that is null or before the first character."""
    if integer(node["start"]) == 1:
        arguments = e.emit_all([node["str"], node["substr"]])
        return _counted(e, "string:strpos", "spark:instr", *arguments, case_sensitivity="CASE_SENSITIVE")
    needle, value, start = e.emit_all([node["substr"], node["str"], node["start"]])
    return e.first(
        lambda: e.call("spark:locate", needle, value, start),
        lambda: _located(e, needle, value, start),
    )


def _located(e: ExpressionBuilder, needle: Expression, value: Expression, start: Expression) -> Expression:
    rest = e.call("spark:instr", e.call("spark:substring", value, start, e.i32(LONGEST)), needle)
    before = e.call("spark:subtract", start, e.i32(1))
    known = e.and_(e.is_not_null(value), e.is_not_null(needle))
    return e.if_then(
        e.is_null(start), e.i32(0),
        e.not_(known), e.null(types.I32),
        e.call("comparison:lt", start, e.i32(1)), e.i32(0),
        e.equal(needle, e.text("")), e.i32(1),
        e.equal(rest, e.i32(0)), e.i32(0),
        e.call("spark:add", rest, before),
    )  # fmt: skip


# ---- parts


def substring(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Substring: the standard doesn't say what a position before the start or a negative length means."""
    arguments = e.emit_all([node["str"], node["pos"], node["len"]])
    if arguments[0].type.kind == "string" and at_least(1, node["pos"]) and at_least(0, node["len"]):
        return e.call("string:substring", *arguments, negative_start="WRAP_FROM_END")
    return e.call("spark:substring", *arguments)


def substring_index(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SubstringIndex: engines scan for delimiters that overlap themselves ('aa') in different ways."""
    arguments = e.emit_all([node["strExpr"], node["delimExpr"], node["countExpr"]])
    return e.first(
        lambda: e.call("spark:substring_index", *arguments),
        lambda: e.call("datafusion:substring_index", *_unless_overlapping(node["delimExpr"], arguments)),
    )


def split_part(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SplitPart: from the end, engines scan for delimiters that overlap themselves ('aa') in different ways."""
    arguments = e.emit_all([node["str"], node["delimiter"], node["partNum"]])

    def guarded() -> Expression:
        part = integer(node["partNum"])
        if part == 0:
            raise NotInDialect("there is no part 0")
        checked = arguments if part and part > 0 else _unless_overlapping(node["delimiter"], arguments)
        found = e.call("datafusion:split_part", *checked)
        if part:
            return found
        # The engine raises for part 0 of a null, too.
        return e.if_then(e.or_(*map(e.is_null, arguments[:2])), e.null(types.STRING), found)

    return e.first(lambda: e.call("spark:split_part", *arguments), guarded)


def _unless_overlapping(delimiter: tree.Expression, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    value = text(delimiter)
    if value is None or any(value.endswith(value[:n]) for n in range(1, len(value))):
        raise NotInDialect("the delimiter is no literal, or could overlap itself")
    return arguments


def overlay(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Overlay: a negative length means the length of the replacement."""
    value, new, position, length = e.emit_all([node["input"], node["replace"], node["pos"], node["len"]])

    start, size = integer(node["pos"]), integer(node["len"])
    small = start is not None and 1 <= start < 2**30 and size is not None and -1 <= size < 2**30

    def parts() -> Expression:
        shorter = e.call("spark:subtract", position, e.i32(1))
        kept = shorter if small else e.if_then(e.call("comparison:lt", position, e.i32(1)), e.i32(0), shorter)
        before = e.call("spark:substring", value, e.i32(1), kept)
        replaced = _length(e, new) if size == -1 else length
        if size is None or size < -1:
            replaced = e.if_then(e.call("comparison:lt", length, e.i32(0)), _length(e, new), length)
        behind = e.call("spark:add", position, replaced) if small else _position_of_sum(e, position, replaced)
        return _concat(e, before, new, e.call("spark:substring", value, behind, e.i32(LONGEST)))

    return e.first(lambda: e.call("spark:overlay", value, new, position, length), parts)


def _position_of_sum(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    """A sum of 32-bit integers as a position: at most the last one, at least the one furthest from the end."""
    total = e.call("spark:add", e.cast(left, types.I64), e.cast(right, types.I64))
    return e.if_then(
        e.call("comparison:gt", total, e.i64(LONGEST)), e.i32(LONGEST),
        e.call("comparison:lt", total, e.i64(-LONGEST)), e.i32(-LONGEST),
        e.cast(total, types.I32, throws=False),
    )  # fmt: skip


def _length(e: ExpressionBuilder, value: Expression) -> Expression:
    return e.call("spark:length", value)


def elt(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Elt: the value at an index; one out of range raises in ANSI mode, else gives null."""
    index_node = node["children"][0]
    index, *values = e.emit_all(node["children"])
    values = e.alike(values)
    known = integer(index_node)
    if known is not None and 1 <= known <= len(values):
        return values[known - 1]
    null = e.null(values[0].type)
    branches = [part for n, value in enumerate(values, 1) for part in (e.equal(index, e.i32(n)), value)]
    if not node["failOnError"]:
        return e.if_then(*branches, null)

    def guarded() -> Expression:
        if index_node.cls.name == "Literal":
            raise NotInDialect("the index is out of range in every row")
        error = e.cast(e.raises("[INVALID_ARRAY_INDEX]", types.STRING, index), null.type)
        return e.if_then(*branches, e.is_null(index), null, error)

    return e.first(lambda: e.call("spark:elt", index, *values), guarded)


# ---- new strings


def _concat(e: ExpressionBuilder, *parts: Expression) -> Expression:
    if parts[0].type.kind == "string":
        return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")
    return e.call("spark:concat", *parts)


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Concat of strings or of binary values: null where any of them is."""
    return _concat(e, *e.emit_all(node["children"]))


def trim(name: str) -> Rule:
    """Trims: without a set of characters, Spark removes U+0020 only."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        characters = e.text(" ") if node["trimStr"] is None else e.emit(node["trimStr"])
        return e.call(f"string:{name}", e.emit(node["srcStr"]), characters)

    return emit


def pad(name: str) -> Rule:
    """StringLPad, StringRPad: a negative length gives an empty string, an empty padding none."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value, length, padding = e.emit_all([node["str"], node["len"], node["pad"]])
        if at_least(0, node["len"]) and text(node["pad"]):
            return e.call(f"string:{name}", value, length, padding)
        return e.first(
            lambda: e.call(f"spark:{name}", value, length, padding),
            lambda: e.call(f"datafusion:{name}", value, _not_negative(e, length), padding),
        )

    return emit


def pad_binary(name: str) -> Rule:
    """lpad and rpad of binary values, which are those of their hexadecimal digits."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value, length, padding = e.emit_all(node["arguments"])

        def through_hex() -> Expression:
            digits = e.call("spark:multiply", e.cast(_not_negative(e, length), types.I64), e.i64(2))
            padded = e.call(f"datafusion:{name}", e.call("spark:hex", value), digits, e.call("spark:hex", padding))
            return e.call("spark:unhex", padded)

        return e.first(lambda: e.call(f"spark:{name}", value, length, padding), through_hex)

    return emit


def _not_negative(e: ExpressionBuilder, length: Expression) -> Expression:
    zero = e.i32(0)
    return e.if_then(e.call("comparison:lt", length, zero), zero, length)


def padded_when_read(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CHAR(n) columns: what is shorter is padded, what is longer stays."""
    value, length = e.emit_all(node["arguments"])
    size = e.first(lambda: e.call("string:char_length", value), lambda: e.call("spark:length", value))
    shorter = e.call("comparison:lt", size, e.cast(length, types.required(size.type)))
    return e.if_then(shorter, e.call("string:rpad", value, length, e.text(" ")), value)


def repeat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringRepeat: a negative count gives an empty string."""
    value, times = e.emit(node["str"]), e.emit(node["times"])
    if at_least(0, node["times"]):
        return e.call("string:repeat", value, e.literal(integer(node["times"]), types.I64))
    return e.call("spark:repeat", value, times)


def replace(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringReplace: an empty search string changes nothing."""
    arguments = e.emit_all([node["srcExpr"], node["searchExpr"], node["replaceExpr"]])
    if text(node["searchExpr"]):
        return e.call("string:replace", *arguments, case_sensitivity="CASE_SENSITIVE")
    return e.call("spark:replace", *arguments)


# ---- tests


def binary_starts(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """startswith of binary values."""
    value, start = e.emit_all(node["arguments"])
    return e.first(
        lambda: e.call("spark:startswith", value, start),
        lambda: e.equal(e.call("spark:substring", value, e.i32(1), _length(e, start)), start),
    )


def binary_ends(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """endswith of binary values: a position before the first byte would count from the end."""
    value, end = e.emit_all(node["arguments"])

    def by_parts() -> Expression:
        before = e.call("spark:subtract", _length(e, value), _length(e, end))
        rest = e.call("spark:substring", value, e.call("spark:add", before, e.i32(1)), _length(e, end))
        return e.and_(e.call("comparison:gte", before, e.i32(0)), e.equal(rest, end))

    return e.first(lambda: e.call("spark:endswith", value, end), by_parts)


def levenshtein(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Levenshtein: -1 for a distance above the threshold, where there is one."""
    left, right = e.emit(node["left"]), e.emit(node["right"])
    if node["threshold"] is None:
        return e.call("spark:levenshtein", left, right)
    threshold = e.emit(node["threshold"])

    def compared() -> Expression:
        distance = e.call("spark:levenshtein", left, right)
        near = e.call("comparison:lte", distance, threshold)
        return e.if_then(near, distance, e.is_null(near), e.null(types.I32), e.i32(-1))

    return e.first(lambda: e.call("spark:levenshtein", left, right, threshold), compared)


@cache
def _titles() -> dict[str, str]:
    """The characters that begin a word otherwise than in upper case, as Unicode has it: ß as Ss, ǆ as ǅ."""
    return {c: c.title() for c in map(chr, range(0x80, 0x10000)) if c.title() != c.upper()}


def initcap(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """InitCap: words are what stands between spaces; ICU's mappings, which Spark has since 4.0."""
    child = e.emit(node["child"])

    def by_words() -> Expression:
        if e.context.spark.startswith("3."):
            raise NotInDialect("Spark before 4.0 begins words with other letters")
        words = e.call("datafusion:string_to_array", child, e.text(" "))
        begun = transformed(e, words, types.STRING, _begun(e, FieldReference(0, types.STRING, parameter=0)))
        return e.call("datafusion:array_to_string", begun, e.text(" "))

    return e.first(lambda: e.call("spark:initcap", child), by_words)


def _begun(e: ExpressionBuilder, word: Expression) -> Expression:
    """A word with its first letter in title case, the others in lower case."""
    lower, upper = (partial(e.call, f"string:{name}", char_set="UTF8") for name in ("lower", "upper"))
    first = e.call("spark:substring", word, e.i32(1), e.i32(1))
    titles = {" ": "", **_titles()}  # an empty text is found before the first character, and stays one
    titled = e.literal(tuple(titles.values()), types.of("list", types.STRING, nullable=False))
    at = e.cast(e.call("spark:instr", e.text("".join(titles)), first), types.I64)
    beginning = e.coalesce(e.call("datafusion:array_element", titled, at), upper(first))
    # The lower case of a letter may be two; that of a word hangs on the letters around.
    second = e.call("spark:add", e.call("spark:length", lower(first)), e.i32(1))
    rest = e.call("spark:substring", lower(word), second, e.i32(LONGEST))
    return e.call("string:concat", beginning, rest, null_handling="ACCEPT_NULLS")


def valid(name: str) -> Rule:
    """The checks for valid UTF-8, which change nothing where every string is valid, as Substrait's are."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        (child,) = e.emit_all(arguments_of(node))
        return e.first(lambda: e.call(f"spark:{name}", child), lambda: child)

    return emit


def sensitive(name: str) -> Plain:
    return plain(f"string:{name}", case_sensitivity="CASE_SENSITIVE")


SCALAR: dict[str, Plain | Rule] = {
    "Ascii": plain("spark:ascii"),
    "BitLength(binary)": bit_length,
    "BitLength(string)": counted("string:bit_length", "spark:bit_length"),
    "Chr": plain("spark:char"),
    "Concat(binary)": concat,
    "Concat(string)": concat,
    "ConcatWs": plain("spark:concat_ws"),
    "Contains": sensitive("contains"),
    "Elt": elt,
    "EndsWith": sensitive("ends_with"),
    "FindInSet": plain("spark:find_in_set"),
    "InitCap": initcap,
    "Invoke(string.isValid)": plain("spark:is_valid_utf8"),
    "Invoke(string.makeValid)": valid("make_valid_utf8"),
    "Length(binary)": plain("spark:length"),
    "Length(string)": counted("string:char_length", "spark:length"),
    "Levenshtein": levenshtein,
    "Lower": plain("string:lower", char_set="UTF8"),
    "Mask": plain("spark:mask"),
    "OctetLength(binary)": plain("spark:length"),
    "OctetLength(string)": counted("string:octet_length", "spark:octet_length"),
    "Overlay": overlay,
    "Reverse(binary)": plain("spark:reverse"),
    "Reverse(string)": plain("string:reverse"),
    "SoundEx": plain("spark:soundex"),
    "SplitPart": split_part,
    "StartsWith": sensitive("starts_with"),
    "StaticInvoke(ByteArray.lpad)": pad_binary("lpad"),
    "StaticInvoke(ByteArray.rpad)": pad_binary("rpad"),
    "StaticInvoke(ByteArrayMethods.contains)": plain("spark:contains"),
    "StaticInvoke(ByteArrayMethods.endsWith)": binary_ends,
    "StaticInvoke(ByteArrayMethods.startsWith)": binary_starts,
    "StaticInvoke(CharVarcharCodegenUtils.readSidePadding)": padded_when_read,
    "StaticInvoke(ExpressionImplUtils.getSentences)": plain("spark:sentences"),
    "StaticInvoke(ExpressionImplUtils.isLuhnNumber)": plain("spark:luhn_check"),
    "StaticInvoke(ExpressionImplUtils.jaroWinklerSimilarity)": plain("spark:jaro_winkler_similarity"),
    "StaticInvoke(ExpressionImplUtils.quote)": plain("spark:quote"),
    "StaticInvoke(ExpressionImplUtils.tryValidateUTF8String)": valid("try_validate_utf8"),
    "StaticInvoke(ExpressionImplUtils.validateUTF8String)": valid("validate_utf8"),
    "StringInstr": counted("string:strpos", "spark:instr", case_sensitivity="CASE_SENSITIVE"),
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
    "SubstringIndex": substring_index,
    "Upper": plain("string:upper", char_set="UTF8"),
}
