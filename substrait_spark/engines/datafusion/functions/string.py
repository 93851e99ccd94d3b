"""Functions on the characters of strings, and on the bytes of binary values."""

from __future__ import annotations

from functools import cache, partial

from ....algebra import types
from ....algebra.expression import Cast, Expression, FieldReference, Lambda, Literal, ScalarFunction
from ....dialects.rewrite import Apply, Sees, rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ..defects.known_nulls import unless_null

MAX_I32 = 2**31 - 1
"""The greatest length that 32-bit positions and lengths can say."""


# ---- what arguments are known to be


def integer(value: Expression) -> int | None:
    """The value of an integer literal; None for a null and for what is no literal."""
    literal = value.value if isinstance(value, Literal) else None
    return literal if isinstance(literal, int) else None


def text(value: Expression) -> str | None:
    """The value of a string literal; None for a null and for what is no literal."""
    literal = value.value if isinstance(value, Literal) else None
    return literal if isinstance(literal, str) else None


def _unless_overlapping(x: Expression, delimiter: Expression, number: Expression) -> tuple[Expression, ...]:
    """The arguments: DataFusion's search for delimiters that overlap themselves ('aa') goes on behind each, Spark's doesn't."""
    value = text(delimiter)
    if value is None or any(value.endswith(value[:n]) for n in range(1, len(value))):
        raise NotInDialect("the delimiter is no literal, or could overlap itself")
    return x, delimiter, number


# ---- lengths and positions


def counted(function: str) -> Apply:
    """A count of 64 bits by a function that has it in 32 bits."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        return e.cast(e.call(function, *call.arguments), call.type)

    return lower


def position(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """strpos: by characters as they are."""
    if dict(call.options).get("case_sensitivity", "CASE_SENSITIVE") != "CASE_SENSITIVE":
        return e.native_form(call)
    return e.cast(e.call("spark:instr", *call.arguments), call.type)


def first_occurrence(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The position of the first occurrence in the whole text, which DataFusion's function finds."""
    return e.native_form(call)


