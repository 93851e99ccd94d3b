"""Text and bytes in other forms: base 32 and 64, character sets, keyed hashes, and numbers in other bases."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping

from ..function import PythonFunction
from .rows import of_rows, or_null

# ---- base 32 and 64

NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
STRICT_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")
WHITE = re.compile("[\t-\r\x1c- \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+")
"""What Java's Character.isWhitespace has: no-break spaces aren't white."""

HEXADECIMAL = re.compile("[0-9A-Fa-f]*")
NO_BASE32 = re.compile(rb"[^A-Za-z2-7]+")


def mime_bytes(text: str) -> bytes:
    """The bytes as java.util.Base64's decoder for MIME has them: what is no digit is passed over. Raises ValueError."""
    before, padded, after = text.encode().partition(b"=")
    digits = NO_BASE64.sub(b"", before)
    last = len(digits) % 4
    if last == 1 or (padded and (last == 0 or (last == 2 and not after.startswith(b"=")))):
        raise ValueError("[CONVERSION_INVALID_INPUT] the last group of base 64 is not complete")
    if padded and NO_BASE64.sub(b"", after):
        raise ValueError("[CONVERSION_INVALID_INPUT] there are digits of base 64 behind the padding")
    return base64.b64decode(digits + b"=" * (-len(digits) % 4))


def strict_bytes(text: str) -> bytes:
    """The bytes of base 64 that is one but for white space. Raises ValueError."""
    digits = WHITE.sub("", text)
    if not STRICT_BASE64.fullmatch(digits):
        raise ValueError("[CONVERSION_INVALID_INPUT] the text is no base 64")
    return mime_bytes(digits)


def base32_bytes(text: str) -> bytes:
    """The bytes as Apache Commons Codec has them: up to the padding, what is no digit is passed over; so are bits too many."""
    digits = NO_BASE32.sub(b"", text.encode().partition(b"=")[0].upper())
    if len(digits) % 8 == 1:  # the last digit is taken for a pair with the one before it
        pair = b"A" * 6 + digits[-2:].rjust(2, b"A")
        last = (int.from_bytes(base64.b32decode(pair), "big") >> 2) & 0xFF
        return base64.b32decode(digits[:-1]) + bytes([last])
    count = len(digits) * 5 // 8
    return base64.b32decode(digits + b"A" * (-len(digits) % 8))[:count]


def _to_binary(text: str, format: str) -> bytes:
    kind = format.lower()
    if kind == "base64":
        return strict_bytes(text)
    if kind == "hex":
        return _hexadecimal(text)
    raise ValueError(f"[INVALID_PARAMETER_VALUE.BINARY_FORMAT] {format} is no format of bytes")


def _hexadecimal(text: str) -> bytes:
    if not HEXADECIMAL.fullmatch(text):
        raise ValueError("[CONVERSION_INVALID_INPUT] the text is not hexadecimal")
    return bytes.fromhex("0" * (len(text) % 2) + text)


# ---- character sets

CHARSETS = {
    "us-ascii": "ascii",
    "iso-8859-1": "latin-1",
    "utf-8": "utf-8",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "utf-16": "utf-16-be",
    "utf-32": "utf-32-be",
}
"""Those that Spark takes, as Python calls them."""

MARKS = {
    "utf-16": {b"\xfe\xff": "utf-16-be", b"\xff\xfe": "utf-16-le"},
    "utf-32": {b"\x00\x00\xfe\xff": "utf-32-be", b"\xff\xfe\x00\x00": "utf-32-le"},
}
"""Byte order marks that are no part of the text."""


def _charset(name: str) -> str:
    known = CHARSETS.get(name.lower())
    if known is None:
        raise ValueError(f"[INVALID_PARAMETER_VALUE.CHARSET] {name} is no character set that Spark knows")
    return known


def encoded(text: str, charset: str) -> bytes:
    """The bytes of a text. Raises ValueError for a character that the set hasn't."""
    in_charset = text.encode(_charset(charset))
    return b"\xfe\xff" + in_charset if in_charset and charset.lower() == "utf-16" else in_charset


def decoded(data: bytes, charset: str) -> str:
    """The text of bytes. Raises ValueError for what is none."""
    codec = _charset(charset)
    for mark, of_mark in MARKS.get(charset.lower(), {}).items():
        if data.startswith(mark):
            data, codec = data[len(mark) :], of_mark
            break
    if not codec.startswith("utf-32"):
        return data.decode(codec)
    units = data.decode(codec, "surrogatepass").encode("utf-16", "surrogatepass")
    return units.decode("utf-16", "surrogatepass").encode("utf-8", "replace").decode()


# ---- keyed hashes

DIGESTS = {
    "SHA-224": "sha224",
    "SHA-256": "sha256",
    "SHA-384": "sha384",
    "SHA-512": "sha512",
    "SHA-1": "sha1",
    "MD5": "md5",
}


def keyed_hash(key: bytes, message: bytes, algorithm: str) -> bytes:
    """The HMAC of a message. Raises ValueError for an empty key, which Java has none for."""
    digest = DIGESTS.get(algorithm.upper())
    if digest is None or not key:
        raise ValueError(
            f"[INVALID_PARAMETER_VALUE] the key is empty, or Spark does not know the hash function {algorithm}"
        )
    return hmac.digest(key, message, digest)


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_decode": of_rows(decoded),
    "spark_encode": of_rows(encoded),
    "spark_from_base32": of_rows(base32_bytes),
    "spark_hmac": of_rows(keyed_hash),
    "spark_to_base32": of_rows(lambda data: base64.b32encode(data).decode()),
    "spark_to_binary": of_rows(_to_binary),
    "spark_try_to_binary": of_rows(or_null(_to_binary)),
    "spark_unbase64": of_rows(mime_bytes),
}
