"""Removes from a plan what is no part of the query's meaning: where its files lie, how large they are, who wrote it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from substrait.algebra_pb2 import ReadRel, RelCommon
from substrait.plan_pb2 import Plan

from ..algebra.message_walk import messages

ASIDE = ("locations", "sizes", "statistics", "producer")
"""What is left out, unless it is to be kept.

`locations`: the folders above a root, the numbers that pytest gives its temporary folders, and the names of the part
files that Spark makes up; `sizes`: where in a file to
start, how many bytes to read, and how many part files there are; `statistics`: what is known of row counts and widths;
`producer`: the name and version of the library that wrote the plan.
"""

PART = re.compile(r"part-[^/]*?(\.[a-z]+)?$")
"""The name of a file that Spark wrote into a folder, which is new each time."""


TEMPORARY = "<tmp>"
"""What stands for pytest's temporary folder."""

NUMBERED = re.compile(rf"({TEMPORARY}/[^/]*[^/\d])\d+/")
"""A folder right below it, at whose name pytest counts: `test_files0`."""


def normalised(plan: Plan, *, keep: Collection[str] = (), roots: Mapping[str, str] | None = None) -> Plan:
    """A copy of a plan without what is `ASIDE`, but for what is to be kept.

    `roots` are folders, as absolute paths or URIs, with what stands for each: `{str(project): "."}`. Of several
    that hold a file, the innermost counts.

    Raises ValueError for a word that is not in `ASIDE`.
    """
    unknown = sorted(set(keep) - set(ASIDE))
    if unknown:
        raise ValueError(f"What can be kept is {', '.join(ASIDE)}, not {', '.join(unknown)}.")
    copied = Plan()
    copied.CopyFrom(plan)
    if "producer" not in keep:
        copied.version.ClearField("producer")
        copied.version.ClearField("git_hash")
    for message in messages(copied):
        if isinstance(message, RelCommon) and message.hint.HasField("stats") and "statistics" not in keep:
            message.hint.ClearField("stats")
        if isinstance(message, ReadRel.LocalFiles):
            _normalise_files(message, keep, as_uris(roots or {}))
    return copied


def as_uris(roots: Mapping[str, str]) -> dict[str, str]:
    """The roots as the beginnings of URIs, the innermost first."""
    uris = {root if ":" in root else f"file://{root}": name for root, name in roots.items()}
    return {uri.rstrip("/") + "/": uris[uri] for uri in sorted(uris, key=len, reverse=True)}


def _normalise_files(files: ReadRel.LocalFiles, keep: Collection[str], roots: Mapping[str, str]) -> None:
    for item in files.items:
        if "sizes" not in keep:
            for field in ("partition_index", "start", "length"):
                item.ClearField(field)
        kind = item.WhichOneof("path_type")
        if kind is not None and "locations" not in keep:
            setattr(item, kind, location(getattr(item, kind), roots))
    if "sizes" not in keep:
        _drop_repeated(files)


def location(uri: str, roots: Mapping[str, str]) -> str:
    """A location without the folders above a root (`as_uris`), and without what Spark or pytest made up of its names."""
    root = next((root for root in roots if uri.startswith(root)), None)
    if root is not None:
        uri = NUMBERED.sub(r"\1/", f"{roots[root]}/{uri.removeprefix(root)}", count=1)
    return PART.sub(lambda match: f"part-*{match[1] or ''}", uri)


def _drop_repeated(files: ReadRel.LocalFiles) -> None:
    """Part files that look alike by now stand for all of them."""
    kept: dict[bytes, Any] = {item.SerializeToString(deterministic=True): item for item in files.items}
    items = list(kept.values())
    if len(items) < len(files.items):
        copies = ReadRel.LocalFiles(items=items)
        files.ClearField("items")
        files.items.extend(copies.items)