def locate(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The position from a start on; 0 for a start that is null or before the first character."""
    needle, value, start = call.children()
    rest = e.call("spark:instr", e.call("datafusion:substring", value, start, e.i32(MAX_I32)), needle)
    before = e.call("datafusion:subtract", start, e.i32(1))
    known = e.and_(e.is_not_null(value), e.is_not_null(needle))
    return e.if_then(
        e.is_null(start), e.i32(0),
        e.not_(known), e.null(types.I32),
        e.call("comparison:lt", start, e.i32(1)), e.i32(0),
        e.equal(needle, e.text("")), e.i32(1),
        e.equal(rest, e.i32(0)), e.i32(0),
        e.call("datafusion:add", rest, before),
    )  # fmt: skip


# ---- parts


def substring_index(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    return e.call("datafusion:substring_index", *_unless_overlapping(*call.children()))


def split_part(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A part by its number. Only from the end does it matter that delimiters may overlap."""
    arguments = call.children()
    part = integer(arguments[2])
    if part == 0:
        raise NotInDialect("there is no part 0")
    checked = arguments if part and part > 0 else _unless_overlapping(*arguments)
    part_text = e.call("datafusion:split_part", *checked)
    if part:
        return part_text
    # The engine raises for part 0 of a null, too.
    return e.if_then(e.or_(*map(e.is_null, arguments[:2])), e.null(types.STRING), part_text)


def overlay(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The part before, the replacement and the part behind. A negative length means the length of the replacement."""
    value, new, position, length = call.children()
    start, size = integer(position), integer(length)
    small = start is not None and 1 <= start < 2**30 and size is not None and -1 <= size < 2**30

    shorter = e.call("datafusion:subtract", position, e.i32(1))
    kept = shorter if small else e.if_then(e.call("comparison:lt", position, e.i32(1)), e.i32(0), shorter)
    before = e.call("datafusion:substring", value, e.i32(1), kept)
    replaced = _length(e, new) if size == -1 else length
    if size is None or size < -1:
        replaced = e.if_then(e.call("comparison:lt", length, e.i32(0)), _length(e, new), length)
    behind = e.call("datafusion:add", position, replaced) if small else _position_of_sum(e, position, replaced)
    return _concat(e, before, new, e.call("datafusion:substring", value, behind, e.i32(MAX_I32)))


def _position_of_sum(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    """A sum of 32-bit integers as a position: at most the last one, at least the one furthest from the end."""
    total = e.call("datafusion:add", e.cast(left, types.I64), e.cast(right, types.I64))
    return e.if_then(
        e.call("comparison:gt", total, e.i64(MAX_I32)), e.i32(MAX_I32),
        e.call("comparison:lt", total, e.i64(-MAX_I32)), e.i32(-MAX_I32),
        e.cast(total, types.I32, throws=False),
    )  # fmt: skip


def _length(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("spark:length", value)


def _concat(e: LoweringBuilder, *parts: Expression) -> Expression:
    if parts[0].type.kind == "string":
        return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")
    return e.call("datafusion:concat", *parts)


def elt(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The value at an index, in branches; one out of range raises."""
    index, *values = call.children()
    values = e.alike(values)
    null = e.null(values[0].type)
    known = integer(index)
    if known is not None and not 1 <= known <= len(values):
        raise NotInDialect("the index is out of range in every row")
    if isinstance(index, Literal):
        return null if known is None else values[known - 1]
    branches = [part for n, value in enumerate(values, 1) for part in (e.equal(index, e.i32(n)), value)]
    error = e.cast(e.raises("[INVALID_ARRAY_INDEX]", types.STRING, index), null.type)
    return e.if_then(*branches, e.is_null(index), null, error)


# ---- new strings


def pad(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """lpad, rpad. DataFusion's fail for negative lengths, which give an empty value; binary values go by their digits."""
    value, length, padding = call.children()
    function = f"datafusion:{call.declaration.name.removeprefix('spark_')}"
    zero = e.i32(0)
    size = e.if_then(e.call("comparison:lt", length, zero), zero, length)
    if value.type.kind == "string":
        return e.call(function, value, size, padding)
    digits = e.call("datafusion:multiply", e.cast(size, types.I64), e.i64(2))
    return e.call("spark:unhex", e.call(function, e.call("spark:hex", value), digits, e.call("spark:hex", padding)))


@cache
def _titles() -> dict[str, str]:
    """The characters that begin a word otherwise than in upper case, as Unicode has it: ß as Ss, ǆ as ǅ."""
    return {c: c.title() for c in map(chr, range(0x80, 0x10000)) if c.title() != c.upper()}


def initcap(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Each word by itself: what stands between spaces."""
    words = e.call("datafusion:string_to_array", *call.arguments, e.text(" "))
    begun = Lambda((types.STRING,), _begun(e, FieldReference(0, types.STRING, parameter=0)))
    return e.call("datafusion:array_to_string", e.call("datafusion:array_transform", words, begun), e.text(" "))


def _begun(e: LoweringBuilder, word: Expression) -> Expression:
    """A word with its first letter in title case, the others in lower case."""
    lower, upper = (partial(e.call, f"string:{name}", char_set="UTF8") for name in ("lower", "upper"))
    first = e.call("datafusion:substring", word, e.i32(1), e.i32(1))
    titles = {" ": "", **_titles()}  # an empty text is found before the first character, and stays one
    titled = e.literal(tuple(titles.values()), types.of("list", types.STRING, nullable=False))
    at = e.cast(e.call("spark:instr", e.text("".join(titles)), first), types.I64)
    beginning = e.coalesce(e.call("datafusion:array_element", titled, at), upper(first))
    # The lower case of a letter may be two; that of a word hangs on the letters around.
    second = e.call("datafusion:add", e.call("spark:length", lower(first)), e.i32(1))
    rest = e.call("datafusion:substring", lower(word), second, e.i32(MAX_I32))
    return e.call("string:concat", beginning, rest, null_handling="ACCEPT_NULLS")


def initcap_simple(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    raise NotInDialect("Spark before 4.0, and without ICU, begins words with other letters")


def valid(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The check for valid UTF-8, which changes nothing: DataFusion's strings are valid."""
    (value,) = call.children()
    return value


def made_valid(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """The text as it is; of bytes there may be no text in it, which DataFusion can't replace by a mark."""
    (value,) = call.children()
    if _is_of_bytes(value):
        raise NotInDialect(
            f"the dialect {lowering.e.dialect.name} has no text that is not valid, and no way to make bytes valid",
            "Make the text valid in Spark, or take try_validate_utf8, which gives null for bytes that are no text.",
        )
    return lowering.lower(value)


def try_valid(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """The text, or null in the place of bytes that are none."""
    (value,) = call.children()
    if not _is_of_bytes(value):
        return lowering.lower(value)
    return lowering.e.cast(lowering.lower(value.children()[0]), value.type, throws=False)


def is_valid(lowering: ExpressionLowering, call: ScalarFunction) -> Expression:
    """Whether bytes are text; true for each text."""
    e, (value,) = lowering.e, call.children()
    given = e.share(lowering.lower(value.children()[0] if _is_of_bytes(value) else value))
    is_text = e.is_not_null(e.cast(given, value.type, throws=False))
    return e.if_then(e.is_null(given), e.null(types.BOOLEAN), is_text) if given.type.nullable else is_text


def _is_of_bytes(value: Expression) -> bool:
    return isinstance(value, Cast) and value.input.type.kind == "binary"


# ---- tests


def starts(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """startswith of binary values."""
    value, start = call.children()
    return e.equal(e.call("datafusion:substring", value, e.i32(1), _length(e, start)), start)


def ends(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """endswith of binary values: a position before the first byte would count from the end."""
    value, end = call.children()
    before = e.call("datafusion:subtract", _length(e, value), _length(e, end))
    rest = e.call("datafusion:substring", value, e.call("datafusion:add", before, e.i32(1)), _length(e, end))
    return e.and_(e.call("comparison:gte", before, e.i32(0)), e.equal(rest, end))


def levenshtein(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """With a threshold: -1 for a distance above it.

    Where the threshold is null, Spark's compiled code gives null and its interpreted code compares with 0.
    """
    left, right, threshold = call.children()
    distance = e.call("spark:levenshtein", left, right)
    near = e.call("comparison:lte", distance, threshold)
    return e.if_then(near, distance, e.is_null(near), e.null(types.I32), e.i32(-1))


CALLS = {
    "spark:elt": elt,
    "spark:endswith": ends,
    "spark:spark_initcap": initcap,
    "spark:initcap_simple": initcap_simple,
    "spark:instr": first_occurrence,
    "spark:levenshtein": levenshtein,
    "spark:locate": locate,
    "spark:spark_lpad": pad,
    "spark:overlay": overlay,
    "spark:spark_rpad": pad,
    "spark:split_part": split_part,
    "spark:startswith": starts,
    "spark:substring_index": substring_index,
    "spark:validate_utf8": valid,
    "string:bit_length": counted("datafusion:bit_length"),
    "string:char_length": counted("spark:length"),
    "string:octet_length": counted("datafusion:octet_length"),
    "string:strpos": position,
}

UNLOWERED = {
    "spark:is_valid_utf8": is_valid,
    "spark:make_valid_utf8": made_valid,
    "spark:try_validate_utf8": try_valid,
}

REWRITES = [
    *rewrites(CALLS),
    *rewrites(UNLOWERED, sees=Sees.ORIGINAL),
    *rewrites({"spark:char": unless_null(0)}, defect="null_characters"),
]
