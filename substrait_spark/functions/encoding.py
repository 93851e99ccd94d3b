"""Functions between text and bytes: hexadecimal, base 64, character sets, URLs, encryption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode
from ..errors import Unsupported
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def unhex(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Unhex: what is no hexadecimal number gives null; as to_binary, it raises."""
    child = e.emit(node["child"])
    return e.call("spark:to_binary", child, e.text("hex")) if node["failOnError"] else e.call("spark:unhex", child)


def unbase64(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnBase64: with Java's lenient decoder; as to_binary, with a strict one."""
    child = e.emit(node["child"])
    if node["failOnError"]:
        return e.call("spark:to_binary", child, e.text("base64"))
    return e.call("spark:unbase64", child)


def try_to_binary(format: str) -> Rule:
    """TryEval around what to_binary is replaced by."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = e.emit(arguments_of(node, frozenset({"failOnError"}))[0])
        if format == "hex":
            return e.call("spark:unhex", child)
        return e.call("spark:try_to_binary", child, e.text(format))

    return emit


def base64(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """base64: by a setting of the session, in lines of 76 characters."""
    return e.call("spark:base64", *e.emit_all(node["arguments"]))


def with_charset(function: str) -> Rule:
    """encode, decode: the bytes of a string in a character set, and back."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(function, *e.emit_all(_with_charset(node)))

    return emit


def _with_charset(node: tree.Expression) -> list[tree.Expression]:
    value, charset, *legacy = arguments_of(node)
    if any(flag.cls.name != "Literal" or flag["value"] is not False for flag in legacy):
        raise Unsupported(
            "the session asks for Java's character sets, or for the legacy treatment of what they can't say",
            "Unset spark.sql.legacy.javaCharsets and spark.sql.legacy.codingErrorAction.",
        )
    return [value, charset]


def flagged(whether: str, otherwise: str) -> Rule:
    """A call whose last argument is a flag that says which of two functions is meant."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        *arguments, flag = arguments_of(node)
        if flag.cls.name != "Literal" or not isinstance(flag["value"], bool):
            raise Unsupported("its flag is no literal")
        return e.call(whether if flag["value"] else otherwise, *e.emit_all(arguments))

    return emit


def url_encode(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """url_encode: Spark 3.5 says that it is in UTF-8, as it always is."""
    value, *_ = arguments_of(node)
    return e.call("spark:url_encode", e.emit(value))


def url_decode(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """url_decode, try_url_decode: Spark 3.5 has the first only, and says that it is in UTF-8."""
    value, flag = arguments_of(node)
    if flag.cls.name == "Literal" and flag["value"] == "UTF-8":
        return e.call("spark:url_decode", e.emit(value))
    return flagged("spark:url_decode", "spark:try_url_decode")(e, node)


def parse_url(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """parse_url, try_parse_url: a part of a URL."""
    fails = node["targetObject"]["value"]["failOnError"]
    arguments = e.emit_all(arguments_of(node, frozenset({"targetObject"})))
    return e.call("spark:parse_url" if fails else "spark:try_parse_url", *arguments)


def conv(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Conv: a number that needs more than 64 bits raises in ANSI mode, else gives the greatest of 64 bits."""
    arguments = e.emit_all([node["numExpr"], node["fromBaseExpr"], node["toBaseExpr"]])
    return e.call("spark:conv", *arguments, overflow="ERROR" if eval_mode(node) == ANSI else "SATURATE")


SCALAR: dict[str, Plain | Rule] = {
    "Conv": conv,
    "Hex": plain("spark:hex"),
    "Invoke(ParseUrlEvaluator.evaluate)": parse_url,
    "StaticInvoke(Base32.encode)": plain("spark:to_base32"),
    "StaticInvoke(Base64.encode)": base64,
    "StaticInvoke(Encode.encode)": with_charset("spark:encode"),
    "StaticInvoke(ExpressionImplUtils.aesDecrypt)": plain("spark:aes_decrypt"),
    "StaticInvoke(ExpressionImplUtils.aesEncrypt)": plain("spark:aes_encrypt"),
    "StaticInvoke(ExpressionImplUtils.hmac)": plain("spark:hmac"),
    "StaticInvoke(StringDecode.decode)": with_charset("spark:decode"),
    "StaticInvoke(UnBase32.decode)": plain("spark:from_base32"),
    "StaticInvoke(UrlCodec.decode)": url_decode,
    "StaticInvoke(UrlCodec.encode)": url_encode,
    "TryEval(StaticInvoke(Encode.encode))": with_charset("spark:encode"),
    "TryEval(StaticInvoke(ExpressionImplUtils.aesDecrypt))": plain("spark:try_aes_decrypt"),
    "TryEval(UnBase64)": try_to_binary("base64"),
    "TryEval(Unhex)": try_to_binary("hex"),
    "UnBase64": unbase64,
    "Unhex": unhex,
}
