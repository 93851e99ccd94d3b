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
_QUERY = re.compile(r"[?#;]|%3F|%23|%3B", re.IGNORECASE)
"""Where the query, the fragment or the parameters of a URI begin: Hadoop writes them as parts of its path."""


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
    found = _AUTHORITY.match(location)
    if found is not None:
        scheme, authority = found[1].lower(), found[2]
        user = authority.rpartition("@")[0]
        if user and (":" in user or "%3A" in user.upper() or scheme not in CONTAINERS):
            raise Unsupported(
                "the path of its files holds credentials, which no plan may hold",
                "Give credentials to Spark's file system by its configuration, and read the path without them.",
            )
    if not location.lower().startswith("file:") and _QUERY.search(location):
        raise Unsupported(
            "the path of its files has a query, a fragment or parameters, which may be a signature or a token that no plan may hold",
            "Read the files by a path without the characters ?, # and ;, or save them to storage of your own.",
        )
