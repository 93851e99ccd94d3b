"""URLs, as java.net.URI divides them (RFC 2396, with characters beyond ASCII), and their encoding (java.net.URLDecoder)."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..function import PythonFunction
from .java_matches import compiled
from .rows import of_rows, or_null

# ---- the parts of a URL

_ESCAPED = "%[0-9A-Fa-f]{2}|[^\x00-\x9f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""Escapes, and what is neither ASCII nor a space nor a control character."""

_UNRESERVED = r"A-Za-z0-9\-_.!~*'()"


def _characters(others: str) -> re.Pattern[str]:
    return re.compile(f"(?:[{_UNRESERVED}{others}]|{_ESCAPED})*")


URIC = _characters(r";/?:@&=+$,\[\]")
PATH = _characters(r":@&=+$,;/")
USER = _characters(r";:&=+$,")
REGISTRY = _characters(r"$,;:@&=+")
SERVER = re.compile(rf"(?:[{_UNRESERVED};:&=+$,@\[\]%]|{_ESCAPED})*")
SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
HOST_AND_PORT = re.compile(r"(?P<host>\[[^]]*\]|[^:\[]*)(?::(?P<port>[0-9]*))?")
IPV4 = re.compile(r"(?P<numbers>[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+)")
HOST = re.compile(
    "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\\.)*(?P<last>[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)\\.?"
)
MAX_I32 = 2**31 - 1


class Url(NamedTuple):
    """The parts of a URL, as they stand in it; None for those that it hasn't."""

    scheme: str | None = None
    authority: str | None = None
    user: str | None = None
    host: str | None = None
    path: str | None = None
    query: str | None = None
    fragment: str | None = None

    @property
    def file(self) -> str | None:
        """The path and the query."""
        return self.path if self.query is None else f"{self.path}?{self.query}"


PARTS: Mapping[str, Callable[[Url], str | None]] = {
    "PROTOCOL": lambda url: url.scheme,
    "AUTHORITY": lambda url: url.authority,
    "USERINFO": lambda url: url.user,
    "HOST": lambda url: url.host,
    "PATH": lambda url: url.path,
    "QUERY": lambda url: url.query,
    "FILE": lambda url: url.file,
    "REF": lambda url: url.fragment,
}


def divided(text: str) -> Url:
    """The parts of a URL. Raises ValueError for a text that is none."""
    scheme, rest = _without_scheme(text)
    rest, fragment = _parted(rest, "#")
    _require_only(URIC, fragment, text)
    if scheme is not None and not rest.startswith("/"):
        _require(bool(rest), text)
        _require_only(URIC, rest, text)
        return Url(scheme, fragment=fragment)
    hierarchy, query = _parted(rest, "?")
    authority, path = _with_authority(hierarchy)
    _require_only(PATH, path, text)
    _require_only(URIC, query, text)
    if authority == "":
        _require(bool(path) or query is not None or fragment is not None, text)
        authority = None
    user, host = (None, None) if authority is None else _user_and_host(authority, text)
    return Url(scheme, authority, user, host, path, query, fragment)


def _with_authority(hierarchy: str) -> tuple[str | None, str]:
    if not hierarchy.startswith("//"):
        return None, hierarchy
    authority, slash, path = hierarchy[2:].partition("/")
    return authority, slash + path


def _parted(text: str, mark: str) -> tuple[str, str | None]:
    """What is before a mark, and what is behind it, if it is there."""
    before, mark_there, behind = text.partition(mark)
    return before, behind if mark_there else None


def _without_scheme(text: str) -> tuple[str | None, str]:
    match = re.match("([^/?#:]*):", text)
    if match is None:
        return None, text
    _require_only(SCHEME, match[1], text)
    return match[1], text[match.end() :]


def _user_and_host(authority: str, text: str) -> tuple[str | None, str | None]:
    """Of a server; none of a name that is registered otherwise."""
    odd = REGISTRY.sub("", authority, count=1)
    registered = not odd
    _require(not odd.startswith("%"), text)
    if SERVER.fullmatch(authority):
        user, at, server = authority.partition("@") if "@" in authority else ("", "", authority)
        match = HOST_AND_PORT.fullmatch(server)
        if USER.fullmatch(user) and match and _is_host(match["host"]) and int(match["port"] or 0) <= MAX_I32:
            return user if at else None, match["host"]
    _require(registered, text)
    return None, None


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return _is_ipv6(host[1:-1])
    if IPV4.fullmatch(host) and all(int(number) <= 255 for number in host.split(".")):
        return True
    match = HOST.fullmatch(host)
    return match is not None and (match.start("last") == 0 or match["last"][0].isalpha())


def _is_ipv6(text: str) -> bool:
    if "%" in text:
        raise NotImplementedError("[UNSUPPORTED_URL] what a scope of an address may be depends on the Java version")
    groups, _, last = text.rpartition(":")
    if IPV4.fullmatch(last) and all(int(number) <= 255 for number in last.split(".")):
        text = f"{groups}:0:0"  # Java takes numbers that begin with zeros
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _require_only(characters: re.Pattern[str], part: str | None, text: str) -> None:
    _require(part is None or characters.fullmatch(part) is not None, text)


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise ValueError(f"[INVALID_URL] {text} is no URL")


def parse_url(text: str, part: str, key: str | None = None) -> str | None:
    """A part of a URL; with a key, a parameter of the query. Raises ValueError for a text that is no URL."""
    url = divided(text)
    if key is None:
        return PARTS[part](url) if part in PARTS else None
    if part != "QUERY" or url.query is None:
        return None
    match = compiled(f"(&|^){key}=([^&]*)").first(url.query)
    return None if match is None else str(match.group(2))


# ---- the encoding of parameters

SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Half of a pair in UTF-8, which Java takes for one malformed character."""

ESCAPES = re.compile(r"(?:%..)+|\+", re.DOTALL)


def url_decode(text: str) -> str:
    """The text that was encoded. Raises ValueError for a % without two digits."""

    def decoded(match: re.Match[str]) -> str:
        pairs = match[0].split("%")[1:]
        return SURROGATE.sub(b"\xff", bytes(map(_byte, pairs))).decode("utf-8", "replace") if pairs else " "

    if "%" in ESCAPES.sub("", text):
        raise ValueError(f"[CANNOT_DECODE_URL] {text} has a % without two digits")
    return ESCAPES.sub(decoded, text)


def _byte(pair: str) -> int:
    digits = pair[1:] if pair[:1] in ("+", "-") else pair  # as java.lang.Integer.parseInt
    values = [_hexadecimal(digit) for digit in digits]
    if len(pair) != 2 or -1 in values or (pair[0] == "-" and values != [0]):
        raise ValueError(f"[CANNOT_DECODE_URL] {pair} is no hexadecimal number")
    return values[0] if len(values) == 1 else values[0] * 16 + values[1]


def _hexadecimal(character: str) -> int:
    plain = unicodedata.normalize("NFKC", character) if "\uff21" <= character <= "\uff46" else character
    if plain in "abcdefABCDEF":
        return int(plain, 16)
    return unicodedata.decimal(character, -1) if character <= "\uffff" else -1


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_parse_url": of_rows(parse_url),
    "spark_try_parse_url": of_rows(or_null(parse_url)),
    "spark_try_url_decode": of_rows(or_null(url_decode)),
    "spark_url_decode": of_rows(url_decode),
}
