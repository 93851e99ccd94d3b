"""Collated strings: a user-defined type of ours, whose values compare by their collation wherever they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra import types
from ..catalyst import tree
from ..catalyst.tree import DataType, make
from ..catalyst.types import COLLATED, holds_collation, refusal, to_substrait
from .regular_expression import TRUNCATES
from .table import Plain, first_type, key_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

KIND = "u!collated_string"
STRING = DataType("string")

COMPARING = frozenset(
    """ArrayAggregate ArrayContains ArrayDistinct ArrayExcept ArrayExists ArrayFilter ArrayForAll ArrayInsert ArrayIntersect ArrayMax ArrayMin
    ArrayPosition ArrayRemove ArrayRepeat ArraySort ArrayTransform ArrayUnion ArraysOverlap ArraysZip Collate CollationKey Elt
    EqualNullSafe EqualTo Flatten GreaterThan GreaterThanOrEqual Greatest IsNotNull IsNull KnownNotContainsNull KnownNotNull
    KnownNullable Least LessThan LessThanOrEqual MapConcat MapEntries MapFilter MapKeys MapValues Size Slice SortArray TransformValues ZipWith""".split()
)
"""Functions that take values of any type, and compare them as their type says."""

OF_TEXTS = frozenset(
    """ArrayJoin Ascii BitLength Concat ConcatWs DateFormatClass FormatString GetJsonObject Hex JsonToStructs Length Levenshtein
    Mask OctetLength Overlay Reverse SoundEx StringLPad StringRPad StringRepeat Substring ToNumber TryToNumber UnBase64 Unhex
    Invoke(ParseUrlEvaluator.evaluate) StaticInvoke(Encode.encode) StaticInvoke(ExpressionImplUtils.isLuhnNumber)
    StaticInvoke(ExpressionImplUtils.quote) StaticInvoke(ExpressionImplUtils.validateUTF8String)
    StaticInvoke(UrlCodec.decode) StaticInvoke(UrlCodec.encode)""".split()
)
"""Functions that look at no more than the text, whatever its collation."""

OF_ARRAYS = frozenset(("Concat", "Reverse"))
"""Functions that look at no more than the text, or where elements of arrays stand."""

OF_COLLATIONS: dict[str, str] = {
    "Contains": "contains",
    "EndsWith": "endswith",
    "FindInSet": "find_in_set",
    "InitCap": "initcap",
    "Like": "like",
    "Lower": "lower",
    "RLike": "rlike",
    "RegExpCount": "regexp_count",
    "RegExpExtract": "regexp_extract",
    "RegExpExtractAll": "regexp_extract_all",
    "RegExpInStr": "regexp_instr",
    "RegExpReplace": "regexp_replace",
    "SplitPart": "split_part",
    "StartsWith": "startswith",
    "StringInstr": "instr",
    "StringLocate": "locate",
    "StringReplace": "replace",
    "StringSplit": "split",
    "StringTranslate": "translate",
    "StringTrim": "trim",
    "StringTrimLeft": "ltrim",
    "StringTrimRight": "rtrim",
    "SubstringIndex": "substring_index",
    "Upper": "upper",
}
"""Functions that compare parts of texts, or change their case, as the collation has it: what ours are called behind `collated_`."""

AGGREGATES = frozenset("CollectList Count First Last Max MaxBy Min MinBy Mode".split())
"""Aggregate functions that take values of any type, and compare them as their type says."""


def special_rule(node: tree.Expression) -> Rule | None:
    """The rule for a scalar function where an operand is collated, None where its own does.

    Raises `Unsupported` where it may compare strings by their bytes.
    """
    collated = _collated(node)
    if not collated or node.name in COMPARING or (node.name in OF_ARRAYS and node.type.name == "array"):
        return None
    if node.name in OF_COLLATIONS:
        return over_collated if first_type(node).startswith(COLLATED) else over_texts
    if key_of(node) in OF_TEXTS and (node.type.name.startswith(COLLATED) or not holds_collation(node.type)):
        return over_texts
    raise refusal(collated[0])


def require_aggregate(function: tree.Expression) -> None:
    """Refuse an aggregate function of collated strings that may compare them by their bytes."""
    collated = _collated(function)
    if collated and function.name not in AGGREGATES:
        raise refusal(collated[0])


def _collated(node: tree.Expression) -> list[DataType]:
    """The types of a node's operands that hold collated strings."""
    if KIND not in types.made:
        return []
    return [operand.type for operand in operands(node) if holds_collation(operand.type)]


def operands(node: tree.Expression) -> list[tree.Expression]:
    """The expressions that a function is of."""
    return [child for child in node.children() if isinstance(child, tree.Expression)]


def over_collated(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A function of ours of the collated strings. A LIKE has its escape character, and a trim may have no characters."""
    if node.name == "StringSplit" and e.context.setting(TRUNCATES, "false") != "false":
        raise refusal(_collated(node)[0])
    type = to_substrait(operands(node)[0].type, True)
    arguments = [
        e.text(value) if isinstance(value, str) else _in_type(e, value, type)
        for value in node.values
        if value is not None
    ]
    return e.call(f"spark:collated_{OF_COLLATIONS[node.name]}", *arguments)


def _in_type(e: ExpressionBuilder, node: tree.Expression, type: types.Type) -> Expression:
    """An argument. A pattern may be a string of another collation than what it is for, which is the one that counts."""
    value = e.emit(node)
    if value.type.kind not in ("string", KIND) or types.equal_but_nullability(value.type, type):
        return value
    return collated(e, text_of(e, value), type)


def over_texts(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A function of the texts, and its result in Spark's collation."""
    collated = node.type.name.startswith(COLLATED)
    values = tuple([_as_text(value) for value in node.values])
    result = e.emit(tree.Expression(node.cls, values, None, STRING if collated else node.type, node.nullable))
    return e.call("spark:collate", result, e.null(e.type_of(node))) if collated else result


def _as_text(value: Any) -> Any:
    """A field of a function, with casts around what is collated."""
    if type(value) is tuple:
        return tuple([_as_text(part) for part in value])
    if isinstance(value, tree.Expression) and holds_collation(value.type):
        text = _uncollated(value.type)
        return make("Cast", text, value.nullable, child=value, dataType=text, timeZoneId="UTC", evalMode="ANSI")
    return value


def _uncollated(type: DataType) -> DataType:
    """The type of the texts in a type of collated strings, or of arrays of them."""
    if type.name.startswith(COLLATED):
        return STRING
    if type.name == "array":
        return DataType("array", (_uncollated(type.parameters[0]), type.parameters[1]))
    if holds_collation(type):
        raise refusal(type)
    return type


def text_of(e: ExpressionBuilder, value: Expression) -> Expression:
    """The text of a value that is a text, or a collated one."""
    return e.call("spark:uncollated", value) if value.type.kind == KIND else value


def alike(e: ExpressionBuilder, text: Expression, type: types.Type) -> Expression:
    """A text in a type of texts, which may be collated."""
    return collated(e, text, types.nullable(type)) if type.kind == KIND else text


def collated(e: ExpressionBuilder, text: Expression, type: types.Type) -> Expression:
    """A text in a type of collated strings."""
    return e.call("spark:collate", text, e.null(type))


def collate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Collate: the same text in another type."""
    value, target = e.emit(node["child"]), e.type_of(node)
    if types.equal_but_nullability(value.type, target):
        return value
    text = text_of(e, value)
    return collated(e, text, target) if target.kind == KIND else text


SCALAR: dict[str, Plain | Rule] = {"Collate": collate, "CollationKey": plain("spark:collation_key")}
