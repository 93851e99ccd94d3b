"""Text and bytes in functions_spark.yaml: strings, regular expressions, digests and encodings."""

from __future__ import annotations

from .....algebra.expression import Literal
from .....catalyst.versions import running
from .....errors import Unsupported
from ...calls import Call
from ...document import Node
from ..rules import Rule, by_option, legacy, spark
from . import same

_SAME = (
    *("ascii", "char", "concat", "concat_ws", "contains", "elt", "endswith", "find_in_set"),
    *("instr", "is_valid_utf8", "length", "levenshtein", "locate", "lpad", "luhn_check", "make_valid_utf8"),
    *("mask", "overlay", "quote", "regexp_count", "regexp_extract", "regexp_extract_all"),
    *("regexp_instr", "regexp_replace", "repeat", "replace", "rlike", "rpad", "sentences", "soundex", "space", "split"),
    *("split_part", "startswith", "substring", "substring_index", "translate", "try_validate_utf8", "validate_utf8"),
    *("crc32", "md5", "sha1", "sha2"),
    *("aes_decrypt", "aes_encrypt", "decode", "encode", "from_base32", "hex", "hmac", "parse_url"),
    *("to_base32", "to_binary", "try_aes_decrypt", "try_parse_url", "try_to_binary", "try_url_decode", "unbase64"),
    *("unhex", "url_decode", "url_encode"),
    *("format_number", "format_string", "to_char"),
)
"""Spark's functions of the same name and arguments, in ANSI mode."""


def _base64(call: Call) -> Node:
    return call.new("Base64", call.values[0], call.constant(1))


def _to_number(name: str) -> Rule:
    """The third argument says the type, which the format does too."""
    return lambda call: call.spark(name, *call.values[:2])


def _like(call: Call) -> Node:
    """Spark 3.5 takes the usual escape character only, and not as an argument."""
    text, pattern, escape = call.values
    character = call.expressions[2]
    is_usual = isinstance(character, Literal) and character.value == "\\"
    return call.spark("like", text, pattern, *() if is_usual else (escape,))


def _initcap(by_icu: bool) -> Rule:
    """Spark's initcap, where it is this one: by ICU from 4.0 on, but where a setting says otherwise as the query runs."""

    def capitals(call: Call) -> Node:
        if by_icu is not (running() >= (4, 0)):
            raise Unsupported(f"{call.key} is not run by this Spark, which begins some words with other letters")
        return call.spark("initcap", *call.values)

    return capitals


RULES: dict[str, Rule] = {
    **same(_SAME, spark),
    "spark:conv": by_option("overflow", {"ERROR": spark("conv"), "SATURATE": legacy("conv")}),
    "spark:spark_initcap": _initcap(by_icu=True),
    "spark:initcap_simple": _initcap(by_icu=False),
    "spark:spark_like": _like,
    "spark:jaro_winkler_similarity": spark("jaro_winkler_similarity"),
    "spark:base64": _base64,
    "spark:to_number": _to_number("to_number"),
    "spark:try_to_number": _to_number("try_to_number"),
}
