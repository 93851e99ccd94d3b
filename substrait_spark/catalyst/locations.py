"""Where files are: URIs that a consumer understands, without secrets in them."""

from __future__ import annotations

import re
import string
from urllib.parse import quote

from ..errors import Unsupported

CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Schemes whose URIs name a container where others have a user."""

_CONTAINER = re.compile(r"\$?[A-Za-z0-9._-]+")

_ASCII = string.printable.strip()

_LOCAL = re.compile(r"file:/(?!/[^/])", re.IGNORECASE)
"""Where the URI of a file of this machine begins, which names no host."""

_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)")
_NESTED_USER = re.compile(r"//[^/]*(?:@|%40)", re.IGNORECASE)
"""A user in a URI that is a part of another, as in `jar:https://user@host/`."""

_PORT = re.compile(r"(?::\d*)?$")
_PASSWORD = re.compile(r"[^/](?::|%(?:25)*3A)[^/]*(?:@|%(?:25)*40)", re.IGNORECASE)
"""A user and a password within one part of a path, where there are too few slashes, or where they are encoded."""

_QUERY = re.compile(r"[?#;]|%(?:25)*(?:3F|23|3B)|&[^/=]*=", re.IGNORECASE)
"""Where the query, the fragment or the parameters of a URI begin: Hadoop writes them as parts of its path, and encodes
what was encoded already once more."""


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
    """Refuse a location with a user's name and password, or with a query, a fragment or parameters: any may be a secret.

    Files of this machine have none of these: in their names, the characters are no more than that.
    """
    if _holds_user(location):
        raise Unsupported(
            "the path of its files holds credentials, which no plan may hold",
            "Give credentials to Spark's file system by its configuration, and read the path without them.",
        )
    if not _LOCAL.match(location) and _QUERY.search(location):
        raise Unsupported(
            "the path of its files has a query, a fragment or parameters, which may be a signature or a token that no plan may hold",
            "Read the files by a path without the characters ?, #, ; and &, or save them to storage of your own.",
        )


def _holds_user(location: str) -> bool:
    """Whether a location names a user, with a password or without, in a form that some file system reads so."""
    if _LOCAL.match(location):
        return False
    if _PASSWORD.search(location):
        return True
    match = _AUTHORITY.match(location)
    if match is None:
        return bool(_NESTED_USER.search(location))
    scheme, authority = match[1].lower(), match[2]
    user, _, host = authority.replace("%40", "@").rpartition("@")
    # A key with slashes ends what looks like the host.
    is_port = _PORT.search(host.rpartition("]")[2])
    if is_port is None or ":" in host.rpartition("]")[2][: is_port.start()]:
        return True
    if user and (scheme not in CONTAINERS or not _CONTAINER.fullmatch(user)):
        return True
    return bool(_NESTED_USER.search(location, match.end()))
