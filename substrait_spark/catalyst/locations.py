"""Where files are: URIs that a consumer understands, without secrets in them."""

from __future__ import annotations

import re
import string
from urllib.parse import quote

from ..errors import Unsupported

CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Schemes whose URIs name a container where others have a user."""

_ASCII = string.printable.strip()

_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)")
_SIGNED = re.compile(r"(?i)%3F.*(sig|signature|token|credential|secret|password|key|expires)[^/]*=")


def uri(location: str) -> str:
    """A Hadoop path's URI in RFC 3986's characters. Raises `Unsupported` where it holds credentials."""
    require_no_secret(location)
    if location.startswith("file:/") and not location.startswith("file://"):
        location = "file://" + location.removeprefix("file:")
    try:
        return location if location.isascii() else quote(location, safe=_ASCII)
    except UnicodeEncodeError as error:
        raise Unsupported("a file's path holds characters that no URI can say", "Rename the file.") from error


def require_no_secret(location: str) -> None:
    """Refuse a location with a user's name and password, or with a query part, which may be a signature."""
    found = _AUTHORITY.match(location)
    if found is not None:
        scheme, authority = found[1].lower(), found[2]
        user = authority.rpartition("@")[0]
        if user and (":" in user or "%3A" in user.upper() or scheme not in CONTAINERS):
            raise Unsupported(
                "the path of its files holds credentials, which no plan may hold",
                "Give credentials to Spark's file system by its configuration, and read the path without them.",
            )
        if ("%3F" in location.upper() and scheme in ("http", "https")) or _SIGNED.search(location):
            raise Unsupported(
                "the path of its files has a query part, which may be a signature that no plan may hold",
                "Read the files by a path without a query part, or save them to storage of your own.",
            )


_SECRETS = (
    (re.compile(r"(://)[^/\s@]+@"), r"\1…@"),
    (re.compile(r"(\b[a-z][a-z0-9+.:-]*:/[^\s?;]*[?;])[^\s'\"`]*", re.IGNORECASE), r"\1…"),
    (
        re.compile(r"(?i)([\w.-]*(?:password|pwd|secret|token|credential|signature|key))(\s*[=:]\s*)[^\s,;&'\"]+"),
        r"\1\2…",
    ),
)


def redacted(text: str) -> str:
    """Somebody else's text with what may be credentials in it left out."""
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text
